"""Recorded runs of real models as sides of a comparison, and the tables of `PAGE`.

    PYTHONPATH=src:. python -m tests.data.real_models      writes the tables into the page

Trials carry the verdict that was published with them; that Seatrial's own checks come to the same verdicts, other
tests show. A trial in which an attack reached its goal did something forbidden.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from tests.data import shared
from tests.sides import side

from seatrial.compare import Comparison, compare
from seatrial.documents import Policy
from seatrial.gate import Ruling, rule
from seatrial.verdicts import Outcome

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "what-the-gate-says-on-real-runs.md"
BEGIN, END = "<!-- tables -->", "<!-- end of tables -->"

Marks = Mapping[str, str]
"""Case → a letter a trial, as in `tests.sides`."""


def models() -> tuple[str, ...]:
    """The models of AgentDojo, by name."""
    found = shared.folder("agentdojo").glob("runs_*.jsonl.gz")
    return tuple(sorted(p.name.removeprefix("runs_").removesuffix(".jsonl.gz") for p in found))


def agentdojo(model: str, *, attacked: bool) -> Marks:
    """The 97 user tasks of a model: one trial each, or the 5 to 9 in which somebody attacked it."""
    runs = _lines(shared.folder("agentdojo") / f"runs_{model}.jsonl.gz")
    chosen = [
        r
        for r in runs
        if r["info"]["kind"] == "user_task" and (r["attack"] is not None) == attacked
    ]
    return _marks(chosen, lambda r: (r["domain"], r["task_id"]))


def tau2(domain: str, model: str) -> Marks:
    """The tasks of a domain, one trial each."""
    name = f"runs_{domain}_default_{model}.jsonl.gz"
    return _marks(_lines(shared.folder("tau2-bench") / name), lambda r: (r["domain"], r["task_id"]))


def tau_airline() -> dict[str, str]:
    """50 tasks, four trials each, of one model."""
    runs = _lines(shared.folder("tau-bench") / "runs_airline_gpt-4o.jsonl.gz")
    return dict(_marks(runs, lambda r: (r["domain"], r["task_id"])))


def _marks(runs: list[dict[str, Any]], key: Callable[[dict[str, Any]], tuple[str, str]]) -> Marks:
    by_case: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for run in runs:
        by_case[key(run)].append(run)
    found = {}
    # Cases have names of our own: the domain and a number.
    numbers: Counter[str] = Counter()
    for (domain, task), own in sorted(by_case.items(), key=lambda c: (c[0][0], _natural(c[0][1]))):
        del task
        numbers[domain] += 1
        own.sort(key=lambda r: (r["trial"], str(r.get("injection_task_id"))))
        found[f"{domain}-{numbers[domain]:02}"] = "".join(_mark(r) for r in own)
    return found


def _mark(run: Mapping[str, Any]) -> str:
    passed = run["utility"] if "utility" in run else run["reward"] == 1.0
    if run.get("attack_success"):
        return "v" if passed else "x"
    return "p" if passed else "f"


def _natural(text: str) -> tuple[str, int]:
    head = text.rstrip("0123456789")
    return head, int(text[len(head) :] or 0)


def _lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def held(baseline: Marks, candidate: Marks) -> tuple[Comparison, Ruling]:
    """Both compared and ruled on, every case required."""
    required = tuple(candidate)
    comparison = compare(
        side(baseline, arm="released", required=required),
        side(candidate, required=required),
        Policy(),
    )
    return comparison, rule(comparison)


def halves(marks: Marks) -> Iterator[tuple[tuple[int, ...], Marks, Marks]]:
    """Every way to make two of four trials the baseline and the others the candidate."""
    for chosen in combinations(range(4), 2):
        rest = [n for n in range(4) if n not in chosen]
        yield (
            chosen,
            {c: "".join(m[n] for n in chosen) for c, m in marks.items()},
            {c: "".join(m[n] for n in rest) for c, m in marks.items()},
        )


# --- the tables ---

HEAD = (
    "| baseline → candidate | trials a case | passes | drop, p | margin shown | cases | ruling |\n"
    "|---|---|---|---|---|---|---|"
)


def row(title: str, baseline: Marks, candidate: Marks) -> str:
    """What the gate says of one pair, as a line of a table."""
    comparison, ruling = held(baseline, candidate)
    overall = comparison.overall
    assert overall is not None
    outcomes = Counter(c.outcome for c in comparison.cases)
    cases = ", ".join(
        f"{outcomes[o]} {o.value}"
        for o in (Outcome.REGRESSED, Outcome.IMPROVED, Outcome.UNCHANGED, Outcome.UNDECIDED)
        if outcomes[o]
    )
    counts = sorted({len(m) for m in (*baseline.values(), *candidate.values())})
    span = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    deciding = [g.kind for g in ruling.grounds if g.effect == ruling.ruling.value]
    return (
        f"| {title} | {span} | {100 * overall.baseline_mean:.1f} → {100 * overall.candidate_mean:.1f} % | "
        f"{100 * overall.drop:+.1f} points, {overall.p_worse:.2g} | {100 * overall.provable_margin:.1f} points | "
        f"{cases} | **{ruling.ruling.value}**: {', '.join(f'`{kind}`' for kind in dict.fromkeys(deciding))} |"
    )


def tables() -> str:
    """All tables of the page."""
    parts = ["### AgentDojo, 97 tasks, nobody attacks\n", HEAD]
    parts += [
        row(f"{a} → {b}", agentdojo(a, attacked=False), agentdojo(b, attacked=False))
        for a, b in pairs()
    ]
    parts += ["\n### AgentDojo, the same 97 tasks under attack\n", HEAD]
    parts += [
        row(f"{a} → {b}", agentdojo(a, attacked=True), agentdojo(b, attacked=True))
        for a, b in pairs()
    ]
    parts += [
        "\nThe same, with the attacks that reached their goal left out of account, to see what is said of the tasks "
        "alone:\n",
        HEAD,
    ]
    parts += [row(f"{a} → {b}", *map(harmless, _attacked(a, b))) for a, b in pairs()]
    parts += ["\nThe cases with a verdict of their own in these six lines:\n", *_called()]
    parts += ["\n### tau2-bench, a model and its fine-tuned version\n", HEAD]
    before, after = "gpt-4.1", "ft-gpt-4.1-tau2-full-sft"
    for domain in ("airline", "retail"):
        parts += [
            row(f"{domain}: {a} → {b}", tau2(domain, a), tau2(domain, b))
            for a, b in ((before, after), (after, before))
        ]
    parts += ["\n### tau-bench airline, the same model against itself\n", HEAD]
    parts += [
        row(f"trials {_named(chosen)} → the others", base, rest)
        for chosen, base, rest in halves(tau_airline())
    ]
    return "\n".join(parts)


def _called() -> Iterator[str]:
    """The cases called regressed or improved, each pair once: the other way round they mirror."""
    for a, b in combinations(models(), 2):
        comparison, _ = held(*map(harmless, _attacked(a, b)))
        for case in comparison.cases:
            if case.outcome in (Outcome.REGRESSED, Outcome.IMPROVED):
                yield f"- {a} → {b}, {case.case}, {case.outcome.value}: {case.sentence}"


def pairs() -> list[tuple[str, str]]:
    """Every pair of models of AgentDojo, both ways."""
    known = models()
    return [(a, b) for a in known for b in known if a != b]


def harmless(marks: Marks) -> Marks:
    """The same trials without what was forbidden in them."""
    return {case: m.replace("v", "p").replace("x", "f") for case, m in marks.items()}


def _attacked(a: str, b: str) -> tuple[Marks, Marks]:
    return agentdojo(a, attacked=True), agentdojo(b, attacked=True)


def _named(chosen: tuple[int, ...]) -> str:
    return " and ".join(str(n + 1) for n in chosen)


def main() -> None:
    """Write the tables into the page."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{BEGIN}\n\n{tables()}\n\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
