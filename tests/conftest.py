"""What holds for every test."""

import os

from hypothesis import settings

# How long an example takes says something about the machine, not about the property.
# Where changes are ruled on, the same ones are tried each time: a finding belongs to whoever looks for it.
settings.register_profile(
    "seatrial", deadline=None, print_blob=True, derandomize="CI" in os.environ
)
settings.load_profile("seatrial")

# What the commands of one test found out is nothing that those of another may recall.
os.environ["SEATRIAL_CACHE"] = "off"
