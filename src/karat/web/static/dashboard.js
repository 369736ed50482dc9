// The lead's dashboard: asks for the figures every few seconds and draws what changed.

import { bars, course, dots, funnel, meters, moment } from "./charts.js";
import { ask, tell } from "./server.js";
import { byId, duration, make } from "./words.js";

const EVERY = 4000;
const setup = JSON.parse(byId("setup").textContent);
const drawn = {};

/** Draw only what changed: focus and scrolling stay where they are. */
function redraw(id, data, make) {
  const width = Math.round(Math.max(byId(id).clientWidth, 240));
  const text = JSON.stringify([width, data]);
  if (drawn[id] === text) return;
  drawn[id] = text;
  byId(id).replaceChildren(make(data, width));
}

/** When it should be done, in the reader's own time. */
function when({ now, answers, expected, forecast }) {
  if (expected <= answers) return "All answers are there.";
  if (forecast.seconds === null) return "Too few answers to say when it will be done.";
  const late = forecast.high === null ? "with no end in sight" : `to ${moment(now + forecast.high)}`;
  const pace = Math.round(forecast.per_hour);
  return `At ${pace} answers an hour it is done by ${moment(now + forecast.seconds)} (95 % interval ${moment(now + (forecast.low || 0))} ${late}), if the pace goes on.`;
}

const percent = (share) => (share === null || share === undefined ? "-" : `${Math.round(share * 100)} %`);
const signed = (value) => (value === null || value === undefined ? "-" : `${value.toFixed(2) > 0 ? "+" : ""}${value.toFixed(2).replace(/^-(0\.00)$/, "$1")}`);
const between = (low, high) => (low === null || high === null || low === undefined ? "no interval yet" : `${low.toFixed(2)} to ${high.toFixed(2)}`);

function table(heads, rows) {
  const head = heads.map((name) => {
    const [text, means] = name.split("|");
    return make("th", { scope: "col", class: text.startsWith("*") ? "text" : "", title: means }, text.replace("*", ""));
  });
  return make("table", { class: "figures" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
}

const cell = (text, look = "", means = null) => make("td", { class: look, title: means }, text);
const share = (value, low, high, n) => (n ? cell(`${percent(value)} [${Math.round(low * 100)},\u00a0${Math.round(high * 100)}]`, n && high < 0.5 ? "look" : "", `of ${n}, with its 95 % interval`) : cell("-"));

/** A mean without its interval would be taken for more than it is. */
function lenient({ leniency, leniency_low: low, leniency_high: high }) {
  if (leniency === null || low === null || high === null) return cell("-", "", "too few labels to say");
  return cell(`${signed(leniency)} [${signed(low)},\u00a0${signed(high)}]`, low > 0 || high < 0 ? "look" : "", "with its 95 % interval");
}

/** Who failed a trap loses what was said about lists only: labels of documents count, and are paid for, until the lead rejects them. */
const stand = (row) => (row.state === "rejected" && row.answers ? `; ${row.answers} answers still count: Reject takes them back, too` : "");

/** Answers of a rejected judge are taken back; the figures that were the reason stay, and say so. */
const before = (row) => (row.as_of ? `figures of the ${row.n} answers taken back on ${moment(Date.parse(row.as_of) / 1000)}` : "");

/** Whoever failed a trap is given no more tasks of that kind, until the lead readmits them. */
const barred = (row) => (row.state === "active" && row.excluded.length ? `, no more ${row.excluded.map((kind) => setup.kinds[kind] || kind).join(", ")}: failed a trap` : "");

function judgeRow(row) {
  const act = row.state === "active" ? "pause" : "release";
  const button = make("button", { type: "button", "aria-label": `${act === "pause" ? "Pause" : "Release"} ${row.name}` }, act === "pause" ? "Pause" : "Release");
  button.addEventListener("click", async () => {
    button.disabled = true;
    await say(() => tell(`/api/judges/${row.id}/${act}`, {}));
    await refresh();
    button.disabled = false; // after a refusal it is still there
  });
  const link = make("button", { type: "button", class: "quiet", "aria-label": `New link for ${row.name}` }, "New link");
  link.addEventListener("click", async () => {
    if (!window.confirm(`The link that ${row.name} has now stops working. Make a new one?`)) return;
    const made = await say(() => tell(`/api/judges/${row.id}/link`, {}));
    if (made) showLink(made);
  });
  const reject = make("button", { type: "button", class: "quiet", "aria-label": `Reject ${row.name}`, disabled: (row.state === "rejected" && !row.answers) || null }, "Reject");
  reject.addEventListener("click", async () => {
    const why = window.prompt(`All that ${row.name} said is taken back, and asked of others. Why? (${row.name} is shown the reason.)`, "");
    if (why === null) return;
    await say(() => tell(`/api/judges/${row.id}/reject`, { why: why.trim() || "rejected by the lead" }));
    await refresh();
  });
  const readmit = make("button", { type: "button", class: "quiet", "aria-label": `Readmit ${row.name}` }, "Readmit");
  readmit.addEventListener("click", async () => {
    await say(() => tell(`/api/judges/${row.id}/release`, {}));
    await refresh();
  });
  const traps = row.traps ? `${row.traps - row.traps_failed} of ${row.traps}` : "-";
  return make(
    "tr",
    { class: row.state === "active" ? "" : "off", "data-judge": row.name },
    make("td", { class: "text wrap" }, row.name, ...[row.external && `${row.source} ${row.external}`, setup.own_codes && row.completion && `code ${row.completion}`].filter(Boolean).map((text) => make("span", { class: "under soft" }, text))),
    cell(row.group, "text"),
    cell(row.state + (row.likely_spammer ? ", likely a spammer" : row.one_grade ? ", one grade to nearly everything" : "") + (row.too_fast ? `, ${row.too_fast} (${percent(row.fast)}; median ${duration(row.pace)})` : "") + (row.state !== "active" && row.why ? `: ${row.why}` : "") + barred(row) + stand(row) + (row.as_of ? `; ${before(row)}` : ""), row.likely_spammer || row.one_grade || row.too_fast || row.state !== "active" || row.excluded.length ? "text wrap look" : "text wrap"),
    cell(String(row.answers)),
    cell(duration(row.pace ?? row.seconds), row.too_fast ? "look" : "", row.fast === null ? null : `${percent(row.fast)} of documents in less than ${duration(row.fast_limit)}`),
    cell(percent(row.cant_tell)),
    share(row.agreement, row.agreement_low, row.agreement_high, row.n_compared),
    share(row.accuracy, row.accuracy_low, row.accuracy_high, row.n_gold),
    cell(traps, row.traps_failed ? "look" : ""),
    lenient(row),
    row.drift_p === null ? cell("-", "", "too few labels to say") : cell(signed(row.drift), row.drift_p < 0.05 ? "look" : "", `p = ${row.drift_p.toFixed(3)}`),
    make("td", {}, make("div", { class: "acts" }, button, ...(row.state === "active" && row.excluded.length ? [readmit] : []), link, reject)),
  );
}

/** Whoever is to be looked at comes first, the others as they came. */
const suspectsFirst = (rows) => [...rows].sort((one, other) => suspect(other) - suspect(one));
const suspect = (row) => Number(row.state === "active" && Boolean(row.likely_spammer || row.one_grade || row.too_fast));

const JUDGE_HEADS = [
  "*Judge",
  "*Group",
  "*State",
  "Answers",
  "Median time|active seconds for one answer",
  "Can't tell|share of answers without a grade",
  "With others|how often the grade is the one that most of the other judges gave; where several are, each counts in part",
  "With gold|how often the grade is the known one",
  "Traps passed|pairs with a known answer",
  "Leniency|mean of grade minus gold, or minus the others' mean",
  "Drift|by how much grades for the same truth changed from first to last; marked when p < 0.05",
  "",
];

const PAIR_HEADS = ["*Judge", "Answers", "Left|share of left among answers for a side, with its 95 % interval: about one half where sides fall by lot", "Median time|active seconds for one answer", "Under 2 s|share of answers given in less than two seconds", "With others|share that goes with the majority of the others who saw the same two lists; one half is chance", "*To look at"];

function pairRow(row) {
  return make("tr", {}, cell(row.judge, "text wrap"), cell(String(row.n)), share(row.left, row.left_low, row.left_high, row.sided), cell(duration(row.seconds)), cell(percent(row.fast)), cell(row.compared ? `${percent(row.agreement)} of ${row.compared}` : "-"), cell([row.flag, before(row)].filter(Boolean).join("; "), row.flag ? "text wrap look" : "text wrap"));
}

/** A part of what is left, and a button to ask for no more of it. */
function leftRow(row) {
  const stuck = ["people", "nobody", "limit", "theirs"].includes(row.why);
  const line = make("li", { class: stuck ? "look" : "" }, row.text);
  if (!stuck) return line;
  const button = make("button", { type: "button", class: "quiet", "aria-label": `Withdraw: ${row.text}` }, "Withdraw");
  button.addEventListener("click", async () => {
    if (!window.confirm(`Ask for no more answers to ${row.tasks === 1 ? "this task" : `these ${row.tasks} tasks`}? What was said stays.`)) return;
    await say(() => tell("/api/tasks/withdraw", { group: row.group, left: row.why, judge: row.judge }));
    await refresh();
  });
  line.append(" ", button);
  return line;
}

function differRow(row) {
  const said = row.labels.map((label) => `${label.judge}: ${name(label.label)}${label.comment ? ` (${label.comment})` : ""}`).join("; ");
  const after = row.context ? ` (after ${row.context_title})` : "";
  return make("tr", {}, cell(row.query_text || row.query, "text wrap"), cell((row.title || row.doc) + after, "text wrap"), cell(said, "text wrap"), cell(String(row.apart), row.apart > 1 ? "look" : ""));
}

const name = (grade) => setup.scale.find((level) => level.grade === grade)?.name ?? String(grade);

/** What is wrong, until the same kind of thing goes well: fresh figures do not undo a refusal. */
function banner(of, text) {
  const shown = byId("banner");
  if (!text && shown.dataset.of !== of) return;
  shown.dataset.of = of;
  shown.hidden = !text;
  shown.textContent = text;
}

async function say(act) {
  try {
    const reply = await act();
    banner("act", "");
    return reply;
  } catch (error) {
    banner("act", `Not done: ${error.message}`);
    return null;
  }
}

/** The verdict so far: the sentence, the course of the interval, and each look as numbers. */
function showLive(live) {
  if (byId("s-live").textContent !== live.finding) byId("s-live").textContent = live.finding;
  redraw("live", live, (data, width) => (data.looks.length ? funnel(width, data) : make("span")));
  redraw("looks", live.looks, (looks) => (looks.length ? table(["Gold labels", "Difference", "From", "To"], [...looks].reverse().map(lookRow)) : make("span")));
  redraw("n-live", live.notes || [], (notes) => {
    const listed = document.createDocumentFragment();
    listed.append(...notes.map((note) => make("li", {}, note)));
    return listed;
  });
}

const precise = (value) => `${value > 0 ? "+" : ""}${value.toFixed(3)}`;
const lookRow = (look) => make("tr", {}, cell(String(look.labels)), cell(precise(look.difference)), cell(precise(look.low)), cell(precise(look.high)));

/** How far judges agree, which grades they gave, and where they differ. */
function showGrades(quality) {
  byId("s-agreement").textContent = [...new Set([quality.finding, quality.split])].filter(Boolean).join(" ");
  redraw("agreement", quality.rows, (rows, width) =>
    rows.length
      ? dots(
          width,
          rows.map((row) => ({ name: row.group, value: row.alpha, low: row.alpha_low, high: row.alpha_high, text: `${row.alpha === null ? "-" : row.alpha.toFixed(2)} (${between(row.alpha_low, row.alpha_high)})` })),
          { from: rows.some((row) => row.alpha_low < 0 || row.alpha < 0) ? -1 : 0, to: 1, title: quality.finding },
        )
      : make("span"),
  );
  byId("s-labels").textContent = quality.distribution.map((row) => `${row.group}: ${row.n}`).join(", ") || "none yet";
  redraw("labels", quality.distribution, (rows, width) => bars(width, rows, setup.scale.map((level) => level.name)));
  byId("s-differ").textContent = quality.disagreements.length ? "the widest first" : "none yet";
  redraw("differ", quality.disagreements, (rows) => (rows.length ? table(["*Query", "*Document", "*Said", "Apart|in grades"], rows.map(differRow)) : make("span")));
}

async function refresh() {
  try {
    const [progress, quality, judges, live] = await Promise.all([ask("/api/progress"), ask("/api/agreement"), ask("/api/judges"), setup.live ? ask("/api/live") : null]);
    banner("figures", "");
    if (live) showLive(live);
    byId("finding").textContent = progress.finding;
    byId("s-progress").textContent = when(progress);
    redraw("progress", progress, (data, width) => course(width, data));
    byId("t-left").hidden = !progress.left.length;
    redraw("left", progress.left, (rows) => {
      const lines = document.createDocumentFragment();
      lines.append(...rows.map(leftRow));
      return lines;
    });
    redraw("kinds", progress.kinds, (kinds, width) => meters(width, kinds.map((kind) => ({ ...kind, name: setup.kinds[kind.kind] || kind.kind }))));
    if (setup.grades) showGrades(quality);
    byId("s-judges").textContent = setup.grades ? judges.finding : "";
    redraw("judges", judges.rows, (rows) => table(JUDGE_HEADS, suspectsFirst(rows).map(judgeRow)));
    if (setup.sides) {
      byId("s-pairs").textContent = [judges.pairs.finding, judges.pairs.agreement].filter(Boolean).join(" ") || (judges.pairs.rows.length ? "all answers were taken back" : "none yet");
      redraw("pairs", judges.pairs.rows, (rows) => (rows.length ? table(PAIR_HEADS, rows.map(pairRow)) : make("span")));
    }
    byId("updated").textContent = `as of ${new Date().toLocaleTimeString()}`;
  } catch (error) {
    banner("figures", error.status === 401 || error.status === 403 ? "You are signed out: load the page again." : "No connection: the figures are not up to date.");
  }
}

/** Copy a text that is shown. Browsers have a clipboard for pages only over https or on this machine. */
async function copied(shown, text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    window.getSelection().selectAllChildren(shown);
    return document.execCommand("copy");
  }
}

/** A personal link, where the lead can copy it. */
function showLink(made) {
  const link = new URL(made.link, window.location.href).href;
  byId("invite-hint").textContent = "";
  const shown = make("span", { class: "link-out", "data-link": link }, link);
  const button = make("button", { type: "button", class: "quiet", "aria-label": `Copy the link of ${made.name}` }, "Copy");
  button.addEventListener("click", async () => {
    button.textContent = (await copied(shown, link)) ? "Copied" : "Press Ctrl+C";
  });
  byId("links").prepend(make("p", {}, `${made.name}: `, shown, " ", button, made.note ? make("span", { class: "under soft" }, made.note) : null));
  byId("links").scrollIntoView({ block: "nearest" });
}

byId("invite").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = new FormData(event.target);
  try {
    showLink(await tell("/api/invites", { name: form.get("name").trim() || null, group: form.get("group") }));
    event.target.reset();
  } catch (error) {
    // Beside the form: the top of the page may be out of sight.
    byId("invite-hint").textContent = `No link was made: ${error.message}.`;
  }
});

byId("coding")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = new FormData(event.target);
  try {
    const made = await tell("/api/codes", { group: form.get("group"), labels: Number(form.get("labels")) || 1 });
    byId("coding-hint").textContent = made.new ? `${made.new} reasons are asked about now.` : "There is no reason that is not asked about already.";
    await refresh();
  } catch (error) {
    byId("coding-hint").textContent = `Not done: ${error.message}.`;
  }
});

// Before this script is there, the form would only load the page anew.
byId("invite").querySelector("button").disabled = false;

async function live() {
  if (!document.hidden) await refresh();
  setTimeout(live, EVERY);
}
live();
