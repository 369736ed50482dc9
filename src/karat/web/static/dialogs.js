// What opens over the judging page: help, undo, can't tell, the look-up panel, feedback in practice.

import { Row } from "./rows.js";
import { ask } from "./server.js";
import { byId, make, marked, openDialog, queryWords } from "./words.js";

const DIGITS = "1234567890";

export class Dialogs {
  constructor(setup, { undo, cantTell, opened }) {
    this.acts = { undo, cantTell, opened };
    this.current = null;
    this.scale = setup.scale;
    for (const dialog of document.querySelectorAll("dialog")) {
      dialog.addEventListener("click", (event) => {
        if (event.target === dialog || event.target.closest("[data-close]")) dialog.close();
      });
    }
    const options = setup.cant_tell.map((text, place) => ({ value: text, text, key: DIGITS[place] }));
    this.reasons = new Row({ name: "cant-tell", legend: "Reason", options });
    byId("cant-choices").replaceWith(this.reasons.element.querySelector(".choices"));
    byId("cant-form").addEventListener("submit", (event) => this.#sendCantTell(event));
    byId("cant-tell").addEventListener("keydown", (event) => this.#cantTellKey(event));
    byId("undo").addEventListener("keydown", (event) => this.#undoKey(event));
    byId("lookup-text").addEventListener("input", () => this.#list());
  }

  task(task) {
    this.current = task;
  }

  help() {
    openDialog(byId("help"), byId("query"));
  }

  // Undo: the last ten, newest first, one key each; u again takes the newest.

  async undo() {
    const list = byId("past");
    list.replaceChildren(make("li", { class: "soft" }, "Looking for your answers"));
    openDialog(byId("undo"), byId("query"));
    try {
      const { answers } = await ask("/api/answers");
      const items = answers.slice(0, 10).map((answer, place) => {
        const said = make("span", { class: "said-then" }, this.#said(answer));
        const after = answer.context ? ` (after ${answer.context})` : "";
        const what = make("span", { class: "what" }, [answer.query.text, answer.title || answer.query.subtopic].filter(Boolean).join(": ") + after);
        const again = () => {
          byId("undo").close();
          this.acts.undo(answer);
        };
        return make("li", {}, make("button", { type: "button", onclick: again }, make("kbd", { "aria-hidden": "true" }, DIGITS[place]), what, said));
      });
      list.replaceChildren(...(items.length ? items : [make("li", { class: "soft" }, "You have not answered anything yet.")]));
      list.querySelector("button")?.focus();
    } catch (error) {
      list.replaceChildren(make("li", { class: "soft" }, `Your answers cannot be shown now: ${error.message}`));
    }
  }

  #said(answer) {
    if (answer.kind === "cant_tell") return "can't tell";
    if (answer.label !== null) return this.scale.find((level) => level.grade === answer.label)?.name ?? String(answer.label);
    return answer.choice || answer.classes.join(", ");
  }

  #undoKey(event) {
    const all = [...byId("past").querySelectorAll("button")];
    const at = all.indexOf(document.activeElement);
    if (event.key === "u") all[0]?.click();
    else if (DIGITS.includes(event.key)) all[DIGITS.indexOf(event.key)]?.click();
    else if (event.key === "ArrowDown") all[Math.min(at + 1, all.length - 1)]?.focus();
    else if (event.key === "ArrowUp") all[Math.max(at - 1, 0)]?.focus();
    else return;
    event.preventDefault();
  }

  // Can't tell: a reason is needed, its key is on it.

  cantTell() {
    byId("cant-form").reset();
    byId("cant-hint").textContent = "";
    openDialog(byId("cant-tell"), byId("query"));
    this.reasons.inputs[0].focus();
  }

  #cantTellKey(event) {
    const typing = event.target.matches("textarea");
    if (event.key === "Enter" && (!typing || event.ctrlKey || event.metaKey) && !event.target.matches("button")) {
      event.preventDefault();
      byId("cant-form").requestSubmit();
    } else if (!typing && this.reasons.press(event.key)) event.preventDefault();
  }

  #sendCantTell(event) {
    const words = byId("cant-text").value.trim();
    if (!this.reasons.value && !words) {
      event.preventDefault();
      byId("cant-hint").textContent = "Choose a reason or write one.";
      return;
    }
    this.acts.cantTell([this.reasons.value, words].filter(Boolean).join(": "));
  }

  // The look-up panel: what else was found for this query, to judge it in its company.

  async lookup() {
    if (!this.current) return;
    const task = this.current;
    byId("lookup-text").value = "";
    byId("lookup-count").textContent = "Looking";
    byId("lookup-list").replaceChildren();
    openDialog(byId("lookup"), byId("query"));
    byId("lookup-text").focus();
    this.acts.opened();
    try {
      task.lookup ??= (await ask(`/api/task/${encodeURIComponent(task.id)}/others`)).documents;
      this.#list();
    } catch (error) {
      byId("lookup-count").textContent = `Not to be had now: ${error.message}`;
    }
  }

  #list() {
    const wanted = byId("lookup-text").value.trim().toLowerCase();
    const all = this.current.lookup || [];
    const found = all.filter((result) => `${result.title || ""} ${result.snippet || ""} ${result.url || ""}`.toLowerCase().includes(wanted));
    const words = queryWords(`${this.current.query.text} ${wanted}`);
    byId("lookup-count").textContent = all.length ? `${found.length} of ${all.length} results` : "No other result of this query is known.";
    byId("lookup-list").replaceChildren(
      ...found.map((result) => {
        const title = make("h3");
        title.append(marked(result.title || result.doc, words));
        const snippet = make("p", { class: "snippet" });
        snippet.append(marked(result.snippet || "", words));
        return make("li", { class: "result" }, make("span"), make("div", {}, title, result.url ? make("p", { class: "address" }, result.url) : null, snippet));
      }),
    );
  }

  /** Practice: was it right, and why; resolves when the judge goes on. */
  feedback({ right, gold, expected, note, done, of, correct, passed }) {
    const dialog = byId("feedback");
    const known = gold === null ? expected : (this.scale.find((level) => level.grade === gold)?.name ?? String(gold));
    dialog.className = `feedback ${right ? "right" : "wrong"}`;
    byId("feedback-title").textContent = right ? "Yes, that is what we expected" : `We expected: ${known}`;
    const score = done < of ? `Practice ${done} of ${of}.` : `Practice is over: ${correct} of ${of} as expected.`;
    const end = passed === false ? " That is fewer than needed to go on." : "";
    byId("feedback-text").textContent = note || "";
    byId("feedback-score").textContent = score + end;
    openDialog(dialog, byId("query"));
    dialog.querySelector("button").focus();
    return new Promise((go) => dialog.addEventListener("close", go, { once: true }));
  }
}
