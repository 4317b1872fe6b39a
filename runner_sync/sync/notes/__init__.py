"""The notes of a report: what a run did not do, did not check, or what nobody can decide from the texts.

Comes in: options, trees and results. Goes out: sentences. May touch: what ``sources`` touches.
"""
