"""What a call reaches, and whether its arguments fit.

Comes in: frames of a program. Goes out: functions, constructors, and calls that cannot bind. May touch: nothing.
"""
