"""The bridge as a program of its own: `python -I` and the path of this folder."""

import os
import sys

if __name__ == "__main__":
    # Python looks in this folder for modules, and not where Seatrial lies: exchange the two.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]
    sys.path.append(os.path.dirname(os.path.dirname(here)))

    from seatrial.bridge import main

    sys.exit(main(os.environ))
