"""The released baseline: which run the next change is held against, and who approved it.

It lies on the branch `seatrial-baselines`, which shares no history with the code, or in a plain
folder, in both under `suites/<suite>/<agent>/`: `release.json` and the files of a stored run. On the
branch every earlier baseline stays readable in the history.
"""

from seatrial.baseline.approval import same_person
from seatrial.baseline.branch import BRANCH
from seatrial.baseline.holding import Held, hold
from seatrial.baseline.listing import history, released
from seatrial.baseline.releasing import Released, release
from seatrial.baseline.rerunning import Beside, beside, beside_again
from seatrial.baseline.resolving import Baseline, resolve

__all__ = [
    "BRANCH",
    "Baseline",
    "Beside",
    "Held",
    "Released",
    "beside",
    "beside_again",
    "history",
    "hold",
    "release",
    "released",
    "resolve",
    "same_person",
]
