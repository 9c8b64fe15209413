"""How much of a file is read before it is refused."""

from __future__ import annotations

MAX_BYTES = 5_000_000
"""A larger file is refused before it is parsed."""
MAX_DEPTH = 40
"""Mappings and lists inside each other."""
MAX_VALUES = 250_000
"""Values in one file, keys not counted."""
MAX_ALIASED = 10_000
"""Values that the aliases of one document stand for, written out."""
MAX_DIGITS = 100
"""Characters of a number."""
LONGEST_ID = 80
"""Characters of an id, that of an expansion or a variant included."""
MAX_PARENTS = 10
"""Documents above one another by `extends`."""
MAX_EXPANSIONS = 256
"""Cases that one case stands for by its matrix."""
MAX_REUSED = 2_000_000
"""Values of all documents that inherit something or stand for several; long texts count for more."""
MAX_FILLED = 100_000
"""Characters of a text with the values of a matrix put in."""
