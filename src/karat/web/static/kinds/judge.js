// One document to grade, alone or after another.

import { Row, Rows } from "../rows.js";
import { make, queryWords } from "../words.js";
import { card, commentRow, opener } from "./parts.js";

/** One document: its snippet first, the page on request; in context, what was read before has to be opened first. */
export function view(task, setup, hooks) {
  const words = queryWords(task.query.text);
  const many = setup.aspects.length > 0;
  const grades = setup.scale.map((level) => ({ value: level.grade, text: level.name, means: level.definition, key: level.key }));
  const short = grades.map(({ value, text, key }) => ({ value, text, key }));
  const na = { value: "na", text: "N/A", key: "n" };
  // Two steps of one task: first the snippet, on its own scale; then the page is opened, and the rest is asked.
  const first = setup.snippet
    ? new Row({ name: "snippet", legend: setup.snippet.question, options: setup.snippet.scale.map((level) => ({ value: level.grade, text: level.name, means: level.definition, key: level.key })) })
    : null;
  const rows = [
    new Row({ name: "label", legend: task.context ? setup.question_in_context : setup.question, options: setup.not_applicable && !task.practice ? [...grades, na] : grades }),
    ...setup.aspects.map(
      (aspect) =>
        new Row({
          name: aspect.name,
          legend: aspect.name,
          note: aspect.definition,
          options: [...short, na],
          compact: true,
        }),
    ),
  ];
  let surface = "snippet";
  let second = !first;
  const panel = new Rows(first ? [first, ...rows] : rows, (row) => {
    if (row === first && first.value !== null && read) step();
    hooks.changed(row);
  });
  let context = null;
  let read = true;
  const main = card(task.document, words, "document-title");
  const page = task.document.page
    ? opener(task, task.document, "o", "the page", () => {
        surface = "page";
        hooks.opened("page");
      })
    : null;
  if (page) main.append(page.actions);
  /** The second step: what was said of the snippet stands, and the page is shown. */
  function step() {
    if (second) return;
    second = true;
    for (const row of rows) row.element.hidden = false;
    comment.element.hidden = false;
    first.shut = true;
    if (page) {
      page.actions.hidden = false;
      page.toggle();
    }
    panel.go(rows[0]);
  }
  const comment = commentRow("Comment", false);
  const answer = make(
    "section",
    { class: "answer side", "aria-label": "Your answer" },
    make("div", { class: "asked" }, ...panel.all.map((row) => row.element), comment.element),
    hooks.buttons(),
  );
  const parts = [main, answer];
  if (first) {
    for (const row of rows) row.element.hidden = true;
    comment.element.hidden = true;
    if (page) page.actions.hidden = true;
  }
  if (task.context) {
    read = false;
    panel.shut = true;
    main.classList.add("waits");
    const veil = make("p", { class: "veil soft" }, "Read first what stands beside this; then the page to judge is shown here.");
    main.prepend(veil);
    // What was read before, in order; each is opened in turn, then the page to judge is shown.
    const docs = [...(task.before || []), task.context];
    let at = 0;
    const go = () => {
      if (read) return;
      read = true;
      panel.shut = false;
      main.classList.remove("waits");
      veil.remove();
      for (const key of before.querySelectorAll(".actions kbd")) key.remove(); // from now on o opens the page to judge
      hooks.opened("context");
      hooks.hint("");
    };
    const seen = (place) => {
      if (place !== at) return;
      at += 1;
      if (at === docs.length) go();
      else hooks.hint(`Open what you have read: ${at + 1} of ${docs.length} (o).`);
    };
    const cards = docs.map((found, place) => {
      const shown = card(found, words, place ? `context-title-${place}` : "context-title", "pinned");
      shown.prepend(make("p", { class: "eyebrow" }, docs.length > 1 ? `You have read, ${place + 1} of ${docs.length}` : "You have just read"));
      if (found.page) {
        const opens = opener(task, found, "o", "what you have read", () => seen(place));
        shown.append(opens.actions);
        return { shown, toggle: opens.toggle };
      }
      const button = make("button", { type: "button" }, make("kbd", {}, "o"), "I have read this");
      button.addEventListener("click", () => seen(place));
      shown.append(make("div", { class: "actions" }, button));
      return { shown, toggle: () => seen(place) };
    });
    const before = docs.length > 1 ? make("div", { class: "side read-before" }, ...cards.map((one) => one.shown)) : cards[0].shown;
    if (docs.length === 1) before.classList.add("side");
    context = {
      toggle: () => cards[at]?.toggle(),
      all: () => {
        while (!read) cards[at].toggle();
      },
    };
    parts.unshift(before);
    hooks.hint("Open what you have just read first (o).");
  }
  function restart(value) {
    if (!first || value === null || value === undefined) return;
    first.value = value;
    if (read) step();
  }
  return {
    kind: `of-judge${task.context ? " with-context" : ""}`,
    parts,
    panel,
    text: comment.field,
    quick: !many && !first,
    open: () => (read ? second && page && page.toggle() : context.toggle()),
    missing: () => (read ? panel.missing && `Choose a grade${many && second ? " in every row (n: not applicable)" : ""}.` : "Open what you have just read first (o)."),
    read: () => {
      const graded = Object.fromEntries(rows.slice(1).map((row) => [row.name, row.value === "na" ? null : Number(row.value)]));
      const label = rows[0].value === "na" ? null : Number(rows[0].value);
      return { label, ...(first ? { snippet: Number(first.value) } : {}), ...(many ? { aspects: graded } : {}), comment: comment.field.value, surface };
    },
    draft: () => ({ rows: rows.map((row) => row.value), first: first?.value ?? null, text: comment.field.value, read, surface }),
    restore: (kept) => {
      rows.forEach((row, place) => kept.rows[place] !== null && (row.value = kept.rows[place]));
      comment.field.value = kept.text || "";
      surface = kept.surface || surface;
      if (kept.read && !read) context.all();
      restart(kept.first);
    },
    recall: (said) => {
      restart(said.snippet);
      if (said.label !== null && said.label !== undefined) rows[0].value = said.label;
      else if (setup.not_applicable && said.kind === "answer") rows[0].value = "na";
      rows.slice(1).forEach((row) => said.aspects && row.name in said.aspects && (row.value = said.aspects[row.name] ?? "na"));
      comment.field.value = said.comment || "";
    },
  };
}
