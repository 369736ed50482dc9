// Two lists side by side.

import { Row, Rows } from "../rows.js";
import { make, marked, queryWords } from "../words.js";
import { commentRow, plain } from "./parts.js";

const FEWEST_LETTERS = 3;

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
export function view(task, setup, hooks) {
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
  const listed = setup.reasons.length > 0; // else reasons are in the judge's own words only
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
  const panel = new Rows(listed ? [sides, strength, reasons] : [sides, strength], changed);
  const rest = make("div", { class: asked ? "rest" : "rest alone" }, asked ? strength.element : null, listed ? reasons.element : null, make("div", { class: "last" }, why.element, hooks.buttons()));
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
      after = panel.shown[1] || sides;
      panel.go(after);
      return true;
    },
    missing: () => {
      if (panel.missing) return panel.missing === strength ? "Say how much better: slightly or clearly." : "Say which list is better.";
      return reasoned() ? "" : listed ? "Say why: choose a reason or write one (c)." : "Say why in your words (c).";
    },
    lacking: () => panel.missing || (listed ? reasons : null),
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
