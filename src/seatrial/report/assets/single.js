/* The one page: under each case to look at, what the two trials shown of it did. */
"use strict";

(() => {
  const { make, add, counted } = Seatrial;

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paint = () => { document.documentElement.dataset.mdColorScheme = dark.matches ? "slate" : "default"; };
  dark.addEventListener("change", paint);
  paint();

  function drawStep(id, side, step, findings) {
    const anchor = `case-${id}-${side === "baseline" ? "baseline-" : ""}${step.anchor}`;
    const wrong = findings.filter((found) => (found.call ? step.anchor === `c${found.call}` : found.turn && step.anchor === `r${found.turn}`));
    const remarks = step.remarks.map((text) => make("pre", { class: "st-remark" }, text));
    const failed = wrong.map((found) => make("div", { class: "st-found st-found--failed" }, make("b", {}, "✗ "), make("code", {}, found.check), " ", found.reason, " ", make("span", { class: "st-place" }, found.place)));
    if (step.kind !== "called") {
      return make("li", { id: anchor },
        make("div", { class: "st-who" }, `Turn ${step.turn} · ${step.kind === "said" ? step.by || "person" : "agent"}`),
        make("pre", {}, step.text || "(empty)"), remarks, failed);
    }
    return make("li", { id: anchor },
      make("div", { class: "st-who" }, make("code", { class: "st-call" }, step.name), " ",
        step.refused === null ? null : make("span", { class: "st-mark st-mark--worse" }, `beyond its rights: ${step.refused}`),
        step.error && step.refused === null ? make("span", { class: "st-mark st-mark--unclear" }, "error") : null,
        step.changed ? make("span", { class: "st-mark st-mark--changed" }, "changed the world") : null,
        step.by === "world" ? null : make("span", { class: "st-mark" }, `answered by the ${step.by}`),
        step.fault ? make("span", { class: "st-mark st-mark--unclear" }, `on purpose: ${step.fault}`) : null),
      make("table", {}, make("tbody", {}, step.arguments.map(([path, value]) => make("tr", {}, make("th", { scope: "row" }, path || "(whole)"), make("td", {}, value))))),
      make("pre", { class: "st-answer" }, step.text || "(empty answer)"), remarks, failed);
  }

  function drawTrial(id, side, trial) {
    const findings = trial.findings.filter((found) => found.status === "failed");
    const loose = findings.filter((found) => !found.call && !found.turn);
    return make("details", { class: "st-trial", open: side === "candidate" },
      make("summary", {}, `${side} trial ${trial.number} `, make("span", { class: `st-badge st-badge--${trial.verdict}` }, trial.verdict), ` ${counted(trial.calls, "call")}`),
      trial.cause ? make("p", { class: "st-notice" }, `invalid (${trial.cause.replaceAll("_", " ")}): ${trial.detail}`) : null,
      trial.traced ? null : make("p", { class: "st-notice" }, "This trial left no trace."),
      loose.map((found) => make("div", { class: "st-found st-found--failed" }, make("b", {}, "✗ "), make("code", {}, found.check), " ", found.reason, " ", make("span", { class: "st-place" }, found.place))),
      trial.opening.map((text) => make("pre", { class: "st-remark" }, text)),
      make("ol", {}, trial.steps.map((step) => drawStep(id, side, step, findings))),
      trial.more_steps ? make("p", { class: "st-notice" }, `${counted(trial.more_steps, "further step")} are left out here.`) : null);
  }

  for (const [id, trials] of Object.entries(globalThis.seatrialTrials)) {
    add(document.getElementById(`case-${id}`), Object.entries(trials).map(([side, trial]) => drawTrial(id, side, trial)));
  }

  // A link to a step of a trial that is not on the page leads to its case.
  for (const link of document.querySelectorAll("a[href^='#case-']")) {
    const target = link.getAttribute("href").slice(1);
    if (document.getElementById(target)) continue;
    const card = link.closest(".st-card");
    if (card) link.setAttribute("href", `#${card.id}`);
  }
  function arrive() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    const trial = target && target.closest("details");
    if (trial) trial.open = true;
    if (target) target.scrollIntoView();
  }
  addEventListener("hashchange", arrive);
  arrive();
})();
