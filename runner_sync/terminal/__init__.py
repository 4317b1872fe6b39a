"""Handle the command line as people see it: options, streams, colours, progress, failure messages.

Comes in: words of a command line, reports and rendered text. Goes out: option values, characters on the two standard
streams, report files. Only this room and ``cli`` print.
"""
