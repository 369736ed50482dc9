// Small charts, drawn by hand in SVG: direct labels, intervals always shown, colours from the style sheet.

const SPACE = "http://www.w3.org/2000/svg";

function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A picture with a title that a screen reader reads. */
function picture(width, height, title, ...parts) {
  return draw("svg", { class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title }, ...parts);
}

export const moment = (time) => new Date(time * 1000).toLocaleString([], { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });

/** Answers over time, the number expected in all, and the way there with its interval if the pace goes on. */
export function course(width, { history, expected, wanted, now, forecast }) {
  const [height, left, right, top, bottom] = [210, 34, 104, 14, 26];
  const goal = Math.round(expected);
  const start = history.length ? history[0][0] : now;
  const last = history.length ? history[history.length - 1][1] : 0;
  const seen = Math.max(now - start, 60);
  const far = forecast.high ?? (forecast.seconds ? 2 * forecast.seconds : 0);
  const end = start + seen + Math.min(far, 3 * seen);
  const most = Math.max(goal, last, 1);
  const x = (time) => left + ((Math.min(time, end) - start) / (end - start)) * (width - left - right);
  const y = (n) => height - bottom - (n / most) * (height - top - bottom);
  const points = [...history, [now, last]].map(([time, n]) => `${x(time).toFixed(1)},${y(n).toFixed(1)}`);
  const parts = [
    draw("line", { class: "axis", x1: left, x2: width - right, y1: y(0), y2: y(0) }),
    draw("line", { class: "goal", x1: left, x2: width - right, y1: y(goal), y2: y(goal) }),
    draw("text", { x: width - right + 6, y: y(goal) + 4 }, last >= goal ? "" : goal === wanted ? `${goal} wanted` : `about ${goal} in all`),
    draw("text", { x: left - 6, y: y(0) + 4, "text-anchor": "end" }, "0"),
    draw("text", { x: left, y: height - 8 }, moment(start)),
  ];
  if (history.length) parts.push(draw("polyline", { class: "line", points: points.join(" ") }));
  if (forecast.seconds && goal > last) {
    const shown = Math.min(forecast.seconds, end - now);
    const reached = last + (goal - last) * (shown / forecast.seconds);
    parts.push(draw("line", { class: "future", x1: x(now), y1: y(last), x2: x(now + shown), y2: y(reached) }));
    if (now + (forecast.low || 0) < end) parts.push(draw("line", { class: "until", x1: x(now + (forecast.low || 0)), x2: x(now + far), y1: y(goal), y2: y(goal) }));
    if (width > 420) parts.push(draw("text", { x: width - right, y: height - 8, "text-anchor": "end" }, moment(end)));
  }
  parts.push(draw("circle", { class: "dot", cx: x(now), cy: y(last), r: 4 }));
  const low = y(last) > height - bottom - 24;
  parts.push(draw("text", { class: "strong", x: x(now) + 8, y: y(last) + (low ? -8 : 16) }, String(last)));
  return picture(width, height, `${last} of ${goal} answers over time`, ...parts);
}

/** Estimates as dots on their intervals, with the number beside them. */
export function dots(width, rows, { from = 0, to = 1, title }) {
  const longest = Math.max(...rows.map((row) => row.text.length));
  const [line, left, right] = [34, Math.min(130, width / 4), 16 + 6.5 * longest]; // its figures stand beside each dot's row
  const height = rows.length * line + 26;
  const x = (value) => left + ((Math.min(Math.max(value, from), to) - from) / (to - from)) * (width - left - right);
  const parts = [];
  const shares = width < 420 ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
  for (const mark of shares.map((share) => from + share * (to - from))) {
    parts.push(draw("line", { class: mark === 0 ? "zero" : "axis", x1: x(mark), x2: x(mark), y1: 0, y2: height - 22 }));
    parts.push(draw("text", { x: x(mark), y: height - 6, "text-anchor": "middle" }, mark.toFixed(2).replace(/\.?0+$/, "")));
  }
  rows.forEach((row, place) => {
    const y = place * line + 18;
    parts.push(draw("text", { class: "strong", x: left - 10, y: y + 4, "text-anchor": "end" }, row.name));
    if (row.low !== null && row.high !== null) parts.push(draw("line", { class: "interval", x1: x(row.low), x2: x(row.high), y1: y, y2: y }));
    if (row.value !== null) parts.push(draw("circle", { class: "dot", cx: x(row.value), cy: y, r: 5 }));
    parts.push(draw("text", { x: width - right + 10, y: y + 4 }, row.text));
  });
  return picture(width, height, title, ...parts);
}

/** Shares of the grades in one bar per group, the lowest grade first, in one hue from light to dark. */
export function bars(width, rows, names) {
  const [line, left, right] = [40, Math.min(130, width / 4), 4];
  const parts = [];
  const shade = (place) => `g${names.length > 1 ? Math.round((place / (names.length - 1)) * 4) : 4}`;
  rows.forEach((row, at) => {
    const y = at * line + 4;
    const all = Math.max(row.counts.reduce((sum, n) => sum + n, 0) + row.cant_tell, 1);
    parts.push(draw("text", { class: "strong", x: left - 10, y: y + 19, "text-anchor": "end" }, row.group));
    let x = left;
    [...row.counts, row.cant_tell].forEach((n, place) => {
      const wide = (n / all) * (width - left - right);
      if (!n) return;
      const silent = place === row.counts.length;
      const name = silent ? "can't tell" : names[place];
      parts.push(draw("rect", { class: silent ? "none" : shade(place), x, y, width: Math.max(wide - 1, 1), height: 28 }, draw("title", {}, `${name}: ${n}`)));
      x += wide;
    });
  });
  // The names of the grades below, in as many lines as they need.
  let [x, y] = [left, rows.length * line + 10];
  names.forEach((name, place) => {
    const wide = 15 + name.length * 7 + 14;
    if (x + wide > width && x > left) [x, y] = [left, y + 18];
    parts.push(draw("rect", { class: shade(place), x, y, width: 10, height: 10 }));
    parts.push(draw("text", { x: x + 15, y: y + 9 }, name));
    x += wide;
  });
  const height = y + 16;
  return picture(width, height, "How often each grade was given", ...parts);
}

/** Done of wanted, one line per kind of task. */
export function meters(width, rows) {
  const line = 44;
  const parts = [];
  rows.forEach((row, place) => {
    const y = place * line;
    const share = row.wanted ? Math.min(row.answers / row.wanted, 1) : 0;
    parts.push(draw("text", { class: "strong", x: 0, y: y + 14 }, row.name));
    parts.push(draw("text", { x: width, y: y + 14, "text-anchor": "end" }, `${row.answers} of ${row.wanted}`));
    parts.push(draw("rect", { class: "g0", x: 0, y: y + 20, width, height: 8, rx: 4 }));
    if (share) parts.push(draw("rect", { class: "g3", x: 0, y: y + 20, width: Math.max(share * width, 4), height: 8, rx: 4 }));
  });
  return picture(width, rows.length * line, "Answers by kind of task", ...parts);
}

/** A difference against the gold labels it rests on, so far and as it would go on: clear when the band leaves 0. */
export function funnel(width, { looks, ahead, systems, drawn, margin, state }) {
  const [height, left, right, top, bottom] = [230, 52, 44, 16, 30];
  const last = looks[looks.length - 1];
  // The first intervals are too wide to be drawn whole: what counts is how the later ones lie to 0.
  const ends = looks.slice(Math.floor(looks.length / 3)).flatMap((look) => [Math.abs(look.low), Math.abs(look.high)]);
  const most = Math.max(...ends, 1.3 * (margin || 0)) || 1;
  const x = (labels) => left + (labels / drawn) * (width - left - right);
  const y = (value) => top + ((most - Math.min(Math.max(value, -most), most)) / (2 * most)) * (height - top - bottom);
  const at = (look, end) => `${x(look.labels).toFixed(1)},${y(look[end]).toFixed(1)}`;
  const said = (value) => `${value > 0 ? "+" : ""}${value.toFixed(most < 1 ? 3 : 2)}`;
  const parts = [
    draw("polygon", { class: "band", points: [...looks.map((look) => at(look, "high")), ...[...looks].reverse().map((look) => at(look, "low"))].join(" ") }),
    draw("line", { class: "zero", x1: left, x2: width - right, y1: y(0), y2: y(0) }),
    draw("text", { x: left - 6, y: y(0) + 4, "text-anchor": "end" }, "0"),
    draw("text", { x: left, y: top - 4 }, `${systems[1]} better`),
    draw("text", { x: left, y: height - bottom + 6 }, `${systems[0]} better`),
    draw("line", { class: "goal", x1: x(drawn), x2: x(drawn), y1: top, y2: height - bottom }),
    draw("text", { x: x(drawn), y: height - 8, "text-anchor": "middle" }, `${drawn} drawn`),
  ];
  for (const edge of margin ? [-margin, margin] : []) parts.push(draw("line", { class: "goal", x1: left, x2: width - right, y1: y(edge), y2: y(edge) }));
  for (const value of [most / 2, most]) {
    for (const side of [value, -value]) parts.push(draw("text", { x: left - 6, y: y(side) + 4, "text-anchor": "end" }, `${side > 0 ? "+" : "-"}${value.toPrecision(2)}`));
  }
  if (looks.length > 1) parts.push(draw("polyline", { class: "line", points: looks.map((look) => at(look, "difference")).join(" ") }));
  for (const end of ahead.length && state === "go on" ? ["low", "high"] : []) parts.push(draw("polyline", { class: "future", points: [last, ...ahead].map((look) => at(look, end)).join(" ") }));
  parts.push(draw("line", { class: state === "stop" ? "until" : "interval", x1: x(last.labels), x2: x(last.labels), y1: y(last.low), y2: y(last.high) }));
  parts.push(draw("circle", { class: "dot", cx: x(last.labels), cy: y(last.difference), r: 5 }));
  const beside = x(last.labels) > width - right - 60;
  parts.push(draw("text", { class: "strong", x: x(last.labels) + (beside ? -10 : 10), y: y(last.difference) - 8, "text-anchor": beside ? "end" : "start" }, said(last.difference)));
  if (x(last.labels) < x(drawn) - 90) parts.push(draw("text", { x: x(last.labels), y: height - 8, "text-anchor": "middle" }, `${last.labels} labels`));
  const title = `The difference after ${last.labels} of ${drawn} gold labels is ${said(last.difference)}, interval ${said(last.low)} to ${said(last.high)}`;
  return picture(width, height, title, ...parts);
}
