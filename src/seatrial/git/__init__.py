"""git as a wire: revisions, changed paths, files at a revision, and commits by compare-and-swap.

Everything goes through the `git` program with NUL-separated output. GitPython is not used: it hands
the caller's whole environment on (in a hook that means another repository), answers a missing merge
base with an empty difference, and is 25 times slower for bulk reads.
"""

from seatrial.git.repository import Person, Repository
from seatrial.git.worktrees import work_tree
from seatrial.git.writing import RefMoved, fetch, push, update_ref, write_commit, write_tree_commit

__all__ = [
    "Person",
    "RefMoved",
    "Repository",
    "fetch",
    "push",
    "update_ref",
    "work_tree",
    "write_commit",
    "write_tree_commit",
]
