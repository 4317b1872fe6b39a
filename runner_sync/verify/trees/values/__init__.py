"""What kind of thing a name, an attribute or an expression stands for, and how code uses it.

Comes in: frames and classes of a program. Goes out: kinds, elements, sizes, uses and guards. May touch: nothing.
"""
