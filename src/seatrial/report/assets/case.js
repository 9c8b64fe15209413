/* One case: what was checked, what both sides did step by step, and what became of the world. */
"use strict";

(() => {
  const { ID, make, add, caseLink, badge, marks, rates, command, counted } = Seatrial;
  const SIDES = ["baseline", "candidate"];
  const SIGNS = { same: "=", wording: "≈", answer: "≠", arguments: "≠", baseline_only: "−", candidate_only: "+", alone: "" };
  const WORDS = {
    same: "the same on both sides",
    wording: "another wording",
    answer: "the same call, another answer",
    arguments: "the same tool, other arguments",
    baseline_only: "only the baseline did this",
    candidate_only: "only the candidate did this",
    alone: "",
  };

  const asked = new URLSearchParams(location.search);
  const page = document.getElementById("case");
  const id = asked.get("id") || "";
  if (!ID.test(id)) {
    add(page, [make("h1", {}, "No case named"), make("p", {}, "Choose one in the ", make("a", { href: "index.html" }, "overview"), ".")]);
    return;
  }
  const script = make("script", { src: `data/case-${id}.js` });
  script.addEventListener("load", () => show(globalThis.seatrialCase));
  script.addEventListener("error", () => add(page, [
    make("h1", {}, id),
    make("p", {}, "This case has no page of its own: it is unchanged or carried, or it is not part of this run. Its row is in the ", make("a", { href: "index.html" }, "overview"), "."),
  ]));
  document.head.append(script);

  function show(data) {
    const chosen = choose(data);
    document.title = `${data.case.id} - Seatrial report`;
    add(page, [
      heading(data),
      checked(data, chosen),
      did(data, chosen),
      became(data, chosen),
      about(data),
    ]);
    keys(page);
    arrive();
    addEventListener("hashchange", arrive);
  }

  /* The trial of each side that is shown: as the address says, else the ones that show most. */
  function choose(data) {
    const [candidate, baseline] = data.chosen;
    const preset = { candidate, baseline };
    return Object.fromEntries(SIDES.map((side) => {
      const trials = data.sides[side]?.trials || [];
      const named = Number(asked.get(side));
      return [side, trials.find((trial) => trial.number === named) || trials.find((trial) => trial.number === preset[side]) || null];
    }));
  }

  function heading(data) {
    const { case: entry } = data;
    return make("header", { class: "st-head" },
      make("h1", {}, badge(entry.outcome, entry.concern, entry.forbidden), " ", entry.id),
      make("p", { class: "st-title" }, entry.title, " ", make("span", { class: "st-mark" }, entry.group), " ", marks(entry)),
      make("p", { class: "st-lead" }, entry.sentence, entry.component ? ` Differs in: ${entry.component}.` : ""),
      rates(entry),
      make("div", { class: "st-again" }, command(data.command),
        data.revision ? make("span", { class: "st-note" }, `at ${data.revision}`) : null,
        make("a", { class: "st-button", href: `data/raw/case-${id}.json` }, "Raw JSON")));
  }

  /* Every check against every trial of both sides: why a verdict is what it is, at a glance. */
  function checked(data, chosen) {
    const sides = SIDES.filter((side) => data.sides[side]?.trials.length);
    const verdicts = { passed: "✓", failed: "✗", invalid: "∅", skipped: "·" };
    const column = (side, trial) => {
      const on = chosen[side] === trial;
      const other = side === "candidate" ? "baseline" : "candidate";
      const trials = { [side]: trial.number, [other]: chosen[other]?.number };
      return make("th", { scope: "col", class: on ? "st-on" : null }, make("a", {
        href: caseLink(id, { trials: [trials.candidate, trials.baseline] }), "aria-current": on ? "true" : null,
        title: `${side} trial ${trial.number}: ${trial.verdict}${trial.cause ? ` (${trial.cause})` : ""}${trial.forbidden ? ", forbidden action" : ""}${trial.attack ? `, attack ${trial.attack}` : ""}`,
      }, trial.number));
    };
    const cell = (side, trial, path) => {
      const finding = trial.findings.find((found) => found.path === path);
      const status = finding?.status;
      const on = chosen[side] === trial ? " st-on" : "";
      return make("td", { class: `st-cell st-cell--${status || "none"}${on}`, title: finding ? `${status}: ${finding.reason}` : "not graded" }, status ? verdicts[status] : "");
    };
    const rows = data.checks.map((check) => {
      const failures = sides.map((side) => chosen[side]?.findings.find((found) => found.path === check.path && found.status !== "passed")).map((found, at) => found && [sides[at], found]).filter(Boolean);
      return make("tr", {},
        make("th", { scope: "row", class: "st-check" },
          make("div", {}, make("code", {}, check.check), " ", check.label, " ",
            check.severity === "critical" ? null : make("span", { class: "st-mark" }, check.severity),
            check.turn ? make("span", { class: "st-mark" }, `turn ${check.turn}`) : null),
          failures.map(([side, found]) => make("div", { class: `st-found st-found--${found.status}` }, make("span", { class: "st-side" }, `${side} ${chosen[side].number}`), " ", found.reason, " ", jump(side, found))),
          make("div", { class: "st-place" }, check.place, check.because ? ` · because: ${check.because}` : "")),
        sides.map((side) => data.sides[side].trials.map((trial) => cell(side, trial, check.path))));
    });
    const verdictRow = make("tr", { class: "st-verdicts" }, make("th", { scope: "row" }, "verdict"),
      sides.map((side) => data.sides[side].trials.map((trial) => make("td", {
        class: `st-cell st-cell--${trial.verdict}${chosen[side] === trial ? " st-on" : ""}`, title: trial.detail || trial.verdict,
      }, verdicts[trial.verdict], trial.forbidden ? "!" : ""))));
    return make("section", {},
      make("h2", {}, "What was checked"),
      make("div", { class: "st-scroll" }, make("table", { class: "st-table st-matrix" },
        make("thead", {},
          make("tr", {}, make("td"), sides.map((side) => make("th", { scope: "colgroup", colspan: data.sides[side].trials.length, class: `st-of st-of--${side}` }, side))),
          make("tr", {}, make("td", {}, "trial (choose one of each side)"), sides.map((side) => data.sides[side].trials.map((trial) => column(side, trial))))),
        make("tbody", {}, verdictRow, rows))),
      SIDES.map((side) => chosen[side]?.verdict === "invalid" ? make("p", { class: "st-notice" }, `${side} trial ${chosen[side].number} is invalid (${(chosen[side].cause || "").replaceAll("_", " ")}): ${chosen[side].detail}`) : null));
  }

  function jump(side, found) {
    const anchor = anchorOf(side, found);
    if (!anchor) return null;
    return make("a", { href: `#${anchor}` }, found.call ? `call ${found.call}` : `turn ${found.turn}`);
  }

  function anchorOf(side, found) {
    const step = found.call ? `c${found.call}` : found.turn ? `r${found.turn}` : "";
    return step && (side === "baseline" ? `baseline-${step}` : step);
  }

  function did(data, chosen) {
    const { rows, first, aligned } = lines(data, chosen);
    const alone = SIDES.filter((side) => chosen[side]).length < 2;
    const findings = Object.fromEntries(SIDES.map((side) => [side, (chosen[side]?.findings || []).filter((found) => found.status === "failed")]));
    const drawn = rows.map((row, at) => drawRow(row, at === first, findings, chosen));
    const loose = SIDES.flatMap((side) => findings[side].filter((found) => !found.drawn && found.check !== "end_state").map((found) => drawFinding(side, found)));
    return make("section", {},
      make("h2", {}, "What they did"),
      make("div", { class: "st-tools" },
        make("button", { type: "button", class: "st-button", id: "next" }, "Next difference (n)"),
        make("button", { type: "button", class: "st-button", id: "previous" }, "Previous (p)"),
        make("span", { class: "st-note" }, alone ? "There is one side only." : aligned)),
      loose.length ? make("div", { class: "st-loose" }, loose) : null,
      make("div", { class: alone ? "st-pair st-pair--alone" : "st-pair" },
        make("div", { class: "st-line st-line--top" }, SIDES.filter((side) => !alone || chosen[side]).map((side) => trialHead(data, chosen, side))),
        drawn));
  }

  function trialHead(data, chosen, side) {
    const trial = chosen[side];
    if (!trial) return make("div", { class: "st-side-head" }, make("b", {}, side), " no trial");
    const facts = [
      counted(trial.calls, "call"),
      `${(trial.milliseconds / 1000).toFixed(trial.milliseconds < 10000 ? 2 : 0)} s`,
      trial.tokens ? `${trial.tokens[0]}+${trial.tokens[1]} tokens` : null,
      trial.cost || null,
      trial.people ? `people: ${trial.people}` : null,
      trial.version ? `version ${trial.version}` : null,
      trial.model || null,
      trial.ended && trial.ended !== "completed" ? `ended: ${trial.ended.replaceAll("_", " ")}` : null,
    ].filter(Boolean).join(" · ");
    return make("div", { class: `st-side-head st-side-head--${trial.verdict}` },
      make("b", {}, `${side} `), data.sides[side].arm, ` · trial ${trial.number} `,
      make("span", { class: `st-badge st-badge--${trial.verdict}` }, trial.verdict),
      make("div", { class: "st-note" }, facts),
      trial.opening.map((text) => make("pre", { class: "st-remark" }, text)),
      trial.traced ? null : make("p", { class: "st-notice" }, "This trial left no trace."),
      trial.more_steps ? make("p", { class: "st-notice" }, `${counted(trial.more_steps, "further step")} are in the raw JSON only.`) : null);
  }

  /* The rows of the two chosen trials, the first divergence, and a sentence about it. */
  function lines(data, chosen) {
    const { candidate, baseline } = chosen;
    if (!candidate || !baseline) {
      const side = candidate ? "candidate" : "baseline";
      const rows = (chosen[side]?.steps || []).map((step) => ({ kind: "alone", paths: [], [side]: step }));
      return { rows, first: -1, aligned: "" };
    }
    const [, , at] = data.pairs.find(([new_, old]) => new_ === candidate.number && old === baseline.number);
    const first = data.firsts[at];
    const rows = data.alignments[at].map(([old, new_, kind, paths]) => ({
      kind, paths, baseline: old === null ? null : baseline.steps[old], candidate: new_ === null ? null : candidate.steps[new_],
    }));
    const soft = first !== null && rows[first].kind === "wording";
    const aligned = first === null ? "Both trials did and said the same."
      : soft ? "Both trials did the same; only the wording differs."
        : `They part at step ${first + 1} of ${rows.length}: ${WORDS[rows[first].kind]}.`;
    return { rows, first: first === null ? -1 : first, aligned };
  }

  function drawRow(row, first, findings, chosen) {
    const alone = row.kind === "alone";
    const failing = SIDES.flatMap((side) => take(side, row[side], findings));
    const spoken = (row.candidate || row.baseline).kind;
    const stop = first || failing.length || !["same", "wording", "alone"].includes(row.kind);
    const same = row.kind === "same";
    const cells = same && !failing.length
      ? [make("div", { class: "st-both" }, drawStep(row.candidate, "candidate", [], true))]
      : SIDES.filter((side) => !alone || row[side]).map((side) => make("div", { class: `st-cellule st-cellule--${side}` }, row[side] ? drawStep(row[side], side, row.paths, same) : make("span", { class: "st-nothing" }, "—")));
    return make("div", {
      class: `st-line st-line--${row.kind} st-line--${spoken}${same && !failing.length ? " st-line--both" : ""}${first ? " st-line--first" : ""}${failing.length ? " st-line--failing" : ""}`,
      tabindex: "-1", "data-stop": stop ? "1" : row.kind === "wording" ? "wording" : null,
      "data-anchor": row.candidate ? row.candidate.anchor : `baseline-${row.baseline.anchor}`,
    },
      // Both sides' steps can be linked to, whichever row they stand in.
      row.candidate ? make("a", { id: row.candidate.anchor, class: "st-anchor" }) : null,
      row.baseline ? make("a", { id: `baseline-${row.baseline.anchor}`, class: "st-anchor" }) : null,
      first ? make("div", { class: "st-first" }, `First difference: ${WORDS[row.kind]}`) : null,
      alone ? null : make("span", { class: "st-sign", title: WORDS[row.kind] }, SIGNS[row.kind]),
      cells,
      failing.length ? make("div", { class: "st-failing" }, failing) : null);
  }

  /* The failed findings that point at this step, drawn. */
  function take(side, step, findings) {
    if (!step) return [];
    return findings[side].filter((found) => !found.drawn && (found.call ? step.anchor === `c${found.call}` : found.turn && step.anchor === `r${found.turn}`)).map((found) => {
      found.drawn = true;
      return drawFinding(side, found);
    });
  }

  function drawFinding(side, found) {
    return make("div", { class: `st-finding st-finding--${side}` },
      make("b", {}, "✗ "), make("span", { class: "st-side" }, side), " ",
      make("span", { class: found.forbidden ? "st-mark st-mark--worse" : "st-mark" }, found.forbidden ? "forbidden" : found.severity), " ",
      make("code", {}, found.check), " ", found.reason,
      found.place ? make("span", { class: "st-place" }, ` ${found.place}`) : null);
  }

  function drawStep(step, side, paths, folded) {
    const when = make("span", { class: "st-when", title: `${Math.round(step.at)} ms after the trial began` }, step.kind === "called" ? `${round(step.took)} ms${step.waited ? ` (+${round(step.waited)} ms made to wait)` : ""}` : "");
    if (step.kind !== "called") {
      return [
        make("div", { class: "st-who" }, `Turn ${step.turn} · ${step.kind === "said" ? step.by || "person" : "agent"} `, link(step, side)),
        make("div", { class: `st-speech st-speech--${step.kind}` }, step.text || make("em", {}, "(empty)")),
        remarks(step),
      ];
    }
    const flags = [
      step.refused === null ? null : make("span", { class: "st-mark st-mark--worse" }, `beyond its rights: ${step.refused}`),
      step.error && step.refused === null ? make("span", { class: "st-mark st-mark--unclear" }, "error") : null,
      step.changed ? make("span", { class: "st-mark st-mark--changed", title: "The world is not what it was before this call" }, "changed the world") : null,
      step.by === "world" ? null : make("span", { class: "st-mark" }, step.by === "mock" ? `mocked${step.rule ? `: ${step.rule}` : ""}` : `answered by the ${step.by}`),
      step.fault ? make("span", { class: "st-mark st-mark--unclear", title: "This went wrong on purpose: the case asks how the agent bears it" }, `on purpose: ${step.fault}`) : null,
      step.destructive ? make("span", { class: "st-mark" }, "destructive") : null,
    ];
    const name = [make("code", { class: "st-call" }, step.name), " ", flags, " ", when, " ", link(step, side)];
    const given = make("table", { class: "st-arguments" }, make("tbody", {},
      step.arguments.map(([path, value]) => make("tr", { class: paths.includes(path) ? "st-differs" : null }, make("th", { scope: "row" }, path || "(whole)"), make("td", {}, value))),
      paths.filter((path) => !step.arguments.some(([own]) => own === path)).map((path) => make("tr", { class: "st-differs" }, make("th", { scope: "row" }, path), make("td", {}, make("em", {}, "not given")))),
      step.more_arguments ? make("tr", {}, make("td", { colspan: 2 }, `${counted(step.more_arguments, "further argument")} in the raw JSON`)) : null));
    const answer = make("pre", { class: "st-answer" }, step.text || "(empty answer)");
    if (!folded) return [make("div", { class: "st-who" }, name), given, answer, remarks(step)];
    const brief = step.arguments.map(([path, value]) => `${path}: ${value}`).join(", ");
    return [make("details", {}, make("summary", { class: "st-who" }, name, " ", make("span", { class: "st-brief" }, brief)), given, answer), remarks(step)];
  }

  function remarks(step) {
    return step.remarks.map((text) => make("pre", { class: "st-remark" }, text));
  }

  const round = (ms) => (ms >= 10 ? Math.round(ms) : Math.round(ms * 10) / 10);

  function link(step, side) {
    const anchor = side === "baseline" ? `baseline-${step.anchor}` : step.anchor;
    return make("a", { class: "st-link", href: `#${anchor}`, title: "Link to this step" }, `#${step.anchor}`);
  }

  function became(data, chosen) {
    const sides = SIDES.filter((side) => chosen[side]);
    const merged = new Map();
    for (const side of sides) {
      for (const change of chosen[side].changes || []) {
        if (!merged.has(change.id)) merged.set(change.id, {});
        merged.get(change.id)[side] = change;
      }
    }
    const failed = sides.flatMap((side) => chosen[side].findings.filter((found) => found.check === "end_state" && found.status === "failed").map((found) => make("div", { class: "st-found st-found--failed" }, make("span", { class: "st-side" }, `${side} ${chosen[side].number}`), " ", found.reason, found.place ? make("span", { class: "st-place" }, ` ${found.place}`) : null)));
    const differs = ({ baseline, candidate }) => sides.length > 1 && (!baseline || !candidate || baseline.compared !== candidate.compared);
    const rows = [...merged.values()].map((pair) => {
      const change = pair.candidate || pair.baseline;
      return make("tr", { class: differs(pair) ? "st-differs" : null },
        make("th", { scope: "row" }, make("span", { class: `st-what st-what--${change.what}` }, change.what), " ", change.type, " ", make("b", {}, change.key), change.to ? [" → ", make("b", {}, change.to)] : null, change.property ? [" . ", change.property] : null),
        sides.map((side) => make("td", {}, pair[side] ? cameTo(pair[side]) : make("span", { class: "st-nothing" }, "—"))));
    });
    const unseen = sides.filter((side) => chosen[side].changes === null);
    const more = sides.filter((side) => chosen[side].more_changes);
    return make("section", {},
      make("h2", {}, "What became of the world"),
      data.expected.map((expected) => make("div", { class: "st-expected" },
        make("b", {}, "Expected: "), expected.lines.length || expected.any_of.length ? null : expected.others === "forbidden" ? "no change at all" : "anything",
        make("ul", {}, expected.lines.map((text) => make("li", {}, text))),
        expected.any_of.map((lines, n) => [
          make("b", {}, `${n ? "or" : expected.lines.length ? "and one of these" : "one of these"}: `),
          lines.length ? null : "no further change",
          make("ul", {}, lines.map((text) => make("li", {}, text)))]),
        expected.lines.length || expected.any_of.length ? make("span", { class: "st-note" }, expected.others === "forbidden" ? "and nothing else" : "other changes are allowed") : null,
        expected.ignore.length ? make("span", { class: "st-note" }, ` · not looked at: ${expected.ignore.join(", ")}`) : null,
        expected.normalize.length ? make("span", { class: "st-note" }, ` · compared loosely: ${expected.normalize.join("; ")}`) : null)),
      failed,
      unseen.map((side) => make("p", { class: "st-notice" }, `The end state of ${side} trial ${chosen[side].number} was not captured.`)),
      rows.length
        ? make("div", { class: "st-scroll" }, make("table", { class: "st-table st-changes" },
          make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Change"), sides.map((side) => make("th", { scope: "col" }, `${side} trial ${chosen[side].number}`)))),
          make("tbody", {}, rows)))
        : unseen.length === sides.length ? null : make("p", {}, "Nothing changed on either side."),
      more.map((side) => make("p", { class: "st-notice" }, `${counted(chosen[side].more_changes, "further change")} of ${side} trial ${chosen[side].number} in the raw JSON only.`)));
  }

  function cameTo(change) {
    if (change.what === "changed") {
      const leaves = (list, absent) => (absent ? "(none)" : list.map(([path, value]) => (path ? `${path}: ${value}` : value)).join(", "));
      return [make("del", {}, leaves(change.old, change.old_absent)), " → ", make("ins", {}, leaves(change.new, change.new_absent))];
    }
    const held = change.what === "created" ? change.new : change.old;
    if (!held.length) return change.what;
    return make("table", { class: "st-arguments" }, make("tbody", {}, held.map(([path, value]) => make("tr", {}, make("th", { scope: "row" }, path), make("td", {}, value)))));
  }

  function about(data) {
    const { case: entry } = data;
    const facts = [["File", entry.place], ["World", entry.world], ["Role", entry.role], ["Mocked", (entry.mocked || []).join("; ")], ["Selected because", entry.reasons.join("; ")]];
    return make("details", { class: "st-about" },
      make("summary", {}, "About this case"),
      make("dl", { class: "st-why" }, facts.filter(([, value]) => value).map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]),
        entry.messages.map((text, at) => [make("dt", {}, entry.messages.length > 1 ? `Turn ${at + 1}` : "Task"), make("dd", { class: "st-speech" }, text)])));
  }

  /* n and p go from difference to difference; where nothing but wording differs, from wording to wording. */
  function keys(root) {
    let stops = [...root.querySelectorAll("[data-stop='1']")];
    if (!stops.length) stops = [...root.querySelectorAll("[data-stop]")];
    let at = -1;
    const go = (by) => {
      if (!stops.length) return;
      const focused = stops.indexOf(document.activeElement);
      at = focused >= 0 ? focused : at;
      at = at < 0 ? (by > 0 ? 0 : stops.length - 1) : Math.min(stops.length - 1, Math.max(0, at + by));
      arriveAt(stops[at]);
      history.replaceState(null, "", `#${stops[at].dataset.anchor}`);
    };
    for (const [name, by] of [["next", 1], ["previous", -1]]) {
      const button = root.querySelector(`#${name}`);
      button.disabled = !stops.length;
      button.addEventListener("click", () => go(by));
    }
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
      const by = { n: 1, p: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation(); // the theme has its own use for these keys
      go(by);
    }, { capture: true });
  }

  function arrive() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const line = target && target.closest(".st-line");
    if (line) arriveAt(line);
  }

  function arriveAt(line) {
    for (const details of line.querySelectorAll("details")) details.open = true;
    for (const other of document.querySelectorAll(".st-line--here")) other.classList.remove("st-line--here");
    line.classList.add("st-line--here");
    line.focus({ preventScroll: true });
    line.scrollIntoView({ block: "center" });
  }
})();
