// The strip above a task: how far the judge is, what has to be said about the connection, and why there is no task.

import { byId } from "./words.js";

export function banner(text, bad = false) {
  const element = byId("banner");
  element.hidden = !text;
  element.textContent = text;
  element.classList.toggle("bad", bad);
  measure();
}

/** What sticks below the strip has to know its height. */
export function measure() {
  document.documentElement.style.setProperty("--strip", `${byId("strip").offsetHeight + 20}px`);
}

/** `enough` answers, if it is not 0, are what a platform pays for: the goal until then, and the code to be had after. */
export function showProgress({ answered, limit, open, practice, practised }, inPractice, enough) {
  const goal = enough && answered < enough ? enough : limit;
  const all = goal || answered + open;
  byId("code-link").hidden = !enough || answered < enough;
  byId("meter").max = Math.max(all, 1);
  byId("meter").value = Math.min(answered, all);
  if (inPractice) byId("meter-text").textContent = `practice ${Math.min(practised + 1, practice)} of ${practice}`;
  else byId("meter-text").textContent = goal ? `${answered} of ${goal} done` : `${answered} done, ${open} open`;
}

/** No task is shown: its place is empty, and the strip says so. */
export function emptied(heading) {
  byId("query").textContent = heading;
  byId("need").textContent = "";
  byId("work").replaceChildren();
  document.querySelector(".verdict")?.remove();
}

/** Why there is no task, in words. */
export function nothing(reply) {
  if (reply.message) return `${reply.message[0].toUpperCase()}${reply.message.slice(1)}.`;
  const when = reply.wait_until ? ` The next task comes after ${new Date(reply.wait_until).toLocaleString()}.` : "";
  return `There is nothing to judge right now.${when} This page looks again by itself.`;
}
