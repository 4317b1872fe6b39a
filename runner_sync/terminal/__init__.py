"""Handle the command line as people see it: options, streams, colours, progress, failure messages.

Comes in: words of a command line, reports and rendered text. Goes out: option values, characters on the two standard
streams, report files. Only this room and ``cli`` print.

- ``options``, ``choices`` and ``groups`` declare the options, ``trees`` and ``outputs`` parse some of them,
  ``examples`` is for their help, ``completing`` for shells, and ``plain`` keeps typer fast and in one style;
- ``commands`` runs a command and ``failures`` what may go wrong in it; ``settling`` asks about review items;
- ``screen`` and ``progress`` write to the streams, ``delivery`` also to files; ``advice`` and ``naming_profile`` say
  what to type next.
"""
