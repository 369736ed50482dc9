// The keyboard: digits and arrows choose, Enter sends, letters do the rest; and keys stay with the page.

import { byId } from "./words.js";

/** `view` gives what is shown now, `press` hands it a key to choose by, `acts` are what other keys do. */
export function listen({ view, press, send, acts }) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
    const typing = event.target.matches("textarea, input[type=text]");
    if (typing) {
      if (event.key === "Escape") event.target.blur();
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
      return;
    }
    if (event.ctrlKey || event.metaKey) return;
    let done = false;
    if (event.key === "Enter") {
      if (event.target.matches("button, a, summary")) return;
      send();
      done = true;
    } else if (view() && event.key.startsWith("Arrow")) {
      done = view().arrow?.(event.key) || view().panel.arrow(event.key);
    } else if (view() && event.key.length === 1) {
      done = press(event.key);
    }
    if (!done && acts[event.key]) {
      acts[event.key]();
      done = true;
    }
    if (done) event.preventDefault();
  });
  comeBack();
}

// A click into the document's frame would take the keys away: they come back, unless Tab went there on purpose (to scroll).
function comeBack() {
  let tabbed = -Infinity;
  window.addEventListener("keydown", (event) => (tabbed = event.key === "Tab" ? performance.now() : -Infinity), true);
  window.addEventListener("blur", () => {
    setTimeout(() => {
      const inFrame = document.activeElement?.tagName === "IFRAME";
      if (inFrame && performance.now() - tabbed > 500) byId("query").focus({ preventScroll: true });
    }, 0);
  });
}
