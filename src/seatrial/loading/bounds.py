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
