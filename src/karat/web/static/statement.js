// A statement beside a text: what nuggets and cited passages share.

import { Row, Rows } from "./rows.js";
import { make, queryWords } from "./words.js";
import { card, commentRow, opener } from "./kinds/parts.js";

/** A statement, the text beside it with its page open at once, and a choice between words. */
export function statement(task, hooks, { above, legend, options }) {
  const row = new Row({ name: "choice", legend, options });
  const panel = new Rows([row], hooks.changed);
  const comment = commentRow("Comment", false);
  const said = make("div", { class: "statement" }, make("p", { class: "eyebrow" }, above), make("blockquote", { class: "said" }, task.statement || "(nothing)"));
  const main = card(task.document, queryWords(`${task.query.text} ${task.statement || ""}`), "document-title");
  main.prepend(said);
  const page = task.document.page ? opener(task, task.document, "o", "the text", () => hooks.opened("page")) : null;
  if (page) main.append(page.actions);
  const answer = make("section", { class: "answer side", "aria-label": "Your answer" }, make("div", { class: "asked" }, row.element, comment.element), hooks.buttons());
  if (page) page.toggle(); // the statement is held against the text, so it is there from the start
  return {
    kind: "of-judge",
    parts: [main, answer],
    panel,
    text: comment.field,
    quick: false,
    open: () => page && page.toggle(),
    missing: () => panel.missing && "Choose one.",
    read: () => ({ choice: row.value, comment: comment.field.value }),
    draft: () => ({ choice: row.value, comment: comment.field.value }),
    restore: (kept) => {
      if (kept.choice) row.value = kept.choice;
      comment.field.value = kept.comment || "";
    },
    recall(said) {
      this.restore(said);
    },
  };
}
