/* What all views share. Every text becomes a text node: nothing here reads text as HTML. */
"use strict";

globalThis.Seatrial = (() => {
  const OUTCOMES = ["regressed", "undecided", "incomparable", "removed", "new", "improved", "unchanged", "carried"];
  const ID = /^[a-z0-9][a-z0-9._-]{0,79}$/;

  /* An element. `given` may hold class, title, text properties and on* listeners; children are nodes or texts. */
  function make(tag, given = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(given)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value === true ? "" : String(value));
    }
    add(element, children);
    return element;
  }

  function add(element, children) {
    for (const child of children.flat(Infinity)) {
      if (child === null || child === undefined || child === false) continue;
      element.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
    return element;
  }

  const single = "single" in document.documentElement.dataset;

  function caseLink(id, { trials = null, anchor = "" } = {}) {
    if (!ID.test(id)) return "#";
    if (single) return `#case-${id}${anchor ? `-${encodeURIComponent(anchor)}` : ""}`;
    const [candidate, baseline] = trials || [];
    const query = new URLSearchParams({ id });
    if (candidate) query.set("candidate", candidate);
    if (baseline) query.set("baseline", baseline);
    return `case.html?${query}${anchor ? `#${encodeURIComponent(anchor)}` : ""}`;
  }

  function badge(outcome, concern, forbidden) {
    const words = forbidden && outcome !== "regressed" ? `forbidden · ${outcome}` : outcome;
    return make("span", { class: `st-badge st-badge--${concern === "worse" ? "worse" : concern === "unclear" ? "unclear" : outcome}` }, words);
  }

  function marks(entry) {
    return [
      entry.required ? make("span", { class: "st-mark st-mark--required", title: "The gate never opens when this case is shown worse" }, "required") : null,
      entry.negative ? make("span", { class: "st-mark", title: "The right answer is a refusal or a question back" }, "negative") : null,
      entry.weak ? make("span", { class: "st-mark", title: "An agent that does nothing passes this case" }, "weak") : null,
    ];
  }

  const percent = (share) => `${Math.round(share * 100)} %`;

  /* k/n with its 95 % interval as a bar; `tally` is {passed, valid, invalid, forbidden, low, high} or null. */
  function rate(tally) {
    if (!tally) return make("span", { class: "st-rate st-rate--none" }, "–");
    const { passed, valid, added, invalid, forbidden, low, high } = tally;
    const words = valid
      ? `${passed} of ${valid} valid trials passed${added ? `, ${added} of them added on suspicion` : ""}; 95 % interval ${percent(low)} to ${percent(high)}`
      : "no valid trial";
    const bar = make("span", { class: "st-bar", "aria-hidden": "true" });
    if (valid) {
      const span = make("i", { class: "st-bar__span" });
      span.style.setProperty("left", `${low * 100}%`);
      span.style.setProperty("right", `${(1 - high) * 100}%`);
      const point = make("i", { class: "st-bar__point" });
      point.style.setProperty("left", `${(passed / valid) * 100}%`);
      add(bar, [span, point]);
    }
    return make("span", { class: "st-rate", title: words },
      make("b", {}, `${passed}/${valid}`), bar,
      make("small", {}, valid ? `${Math.round(low * 100)}–${percent(high)}` : ""),
      added ? make("span", { class: "st-mark", title: "Trials added because the case looked suspicious; no mean counts them" }, `${added} added`) : null,
      forbidden ? make("span", { class: "st-mark st-mark--worse" }, `${forbidden} forbidden`) : null,
      invalid ? make("span", { class: "st-mark", title: "Trials that do not count" }, `${invalid} invalid`) : null);
  }

  /* The release's stored trials, those of the release beside the candidate, and the candidate's. */
  function rates(entry) {
    return make("p", { class: "st-rates" }, "baseline ", rate(entry.baseline),
      entry.live ? [" the release beside it ", rate(entry.live)] : null,
      " candidate ", rate(entry.candidate), entry.evidence ? ` evidence ${entry.evidence}` : "");
  }

  function command(text) {
    const told = make("span", { class: "st-sr", role: "status" });
    const button = make("button", { type: "button", class: "st-button" }, "Copy");
    const code = make("code", {}, text);
    button.addEventListener("click", async () => {
      let copied = true;
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        // Not allowed here (some browsers on file://): select it, so that one key copies it.
        getSelection().selectAllChildren(code);
        copied = document.execCommand("copy");
      }
      button.textContent = copied ? "Copied" : "Press Ctrl+C";
      told.textContent = button.textContent;
    });
    return make("div", { class: "st-command" }, code, button, told);
  }

  /* Where a failing trial went wrong, as a link to the step. */
  function whereWrong(id, worst) {
    const words = [`trial ${worst.trial}`, worst.turn ? `turn ${worst.turn}` : null, worst.call ? `call ${worst.call}` : null];
    const anchor = worst.call ? `c${worst.call}` : worst.turn ? `r${worst.turn}` : "";
    return make("a", { href: caseLink(id, { trials: [worst.trial], anchor }) }, words.filter(Boolean).join(", "));
  }

  const counted = (number, noun, plural = `${noun}s`) => `${number} ${number === 1 ? noun : plural}`;

  return { OUTCOMES, ID, make, add, caseLink, badge, marks, rate, rates, command, whereWrong, counted, percent };
})();
