"""Write the notes of a report: what a run did not do or check, or what the texts cannot decide.

Comes in: options, trees and results. Goes out: sentences. May touch: what ``sources`` touches.

- ``run_notes`` for ``upgrade`` and ``lock``, with ``older_code`` that NPU lacked before and ``gone_commits``;
  ``check_notes`` for ``check`` and ``verify``;
- ``inherited_code`` for both: code that runs and that no finding is about; ``next_commands`` completes commands.
"""
