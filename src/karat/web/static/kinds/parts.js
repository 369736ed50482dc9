// What several kinds of tasks show: a document, a button that opens its page, a comment.

import { make, marked } from "../words.js";

// Keys for long rows of choices; none of them means anything else on the page.
const KEYS = "1234567890qwerty";

export const plain = (names) => names.map((name, place) => ({ value: name, text: name, key: KEYS[place] }));

export function card(found, words, title, more = "") {
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
export function opener(task, found, key, label, opened) {
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

export function commentRow(label, needed) {
  const field = make("textarea", { rows: "2", maxlength: "5000", "aria-label": label, placeholder: needed ? "" : "optional" });
  const element = make("label", {}, make("span", { class: "note-label" }, make("kbd", { "aria-hidden": "true" }, "c"), label), field);
  return { field, element };
}
