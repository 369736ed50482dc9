// The judging page: shows a task, takes the answer, has the next one ready, and loses nothing on the way.

import { Clock } from "./clock.js";
import { Dialogs } from "./dialogs.js";
import { draftOf, dropDraft, keepDraft } from "./drafts.js";
import { listen } from "./keys.js";
import { ask, newKey, Outbox, Refused, tell } from "./server.js";
import { banner, emptied, measure, nothing, showProgress } from "./strip.js";
import { byId, make } from "./words.js";

const setup = JSON.parse(byId("setup").textContent);
// How each kind of task looks and what it asks: a script of its name; all are here before the first task.
const scripts = await Promise.all(setup.kinds.map((kind) => import(`./kinds/${kind}.js`)));
const views = Object.fromEntries(setup.kinds.map((kind, place) => [kind, scripts[place].view]));
const clock = new Clock();
const QUICK = "karat-send-at-once";

let task = null; // the task shown
let view = null; // how it is shown
let ahead = null; // the promise of the next one
let kept = []; // tasks laid aside while an older answer is given again
let busy = false;
let paid = false; // what a platform pays for is done
let progress = { answered: 0, open: 0, practised: 0, practice: 0, limit: null };

// What was not taken stays said so long, whatever is sent or loaded meanwhile.
const STAYS = 10_000;
let told = -STAYS;
const quiet = () => performance.now() - told > STAYS && banner("");

const outbox = new Outbox(setup.owner, {
  changed: (waiting, trouble, error) => {
    const gone = error instanceof Refused && error.status === 401;
    if (gone) banner("You are no longer signed in here. Open your personal link again: what you said is kept.", true);
    else if (trouble && waiting) {
      const many = waiting === 1 ? "1 message is" : `${waiting} messages are`;
      const then = task ? "go on judging" : "the next task comes then";
      banner(`No connection. ${many} kept in this browser and will be sent when it is back; ${then}.`, true);
    } else quiet();
    if (!waiting && paid) window.location.assign("/done");
  },
  taken: (item, reply) => {
    const counted = item.path.endsWith("/answer") && !reply.feedback;
    if (counted) meter(1);
    if (item.path.endsWith("/cant-tell")) meter(0, 1);
    // The code is shown once everything said is there.
    paid ||= counted && progress.answered === setup.enough;
    if (reply.rejected) {
      told = performance.now();
      banner("A control question was answered wrongly, so your answers to tasks of this kind were not accepted.", true);
      load();
    }
  },
  refused: (item, error) => {
    told = performance.now();
    banner(`Not taken: ${error.message}`, true);
    if (error.status === 403) load();
  },
});

const dialogs = new Dialogs(setup, {
  undo: (answer) => undo(answer),
  cantTell: (reason) => {
    post("cant-tell", { key: newKey(), reason, ...clock.read() });
    advance();
  },
  opened: () => opened("lookup"),
});

async function count() {
  try {
    progress = (await ask("/api/me")).progress;
    meter();
  } catch {
    // The next answer counts it anew.
  }
}

/** How far: what was answered, of the judge's share or of what is open. */
function meter(more = 0, gone = more) {
  progress.answered += more;
  progress.open = Math.max(progress.open - gone, 0);
  showProgress(progress, Boolean(task?.practice), setup.enough);
}

function hint(text, bad = false) {
  const element = byId("hint");
  if (!element) return;
  element.textContent = text;
  element.classList.toggle("bad", bad);
}

/** The buttons under every answer; practice is answered, right or wrong. */
function buttons() {
  const button = (key, text, act, look = "") => make("button", { type: "button", class: look, onclick: act }, make("kbd", { "aria-hidden": "true" }, key), text);
  return make(
    "div",
    { class: "send-box" },
    make(
      "div",
      { class: "send-row" },
      button("Enter", "Send", send, "primary"),
      ...(task.practice ? [] : [button("x", "Can't tell", () => dialogs.cantTell()), button("l", "Later", later)]),
    ),
    make("p", { class: "hint", id: "hint", role: "status" }),
  );
}

const path = (what) => `/api/task/${encodeURIComponent(task.id)}/${what}`;
const post = (what, body) => outbox.add(path(what), body);
const opened = (what) => post("opened", { what });

function show(next, said = null) {
  task = next;
  busy = false;
  const hints = [];
  const hooks = { changed, opened, buttons, hint: (text) => (byId("hint") ? hint(text) : hints.push(text)) };
  view = views[task.kind](task, setup, hooks);
  const work = byId("work");
  work.className = `work ${view.kind}`;
  work.replaceChildren(...view.parts);
  document.querySelector(".verdict")?.remove();
  if (view.below) work.after(view.below);
  byId("eyebrow").textContent = task.practice ? "Practice: query" : said ? "Again: query" : "Query";
  byId("query").textContent = task.query.text;
  const need = byId("need");
  need.replaceChildren();
  if (task.query.subtopic) need.append(make("strong", {}, "Wanted: "), task.query.subtopic);
  else if (task.query.description) need.append(task.query.description);
  dialogs.task(task);
  const draft = draftOf(task.id);
  clock.start(draft?.seconds, draft?.away);
  if (draft) {
    view.restore(draft.answer);
    view.panel.resume();
  }
  if (said && !draft) view.recall(said);
  if (hints.length) hint(hints[0]);
  meter();
  measure();
  window.scrollTo(0, 0);
  byId("query").focus({ preventScroll: true });
  byId("announce").textContent = `${byId("eyebrow").textContent}: ${byId("query").textContent}. ${task.document ? task.document.title || "" : ""}`;
}

function changed(row) {
  keep();
  hint("");
  if (view.quick && localStorage.getItem(QUICK) === "yes" && row?.name === "label" && changed.byKey) send();
}

function keep() {
  if (task) keepDraft(task.id, { answer: view.draft(), ...clock.read() });
}

const next = (besides) => ask(`/api/task/next${besides.length ? `?besides=${besides.map(encodeURIComponent).join(",")}` : ""}`);

// What was said has to be there first: else the same task would come again.
function prefetch() {
  const held = [task.id, ...kept.map((other) => other.id)];
  ahead = outbox.flush().then((empty) => (empty ? next(held) : null)).catch(() => null);
}

/** Ask for a task now; while there is no connection, say so and ask again. */
async function load() {
  ahead = null;
  for (let wait = 1; ; wait = Math.min(wait * 2, 15)) {
    try {
      const [reply] = await Promise.all([next([]), count()]);
      quiet();
      if (reply.state !== "task") return leave(reply);
      show(reply.task);
      return prefetch();
    } catch (error) {
      if (error instanceof Refused && error.status < 500 && error.status !== 429) return leave({ state: "refused", message: error.message });
      banner("No connection. The next task comes as soon as it is back.", true);
      await new Promise((go) => setTimeout(go, wait * 1000));
    }
  }
}

/** The next task: one laid aside, the one fetched ahead, or a new one once everything said has arrived. */
async function advance() {
  dropDraft(task.id);
  const done = task.id;
  if (kept.length) {
    show(kept.shift());
    return prefetch();
  }
  const reply = await ahead;
  if (reply?.state === "task" && reply.task.id !== done) {
    show(reply.task);
    return prefetch();
  }
  waiting();
  while (!(await outbox.flush())) await new Promise((go) => setTimeout(go, 1000));
  return load();
}

function waiting() {
  task = null;
  view = null;
  dialogs.task(null);
  emptied("Looking for your next task");
  outbox.tell();
}

async function send() {
  if (busy || !task) return;
  const lacks = view.missing();
  if (lacks) {
    hint(lacks, true);
    const row = view.lacking ? view.lacking() : view.panel.missing;
    if (row && !row.element.disabled) view.panel.go(row);
    else if (!row) view.text.focus();
    return;
  }
  busy = true;
  const body = { key: newKey(), ...view.read(), ...clock.read() };
  if (!task.practice) {
    post("answer", body);
    await advance();
    return;
  }
  // Practice has an answer to show: wait for it.
  const key = body.key;
  const taken = outbox.taken;
  let feedback = null;
  outbox.taken = (item, reply) => {
    if (item.body.key === key) feedback = reply.feedback;
    taken(item, reply);
  };
  hint("Checking your answer");
  await post("answer", body);
  outbox.taken = taken;
  if (feedback) await dialogs.feedback(feedback);
  ahead = null;
  await advance();
}

function later() {
  if (busy || !task || task.practice) return;
  busy = true;
  post("skip", { key: newKey(), ...clock.read() });
  advance();
}

async function undo(answer) {
  if (!(await outbox.flush())) return banner("Undo needs the connection: try again when it is back.", true);
  try {
    const path = `/api/task/${encodeURIComponent(answer.task_id)}`;
    await tell(`${path}/undo`, { key: newKey() });
    if (answer.kind === "answer") meter(-1);
    else meter(0, -1);
    const again = await ask(path);
    if (task && task.id !== again.id) kept.unshift(task);
    dropDraft(again.id);
    show(again, answer);
    prefetch();
  } catch (error) {
    banner(`Not undone: ${error.message}`, true);
  }
  return undefined;
}

/** No task: say why, and look again where that makes sense. */
function leave(reply) {
  task = null;
  view = null;
  byId("eyebrow").textContent = setup.title;
  emptied(reply.state === "refused" ? "No task for you" : "Nothing to do just now");
  if (reply.state === "done" || reply.state === "limit") {
    window.location.assign("/done");
    return;
  }
  const text = nothing(reply);
  byId("work").className = "work of-code";
  byId("work").replaceChildren(make("section", { class: "card" }, make("p", {}, text)));
  byId("announce").textContent = text;
  setTimeout(load, 15000);
}

listen({
  view: () => view,
  press: (key) => {
    changed.byKey = true;
    const done = view.panel.press(key);
    changed.byKey = false;
    return done;
  },
  send,
  acts: {
    u: () => dialogs.undo(),
    x: () => task && !task.practice && dialogs.cantTell(),
    l: later,
    "/": () => dialogs.lookup(),
    "?": () => dialogs.help(),
    o: () => view?.open(),
    c: () => view?.text.focus(),
  },
});

byId("open-help").addEventListener("click", () => dialogs.help());
byId("open-undo").addEventListener("click", () => dialogs.undo());
byId("open-lookup").addEventListener("click", () => dialogs.lookup());
byId("at-once").checked = localStorage.getItem(QUICK) === "yes";
byId("at-once").addEventListener("change", (event) => localStorage.setItem(QUICK, event.target.checked ? "yes" : "no"));
document.addEventListener("input", (event) => event.target.matches("textarea") && view && keep());
window.addEventListener("pagehide", () => view && keep());
window.addEventListener("resize", measure);

measure();
outbox.flush().then(load);
