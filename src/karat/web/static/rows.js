// The answer panel: rows of choices, one of them at hand. Digits choose in it, arrows move, everything works by mouse too.

import { make } from "./words.js";

let made = 0;

/** A row of choices: one of several, or any number of them. */
export class Row {
  constructor({ name, legend, note = "", options, many = false, needed = true, compact = false, sides = false }) {
    Object.assign(this, { name, many, needed, options });
    const group = `row-${(made += 1)}`;
    this.inputs = options.map((option) =>
      make("input", { type: many ? "checkbox" : "radio", name: group, value: option.value, "aria-keyshortcuts": option.key }),
    );
    const choices = options.map((option, place) =>
      make(
        "label",
        { class: "choice" },
        this.inputs[place],
        option.key ? make("kbd", { "aria-hidden": "true" }, option.key) : null,
        make("span", {}, make("b", {}, option.text), option.means ? make("span", { class: "means" }, option.means) : null),
      ),
    );
    const style = `choices${compact ? " compact" : ""}${sides ? " sides" : ""}`;
    this.element = make(
      "fieldset",
      { "data-row": name },
      make("legend", {}, legend, note ? make("span", { class: "soft" }, ` ${note}`) : null),
      make("div", { class: style }, ...choices),
    );
  }

  get value() {
    const chosen = this.inputs.filter((input) => input.checked).map((input) => input.value);
    return this.many ? chosen : (chosen[0] ?? null);
  }

  set value(value) {
    const wanted = new Set([value].flat().map(String));
    for (const input of this.inputs) input.checked = wanted.has(input.value);
  }

  get answered() {
    return !this.needed || this.inputs.some((input) => input.checked);
  }

  /** Press a key; true if it belongs to this row. */
  press(key) {
    const place = this.options.findIndex((option) => option.key === key);
    if (place < 0) return false;
    this.inputs[place].checked = this.many ? !this.inputs[place].checked : true;
    this.inputs[place].focus();
    return true;
  }

  /** The choice before (-1) or after (+1); for many, only the focus moves. */
  step(way) {
    const n = this.inputs.length;
    let at = this.inputs.findIndex((input) => (this.many ? input === document.activeElement : input.checked));
    at = at < 0 ? (way > 0 ? 0 : n - 1) : Math.min(Math.max(at + way, 0), n - 1);
    if (!this.many) this.inputs[at].checked = true;
    this.inputs[at].focus();
  }

  focus() {
    (this.inputs.find((input) => input.checked) || this.inputs[0]).focus();
  }

  set shut(shut) {
    this.element.disabled = shut;
  }
}

/** All rows of an answer, and which of them the keys go to. */
export class Rows {
  constructor(rows, changed) {
    this.all = rows;
    this.changed = changed;
    this.at = 0;
    rows.forEach((row, place) => {
      row.element.addEventListener("focusin", () => this.hand(place));
      row.element.addEventListener("change", () => this.changed(row));
    });
    this.hand(0);
  }

  get shown() {
    return this.all.filter((row) => !row.element.hidden);
  }

  get row() {
    return this.all[this.at];
  }

  get missing() {
    return this.shown.find((row) => !row.answered) || null;
  }

  /** Which row the keys go to from now on. */
  hand(place) {
    this.at = place;
    this.all.forEach((row, other) => row.element.classList.toggle("at-hand", other === place && this.shown.length > 1));
  }

  /** The next row down (+1) or up (-1); false at the end. */
  move(way) {
    const shown = this.shown;
    const next = shown[shown.indexOf(this.row) + way];
    if (!next) return false;
    this.go(next);
    return true;
  }

  go(row) {
    this.hand(this.all.indexOf(row));
    row.focus();
    row.element.scrollIntoView({ block: "nearest" }); // all of it, not only the choice in focus
  }

  /** What was half said is shown again: the keys go to the first row that lacks an answer, or else to the last. */
  resume() {
    this.hand(this.all.indexOf(this.missing || this.shown.at(-1)));
  }

  /** A key for the row at hand; after a single choice the next row is at hand. */
  press(key) {
    const row = this.row;
    if (row.element.disabled || !row.press(key)) return false;
    this.changed(row);
    if (!row.many && this.row === row) this.move(1); // unless the answer itself led on
    return true;
  }

  /** Arrows: along the row and between rows. */
  arrow(key) {
    if (this.row.element.disabled) return false;
    const way = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
    if (key === "ArrowLeft" || key === "ArrowRight" || this.shown.length === 1) {
      this.row.step(way);
      if (!this.row.many) this.changed(this.row);
    } else this.move(way);
    return true;
  }

  set shut(shut) {
    for (const row of this.all) row.shut = shut;
  }
}
