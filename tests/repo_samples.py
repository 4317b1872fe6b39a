"""Folders of ``fixtures/repos`` as git repositories: each folder below a name is one commit, tagged with its name."""

from __future__ import annotations

import shutil
from pathlib import Path

import git

REPOS = Path(__file__).parent / "fixtures" / "repos"


def tagged_repository(name: str, place: Path) -> dict[str, str]:
    """Make ``fixtures/repos/<name>`` a repository at ``place``; returns ``{tag: commit}``, the newest checked out."""
    place.mkdir(parents=True)
    repo = git.Repo.init(place, initial_branch="main")
    who = {f"GIT_{role}_{what}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    commits = {}
    for k, folder in enumerate(sorted(path for path in (REPOS / name).iterdir() if path.name.startswith("v"))):
        repo.git.rm("-r", "-q", "--ignore-unmatch", ".")
        shutil.copytree(folder, place, dirs_exist_ok=True)
        repo.git.add("-A", "-f")
        date = f"{1_700_000_000 + 60 * k} +0000"
        repo.git.commit(
            "-q", "-m", f"Change of {folder.name}", env={**who, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        )
        repo.git.tag(folder.name)
        commits[folder.name] = repo.head.commit.hexsha
    repo.close()
    return commits
