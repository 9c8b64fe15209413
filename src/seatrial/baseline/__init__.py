"""The released baseline: which run the next change is held against, and who approved it.

It lies on the branch `seatrial-baselines`, which shares no history with the code, or in a plain
folder, in both under `suites/<suite>/<agent>/`: `release.json` and the files of a stored run. On the
branch every earlier baseline stays readable in the history.
"""

from seatrial.baseline.approval import Approver, same_person
from seatrial.baseline.approving import approve, judged
from seatrial.baseline.branch import BRANCH
from seatrial.baseline.differing import CaseApart, apart
from seatrial.baseline.flakes import Flakes, flakes
from seatrial.baseline.holding import Held, foresee, hold, stricter_policy
from seatrial.baseline.ledger import Recorded
from seatrial.baseline.listing import history, released, superseded, tip_of_branch
from seatrial.baseline.recalling import dependencies, recalling
from seatrial.baseline.recording import Added, add, apart_from_release, valid_trials
from seatrial.baseline.releasing import Released, hands_in, release
from seatrial.baseline.rerunning import Beside, beside, beside_again
from seatrial.baseline.resolving import Baseline, other_arm, resolve
from seatrial.baseline.verifying import Verified, verify

__all__ = [
    "BRANCH",
    "Added",
    "Approver",
    "Baseline",
    "Beside",
    "CaseApart",
    "Flakes",
    "Held",
    "Recorded",
    "Released",
    "Verified",
    "add",
    "apart",
    "apart_from_release",
    "approve",
    "beside",
    "beside_again",
    "dependencies",
    "flakes",
    "foresee",
    "hands_in",
    "history",
    "hold",
    "judged",
    "other_arm",
    "recalling",
    "release",
    "released",
    "resolve",
    "same_person",
    "stricter_policy",
    "superseded",
    "tip_of_branch",
    "valid_trials",
    "verify",
]
