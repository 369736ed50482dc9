// A reason to put into classes.

import { Row, Rows } from "../rows.js";
import { make } from "../words.js";
import { commentRow, plain } from "./parts.js";

/** A reason somebody gave, to be put into classes. */
export function view(task, setup, hooks) {
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
