"""A module that cannot be imported; how often that was tried is kept in the environment."""

import os

os.environ["IMPORTS_OF_BROKEN_MODULE"] = os.environ.get("IMPORTS_OF_BROKEN_MODULE", "") + "x"
import no_such_dependency  # type: ignore[import-not-found]  # noqa: F401
