// The welcome page by keyboard: Enter begins, ? shows the keys.

import { byId, openDialog } from "./words.js";

const help = byId("help");

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || help.open) return;
  if (event.key === "?") openDialog(help, byId("heading"));
  else if (event.key === "Enter" && !event.target.matches("a, button, summary")) byId("begin")?.click();
  else return;
  event.preventDefault();
});
help.addEventListener("click", (event) => {
  if (event.target === help || event.target.closest("[data-close]")) help.close();
});
