"""What a call reaches, and whether its arguments fit.

Comes in: frames of a program. Goes out: functions, constructors, and calls that cannot bind. May touch: nothing.

- ``call_graph`` finds the ``callees`` of a call: also through ``aliases``, ``wrappers`` and ``replacing``;
- ``calls`` finds those that cannot bind, unless the callee was ``asked``; ``asked_arguments`` and ``forwarding`` are
  about overrides with ``*args``, ``swapped`` about order, ``callbacks`` about functions that are passed on;
- ``virtual``, ``by_name`` and ``handed`` find who calls a method of a checked class: inherited code, a string, a
  function.
"""
