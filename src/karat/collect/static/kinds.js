// How each kind of task looks and what it asks: one document (alone or after another), two lists, a reason to code.

import { Row, Rows } from "./rows.js";
import { make, marked, queryWords } from "./words.js";

// Keys for long rows of choices; none of them means anything else on the page.
const KEYS = "1234567890qwerty";
const FEWEST_LETTERS = 3;

const plain = (names) => names.map((name, place) => ({ value: name, text: name, key: KEYS[place] }));

function card(found, words, title, more = "") {
  const heading = make("h2", { id: title });
  heading.append(marked(found.title || found.doc, words));
  const snippet = make("p", { class: "snippet" });
  snippet.append(marked(found.snippet || "(no snippet)", words));
  return make(
    "article",
    { class: `document ${more}`, "aria-label": found.title || found.doc },
    heading,
    found.url ? make("p", { class: "address" }, found.url) : null,
    snippet,
  );
}

/** The page itself, in a frame that runs no script and may go nowhere. */
function frame(task, found, title) {
  const src = `/document/${encodeURIComponent(task.id)}?doc=${encodeURIComponent(found.doc)}`;
  return make("iframe", { class: "page-frame", sandbox: "", referrerpolicy: "no-referrer", src, title });
}

/** A button that shows a document's page below it, and hides it again. */
function opener(task, found, key, label, opened) {
  let shown = null;
  const text = make("span", {}, `Open ${label}`);
  const button = make("button", { type: "button", "aria-expanded": "false" }, make("kbd", {}, key), text);
  const actions = make("div", { class: "actions" }, button);
  const toggle = () => {
    if (shown) {
      shown.remove();
      shown = null;
    } else {
      shown = frame(task, found, found.title || found.doc);
      actions.after(shown);
      opened();
    }
    button.setAttribute("aria-expanded", String(Boolean(shown)));
    text.textContent = `${shown ? "Close" : "Open"} ${label}`;
  };
  button.addEventListener("click", toggle);
  return { actions, toggle };
}

function commentRow(label, needed) {
  const field = make("textarea", { rows: "2", maxlength: "5000", "aria-label": label, placeholder: needed ? "" : "optional" });
  const element = make("label", {}, make("span", { class: "note-label" }, make("kbd", { "aria-hidden": "true" }, "c"), label), field);
  return { field, element };
}

/** One document: its snippet first, the page on request; in context, what was read before has to be opened first. */
export function judgeView(task, setup, hooks) {
  const words = queryWords(task.query.text);
  const many = setup.aspects.length > 0;
  const grades = setup.scale.map((level) => ({ value: level.grade, text: level.name, means: level.definition, key: level.key }));
  const short = grades.map(({ value, text, key }) => ({ value, text, key }));
  const rows = [
    new Row({ name: "label", legend: task.context ? "Now, how relevant is this page?" : "How relevant is this page?", options: grades }),
    ...setup.aspects.map(
      (aspect) =>
        new Row({
          name: aspect.name,
          legend: aspect.name,
          note: aspect.definition,
          options: [...short, { value: "na", text: "N/A", key: "n" }],
          compact: true,
        }),
    ),
  ];
  const panel = new Rows(rows, hooks.changed);
  let surface = "snippet";
  const main = card(task.document, words, "document-title");
  const page = task.document.page
    ? opener(task, task.document, "o", "the page", () => {
        surface = "page";
        hooks.opened("page");
      })
    : null;
  if (page) main.append(page.actions);
  const comment = commentRow("Comment", false);
  const answer = make(
    "section",
    { class: "answer side", "aria-label": "Your answer" },
    ...rows.map((row) => row.element),
    comment.element,
    hooks.buttons(),
  );
  const parts = [main, answer];
  let context = null;
  let read = true;
  if (task.context) {
    read = false;
    panel.shut = true;
    main.classList.add("waits");
    const veil = make("p", { class: "veil soft" }, "Read first what stands beside this; then the page to judge is shown here.");
    main.prepend(veil);
    const before = card(task.context, words, "context-title", "pinned side");
    before.prepend(make("p", { class: "eyebrow" }, "You have just read"));
    const go = () => {
      if (read) return;
      read = true;
      panel.shut = false;
      main.classList.remove("waits");
      veil.remove();
      before.querySelector(".actions kbd")?.remove(); // from now on o opens the page to judge
      hooks.opened("context");
      hooks.hint("");
    };
    if (task.context.page) {
      context = opener(task, task.context, "o", "what you have read", go);
      before.append(context.actions);
    } else {
      const button = make("button", { type: "button" }, make("kbd", {}, "o"), "I have read this");
      button.addEventListener("click", go);
      before.append(make("div", { class: "actions" }, button));
      context = { toggle: go };
    }
    parts.unshift(before);
    hooks.hint("Open what you have just read first (o).");
  }
  return {
    kind: `of-judge${task.context ? " with-context" : ""}`,
    parts,
    panel,
    text: comment.field,
    quick: !many,
    open: () => (read ? page && page.toggle() : context.toggle()),
    missing: () => (read ? panel.missing && `Choose a grade${many ? " in every row (n: not applicable)" : ""}.` : "Open what you have just read first (o)."),
    read: () => {
      const graded = Object.fromEntries(rows.slice(1).map((row) => [row.name, row.value === "na" ? null : Number(row.value)]));
      return { label: Number(rows[0].value), ...(many ? { aspects: graded } : {}), comment: comment.field.value, surface };
    },
    draft: () => ({ rows: rows.map((row) => row.value), text: comment.field.value, read, surface }),
    restore: (kept) => {
      rows.forEach((row, place) => kept.rows[place] !== null && (row.value = kept.rows[place]));
      comment.field.value = kept.text || "";
      surface = kept.surface || surface;
      if (kept.read && !read) context.toggle();
    },
    recall: (said) => {
      if (said.label !== null && said.label !== undefined) rows[0].value = said.label;
      rows.slice(1).forEach((row) => said.aspects && row.name in said.aspects && (row.value = said.aspects[row.name] ?? "na"));
      comment.field.value = said.comment || "";
    },
  };
}

function list(results, side, words) {
  const heading = make("h2", {}, side === "left" ? "Left" : "Right");
  const items = results.map((result, place) => {
    const title = make("h3");
    title.append(marked(result.title || result.url || result.doc, words));
    const snippet = make("p", { class: "snippet" });
    snippet.append(marked(result.snippet || "", words));
    return make(
      "li",
      { class: "result" },
      make("span", { class: "rank", "aria-hidden": "true" }, String(place + 1)),
      make("div", {}, title, result.url ? make("p", { class: "address" }, result.url) : null, snippet),
    );
  });
  return make("section", { class: "list", "aria-label": `${side} list` }, heading, make("ol", {}, ...items));
}

/** Two lists side by side: which one is better, and why. */
export function pairView(task, setup, hooks) {
  const words = queryWords(`${task.query.text} ${task.query.subtopic}`);
  const left = list(task.left, "left", words);
  const right = list(task.right, "right", words);
  const options = [
    { value: "left", text: "Left is better", key: "1" },
    { value: "equal", text: "Equally good", key: "2" },
    { value: "right", text: "Right is better", key: "3" },
    { value: "none", text: "None is relevant", key: "4" },
  ];
  const sides = new Row({ name: "choice", legend: "Which list would you rather have?", options, sides: true });
  const strengths = [
    { value: "1", text: "slightly", key: "1" },
    { value: "2", text: "clearly", key: "2" },
  ];
  const strength = new Row({ name: "strength", legend: "How much?", options: strengths, compact: true });
  strength.element.hidden = true;
  const reasons = new Row({ name: "reasons", legend: "Why?", note: "needed: choose or write", options: plain(setup.reasons), many: true, needed: false, compact: true });
  const why = commentRow("In your words", true);
  const asked = setup.strengths > 1;
  let after = null; // the row at which the keys are since an arrow chose a side
  const changed = (row) => {
    if (row !== sides) after = null;
    left.classList.toggle("chosen", sides.value === "left");
    right.classList.toggle("chosen", sides.value === "right");
    strength.element.hidden = !(asked && (sides.value === "left" || sides.value === "right"));
    hooks.changed(row);
  };
  const panel = new Rows([sides, strength, reasons], changed);
  const rest = make("div", { class: "rest" }, strength.element, reasons.element, make("div", { class: "last" }, why.element, hooks.buttons()));
  const verdict = make("section", { class: "verdict", "aria-label": "Your answer" }, make("div", { class: "answer" }, sides.element, rest));
  const reasoned = () => reasons.value.length > 0 || why.field.value.trim().length >= FEWEST_LETTERS;
  return {
    kind: "of-pair",
    parts: [make("div", { class: "lists" }, left, right)],
    below: verdict,
    panel,
    text: why.field,
    quick: false,
    open: () => {},
    // Left and right say which list is better; the same way again says clearly. Digits then belong to the next row.
    arrow: (key) => {
      const sideways = key === "ArrowLeft" || key === "ArrowRight";
      if (!sideways || (panel.row !== sides && panel.row !== after)) {
        after = null;
        return false;
      }
      const side = key === "ArrowLeft" ? "left" : "right";
      const again = sides.value === side;
      sides.value = side;
      if (asked) strength.value = again ? "2" : "1";
      changed(sides);
      after = panel.shown[1];
      panel.go(after);
      return true;
    },
    missing: () => {
      if (panel.missing) return panel.missing === strength ? "Say how much better: slightly or clearly." : "Say which list is better.";
      return reasoned() ? "" : "Say why: choose a reason or write one (c).";
    },
    lacking: () => panel.missing || reasons,
    read: () => ({
      choice: sides.value,
      ...(strength.element.hidden ? {} : { strength: Number(strength.value) }),
      chips: reasons.value,
      reason: why.field.value.trim(),
    }),
    draft: () => ({ choice: sides.value, strength: strength.value, chips: reasons.value, reason: why.field.value }),
    restore: (kept) => {
      if (kept.choice) sides.value = kept.choice;
      if (kept.strength) strength.value = kept.strength;
      reasons.value = kept.chips || [];
      why.field.value = kept.reason || "";
      changed(sides);
    },
    recall(said) {
      this.restore(said);
    },
  };
}

/** A reason somebody gave, to be put into classes. */
export function codeView(task, setup, hooks) {
  const row = new Row({ name: "classes", legend: "Which classes does it belong to?", note: "one or more", options: plain(setup.classes), many: true });
  const panel = new Rows([row], hooks.changed);
  const comment = commentRow("Comment", false);
  const said = make(
    "article",
    { class: "document", "aria-label": "The reason" },
    make("p", { class: "eyebrow" }, "Somebody chose between two lists and said"),
    make("blockquote", { class: "said" }, task.reason || "(nothing)"),
  );
  const answer = make("section", { class: "answer", "aria-label": "Your answer" }, row.element, comment.element, hooks.buttons());
  return {
    kind: "of-code",
    parts: [said, answer],
    panel,
    text: comment.field,
    quick: false,
    open: () => {},
    missing: () => panel.missing && "Choose at least one class.",
    read: () => ({ classes: row.value, comment: comment.field.value }),
    draft: () => ({ classes: row.value, comment: comment.field.value }),
    restore: (kept) => {
      row.value = kept.classes || [];
      comment.field.value = kept.comment || "";
    },
    recall(said) {
      this.restore(said);
    },
  };
}

export const VIEWS = { judge: judgeView, pair: pairView, code: codeView };
