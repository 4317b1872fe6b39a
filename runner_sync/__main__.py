"""``python -m runner_sync``: the same as the ``runner-sync`` command."""

from runner_sync.cli import main

if __name__ == "__main__":
    main()
