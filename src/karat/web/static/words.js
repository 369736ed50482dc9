// Small pieces for building pages: elements from text only, so that nothing in a document can become markup.

/** An element with attributes and children; children are elements or text, never HTML. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "onclick") element.addEventListener("click", value);
    else if (value === true) element.setAttribute(name, "");
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const byId = (id) => document.getElementById(id);

/**
 * Open a dialog; where nothing has the focus, `home` gets it first. On closing, the browser gives the focus back at once
 * to what had it; else a button of the closed dialog keeps it until the next frame, and takes the keys of who is quick.
 */
export function openDialog(dialog, home) {
  if (document.activeElement === document.body) home.focus({ preventScroll: true });
  dialog.showModal();
}

const LETTERS = /[\p{L}\p{N}]+/gu;

const SMALL = new Set("a an and are by can do does for from how in is it of on or the this to what when where which who why with".split(" "));

// Shoe, shoes and shoeing are one word to the eye.
const stem = (word) => word.toLowerCase().replace(/(?<=.{3})(ing|ed|s)$/, "").replace(/(?<=.{2})e$/, "");

/** The words of a query that are worth marking; all of them if none is. */
export function queryWords(text) {
  const words = (text || "").toLowerCase().match(LETTERS) || [];
  const worth = words.filter((word) => !SMALL.has(word));
  return new Set((worth.length ? worth : words).map(stem));
}

/** Text with the query's words marked. */
export function marked(text, words) {
  const parts = document.createDocumentFragment();
  let end = 0;
  for (const found of (text || "").matchAll(LETTERS)) {
    if (!words.has(stem(found[0]))) continue;
    parts.append(text.slice(end, found.index), make("mark", {}, found[0]));
    end = found.index + found[0].length;
  }
  parts.append((text || "").slice(end));
  return parts;
}

/** A number of seconds in words: 40 s, 3 min, 2.5 h. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "-";
  if (seconds < 3) return `${Number(seconds.toFixed(1))} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${Math.round(seconds / 86400)} days`;
}
