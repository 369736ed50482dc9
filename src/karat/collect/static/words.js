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

const LETTERS = /[\p{L}\p{N}]+/gu;

/** The words of a query that are worth marking: longer than two letters, or all of them if none is. */
export function queryWords(text) {
  const words = (text || "").toLowerCase().match(LETTERS) || [];
  const long = words.filter((word) => word.length > 2);
  return new Set(long.length ? long : words);
}

/** Text with the query's words marked; a plural of the word counts. */
export function marked(text, words) {
  const parts = document.createDocumentFragment();
  let end = 0;
  for (const found of (text || "").matchAll(LETTERS)) {
    const word = found[0].toLowerCase();
    if (!words.has(word) && !words.has(word.replace(/(es|s)$/, "")) && !words.has(`${word}s`)) continue;
    parts.append(text.slice(end, found.index), make("mark", {}, found[0]));
    end = found.index + found[0].length;
  }
  parts.append((text || "").slice(end));
  return parts;
}

/** A number of seconds in words: 40 s, 3 min, 2.5 h. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "-";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${Math.round(seconds / 86400)} days`;
}
