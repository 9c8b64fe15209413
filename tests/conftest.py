"""What holds for every test."""

from hypothesis import settings

# How long an example takes says something about the machine, not about the property.
settings.register_profile("seatrial", deadline=None, print_blob=True)
settings.load_profile("seatrial")
