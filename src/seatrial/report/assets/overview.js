/* The overview's table: filter by outcome, group, required and words; a page of rows at a time. */
"use strict";

(() => {
  const { OUTCOMES, make, add, caseLink, badge, marks, rate, whereWrong, counted } = Seatrial;
  const FIRST = 60;
  const PAGE = 200;
  const { columns, rows } = globalThis.seatrialTable;
  const cases = rows.map((row) => {
    const entry = Object.fromEntries(columns.map((name, at) => [name, row[at]]));
    for (const side of ["baseline", "live", "candidate"]) {
      const tally = entry[side];
      if (tally) {
        const [passed, valid, invalid, forbidden, low, high, added] = tally;
        entry[side] = { passed, valid, invalid, forbidden, low, high, added };
      }
    }
    entry.words = `${entry.id} ${entry.title} ${entry.group} ${entry.outcome} ${entry.sentence}`.toLowerCase();
    return entry;
  });

  /* The filter lives in the address, so that a filtered table can be linked. */
  const filter = new URLSearchParams(location.hash.slice(1));
  let shown = FIRST;

  const chips = document.getElementById("chips");
  const place = document.getElementById("cases");
  const count = make("p", { class: "st-count", role: "status" });
  const body = make("tbody");
  const more = make("button", { type: "button", class: "st-button", onclick: () => { shown += PAGE; draw(); } });
  const search = make("input", {
    type: "search", class: "st-search", placeholder: "Find by id, title or sentence  ( / )",
    "aria-label": "Find cases", value: filter.get("find") || "",
    oninput: () => set("find", search.value),
  });
  const groups = [...new Set(cases.map((entry) => entry.group))].filter(Boolean).sort();
  const group = make("select", { class: "st-select", "aria-label": "Group", onchange: () => set("group", group.value) },
    make("option", { value: "" }, "every group"),
    groups.map((name) => make("option", { value: name, selected: filter.get("group") === name }, name)));
  const required = make("input", {
    type: "checkbox", checked: filter.has("required"),
    onchange: () => set("required", required.checked ? "1" : ""),
  });

  function set(name, value) {
    if (value) filter.set(name, value); else filter.delete(name);
    shown = FIRST;
    history.replaceState(null, "", filter.size ? `#${filter}` : "#");
    draw();
  }

  const KINDS = [
    ["", "all", () => true],
    ["to-look-at", "to look at", (entry) => Boolean(entry.concern)],
    ["forbidden", "forbidden", (entry) => Boolean(entry.forbidden)],
    ["weak", "weak", (entry) => Boolean(entry.weak)],
    ...OUTCOMES.map((outcome) => [outcome, outcome, (entry) => entry.outcome === outcome]),
  ].filter(([, , test]) => cases.some(test));

  /* The cases that fit everything but the chosen chip, and so the numbers on the chips. */
  function fitting() {
    const find = (filter.get("find") || "").toLowerCase().split(/\s+/).filter(Boolean);
    const [wanted, needed] = [filter.get("group"), filter.has("required")];
    return cases.filter((entry) => (!wanted || entry.group === wanted) && (!needed || entry.required)
      && find.every((word) => entry.words.includes(word)));
  }

  function chip(name, words, number) {
    const on = (filter.get("outcome") || "") === name;
    return make("li", {}, make("button", {
      type: "button", class: `st-chip st-chip--${name || "all"}`, "aria-pressed": on ? "true" : "false",
      onclick: () => set("outcome", on ? "" : name),
    }, make("b", {}, number), ` ${words}`));
  }

  function line(entry) {
    const href = caseLink(entry.id);
    return make("tr", { class: entry.concern ? `st-row--${entry.concern}` : null },
      make("td", {}, badge(entry.outcome, entry.concern, entry.forbidden)),
      make("td", { class: "st-name" },
        entry.page ? make("a", { href }, entry.id) : make("span", {}, entry.id),
        " ", marks(entry), make("div", { class: "st-title st-clamp", title: entry.title }, entry.title)),
      make("td", {}, entry.group),
      make("td", {}, rate(entry.baseline), entry.live ? make("div", {}, make("small", {}, "beside it "), rate(entry.live)) : null),
      make("td", {}, rate(entry.candidate)),
      make("td", { class: "st-sentence" },
        make("div", { class: "st-clamp", title: entry.sentence }, entry.sentence),
        entry.worst && entry.concern ? make("div", { class: "st-clamp st-wrong", title: entry.worst.reason }, whereWrong(entry.id, entry.worst), " ", entry.worst.reason) : null,
        entry.evidence ? make("small", { title: "Evidence against “no change” (e-value)" }, `evidence ${entry.evidence}`) : null));
  }

  function draw() {
    const candidates = fitting();
    chips.replaceChildren(...KINDS.map(([name, words, test]) => chip(name, words, candidates.filter(test).length)));
    const chosen = KINDS.find(([name]) => name === (filter.get("outcome") || ""));
    const found = chosen ? candidates.filter(chosen[2]) : [];
    body.replaceChildren(...found.slice(0, shown).map(line));
    const hidden = Math.max(0, found.length - shown);
    more.hidden = !hidden;
    more.textContent = `Show ${Math.min(PAGE, hidden)} more of ${hidden}`;
    count.textContent = found.length === cases.length
      ? counted(cases.length, "case") : `${found.length} of ${counted(cases.length, "case")}`;
  }

  add(place, [
    make("div", { class: "st-filter" }, search, group, make("label", {}, required, " required only"), count),
    make("div", { class: "st-scroll" }, make("table", { class: "st-table st-table--cases" },
      make("thead", {}, make("tr", {}, ["Outcome", "Case", "Group", "Baseline", "Candidate", "What the trials say"].map((name) => make("th", { scope: "col" }, name)))),
      body)),
    more,
  ]);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
      event.preventDefault();
      search.focus();
    }
  });
  draw();
})();
