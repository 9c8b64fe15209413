/* The cases a reviewer must look at: what is wrong, where it went wrong, and how to see it again. */
"use strict";

(() => {
  const { make, add, caseLink, badge, marks, rates, command, whereWrong } = Seatrial;

  function worst(entry) {
    const { worst } = entry;
    if (!worst) return null;
    return [
      make("dt", {}, "Went wrong"),
      make("dd", {}, whereWrong(entry.id, worst), " ", make("code", {}, worst.check), " ", worst.reason,
        entry.because ? make("div", { class: "st-because" }, `Expected because: ${entry.because}`) : null),
      worst.place ? [make("dt", {}, "Expectation"), make("dd", {}, make("code", {}, worst.place))] : null,
    ];
  }

  function parted(entry) {
    const { parted } = entry;
    if (!parted) return null;
    const [candidate, baseline] = parted.trials;
    const step = (text) => (text === null ? make("em", {}, "nothing here") : make("code", {}, text));
    return [
      make("dt", {}, "First difference"),
      make("dd", {},
        make("a", { href: caseLink(entry.id, { trials: parted.trials, anchor: parted.anchor }) }, `between trial ${candidate} and baseline trial ${baseline}`),
        make("div", { class: "st-parted" },
          make("span", { class: "st-side" }, "baseline"), step(parted.baseline),
          make("span", { class: "st-side" }, "candidate"), step(parted.candidate))),
    ];
  }

  function invalid(entry) {
    if (!entry.invalid.length) return null;
    return [make("dt", {}, "Invalid"), make("dd", {}, entry.invalid.map(([trial, cause, detail]) => make("div", {}, make("a", { href: caseLink(entry.id, { trials: [trial] }) }, `trial ${trial}`), ` ${cause.replaceAll("_", " ")}: ${detail}`)))];
  }

  const place = document.getElementById("regressions");
  add(place, globalThis.seatrialRegressions.map((entry) => make("article", { class: `st-card st-card--${entry.concern}`, id: `case-${entry.id}` },
    make("h2", {}, badge(entry.outcome, entry.concern, entry.forbidden), " ", make("a", { href: caseLink(entry.id) }, entry.id), " ", marks(entry)),
    make("p", { class: "st-title" }, entry.title),
    make("p", { class: "st-lead" }, entry.sentence),
    rates(entry),
    make("dl", { class: "st-why" }, worst(entry), invalid(entry), parted(entry)),
    command(entry.command))));
})();
