"""The files behind checks that are functions of the repository, as they lie in the folder."""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.documents import Case, Catalog, digest
from seatrial.errors import InvalidDocuments, Problem
from seatrial.workspace.files import SourceFiles


@dataclass(frozen=True, slots=True)
class CheckFiles:
    """Files behind the checks of a catalog."""

    sources: SourceFiles

    def digests(self, catalog: Catalog) -> dict[str, str]:
        """Case → digest of the names and contents of the files behind its checks; of cases with any.

        Raises:
            InvalidDocuments: a check names no file, or one outside of the repository.
        """
        problems: list[Problem] = []
        found: dict[str, str] = {}
        for case in catalog.cases.values():
            contents: dict[str, str] = {}
            for path, check in case.functions().items():
                module = check.module.replace(".", "/")
                named: dict[str, tuple[str, ...]] = {
                    f"{path}.function": (f"{module}.py", f"{module}/__init__.py")
                }
                named |= {f"{path}.files[{n}]": (of,) for n, of in enumerate(check.files)}
                for place, patterns in named.items():
                    if not self.sources.named(patterns):
                        message = f"there is no {patterns[0]}"
                        problems.append(_problem(catalog, case, place, message))
                for file in self.sources.named(check.leans_on):
                    try:
                        contents[file] = self.sources.content(file)
                    except OSError as error:
                        message = f"{file} cannot be read: {error.strerror}"
                        problems.append(_problem(catalog, case, path, message))
                    except ValueError:
                        message = f"{file} is a link that leads out of the repository"
                        problems.append(_problem(catalog, case, path, message))
            if contents:
                found[case.id] = digest(contents)
        if problems:
            raise InvalidDocuments(problems)
        return found

    def of(self, case: Case) -> frozenset[str]:
        """Every file behind the checks of a case, relative to the root."""
        return frozenset(self.sources.named(case.check_files()))


def _problem(catalog: Catalog, case: Case, path: str, message: str) -> Problem:
    source = catalog.sources.get(("case", case.id))
    if source is None:
        return Problem(f"case {case.id}", 1, 1, f"`{path}`: {message}", code="function")
    return Problem(*source.at(path), f"`{path}`: {message}", code="function")
