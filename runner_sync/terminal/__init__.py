"""The command line as people see it: options, streams, colours, progress, sentences about failures.

Comes in: words of a command line, reports and rendered text. Goes out: option values, characters on the two standard
streams, report files. This room and ``cli`` are the only ones that print.
"""
