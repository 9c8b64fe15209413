"""The versions of the language that documents are written in.

1. Until personas heard by regular expressions (`matches` under `when` and `achieved_when`).
2. Persons hear by words: `contains`, `any_of`, `not_contains`.
"""

from __future__ import annotations

CURRENT = 2
"""The version that documents are read as."""
VERSION_KEY = "schema_version"
"""The key of a document that says in which version it is written."""
