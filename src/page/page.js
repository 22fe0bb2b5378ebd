import { addPoint, isPlain, parseHistory, updateGraph } from "./day.js";
import { formatDuration, formatValue, listValues, shorten } from "./values.js";

const PERIOD_MS = 5000;
const PAUSE_MS = 60_000; // of the history: for an answer, and for the next request
const NEXT_MS = 303_000; // of the history, and what it takes to be there
const MAX_VALUES = 2000;
const PROBLEMS = {
  401: "The password is missing or wrong: load this page again",
  502: "nginx answers, but the service is down",
};
const { compare } = new Intl.Collator("en", { numeric: true });
const find = (selector) => document.querySelector(selector);
const [problem, main, note] = ["p", "main", "main + p"].map(find);

let sensors = []; // what the last answer has of each, and its values by their labels
let failure = ""; // why there is no newer answer
let now = 0; // by the board's clock, at the last answer
let count = 0; // of values
let history = parseHistory("");
let historyDue = 0; // by the board's clock
let isRefused = false;
let turn = 0; // of asking: an answer to an earlier one is ignored
let timer = 0;

/** Asks the board, and uses its answer. Returns why there is none, or an empty text. */
async function ask(path, use, timeoutMs) {
  const url = location.origin + location.pathname + path; // without a password
  const controller = new AbortController();
  setTimeout(() => controller.abort(), timeoutMs);
  const response = await fetch(url, { signal: controller.signal })
    .catch(() => undefined);
  const text = await response?.text().catch(() => undefined);
  if (text === undefined) return `${url} does not answer: is it up?`;
  const { ok, status } = response;
  isRefused ||= status === 401; // another request would ask for the password, each time
  if (status in PROBLEMS) return PROBLEMS[status];
  try {
    if (!ok) return `No current reading: ${shorten(JSON.parse(text).detail)}`;
    use(text);
    return "";
  } catch {
    return `${url} answers with status ${status} and no reading`;
  }
}

/** Creates an element that contains texts and other elements. */
function create(name, ...content) {
  const element = document.createElement(name);
  element.append(...content);
  return element;
}

/** Makes a node like another one. Changes only what differs: what is selected stays. */
function morph(node, wanted) {
  for (const key of ["nodeValue", "className"]) {
    if (node[key] !== wanted[key]) node[key] = wanted[key];
  }
  const flex = wanted.style?.flex;
  if (node.style?.flex !== flex) node.style.flex = flex;
  if (node.html !== wanted.html) node.innerHTML = node.html = wanted.html;
  if (wanted.html) return;
  const children = [...wanted.childNodes];
  children.forEach((child, index) => {
    let there = node.childNodes[index];
    if (there?.nodeName !== child.nodeName) {
      there = node.insertBefore(child.cloneNode(), there ?? null);
    }
    morph(there, child);
  });
  while (node.childNodes.length > children.length) node.lastChild.remove();
}

/** Keeps an answer, or what the last one has and the history brings. */
function keep(answer) {
  const [{ time, age }] = answer;
  const before = now;
  now = Date.parse(time) + 1000 * age;
  if (now < before || now > before + PAUSE_MS) historyDue = now; // the clock was set
  const old = new Map(sensors.map(({ name, values }) => [name, values]));
  count = 0;
  sensors = answer.slice(0, MAX_VALUES).map((sensor) => {
    const values = new Map();
    const seen = old.get(sensor.name) ?? new Map();
    const drawn = [...seen].filter(([, { points }]) => points.length > 0);
    const known = new Map([...history.days, ...drawn]);
    for (const value of listValues(sensor, known, MAX_VALUES)) {
      if (++count > MAX_VALUES) break;
      const points = addPoint(seen.get(value.label), value.number, now);
      values.set(value.label, { ...value, ...points });
    }
    return { ...sensor, values };
  }).sort((a, b) => compare(a.name ?? "", b.name ?? ""));
}

/** Draws a sensor. */
function drawSensor({ name = "", age, reading, values }) {
  const isSilent = reading === undefined;
  const duration = formatDuration(age);
  const state = isSilent ? `silent for ${duration}` : `${duration} old`;
  const small = create("small", failure ? "age unknown" : state);
  const heading = create("h2", create("bdi", shorten(name)), " ", small);
  if (isSilent && !failure) heading.className = "problem";
  const [figures, line] = [create("div"), create("aside")];
  for (const value of values.values()) {
    const day = history.days.get(value.label) ?? { spans: [], decimals: 0 };
    const isInLine = values.size > 1 && isPlain(value, day.spans);
    (isInLine ? line : figures).append(drawValue(value, day));
  }
  const width = figures.children.length || 1;
  const section = create("section", heading, figures, line);
  section.style.flex = `${width} 1 ${17 * width}rem`;
  return section;
}

/** Draws a value. */
function drawValue({ name, unit, value, points, ...its }, day) {
  const decimals = Math.max(its.decimals, day.decimals);
  const isMissing = value === undefined;
  const text = failure || isMissing ? "–" : formatValue(value, decimals);
  const number = create("b", text);
  if (isMissing && !failure) number.className = "problem";
  const label = create("span", shorten(name));
  const symbol = create("small", unit);
  const caption = create("figcaption", label, " ", number, " ", symbol);
  const { html, range } = updateGraph(day, points, now, history.end, decimals);
  if (!html) return create("figure", caption);
  const graph = create("div");
  graph.html = html;
  const hasDay = day.spans.length > 0 || history.days.size === 0; // as after a start
  const note = create("p", hasDay ? range : "no history");
  return create("figure", caption, graph, note);
}

/** Shows what is known. */
function show() {
  morph(main, create("main", ...sensors.map(drawSensor)));
  const limit = count > MAX_VALUES ? `Only ${MAX_VALUES} values are shown` : "";
  problem.textContent = failure || limit;
  const [silent, name, value] = ["h2.problem", "bdi", "figcaption"]
    .map((selector) => find(selector)?.textContent);
  const news = failure ? "No reading" : silent ?? `${name} ${value}`;
  document.title = `${news} – ${location.host}`;
}

/** Asks for the last day. Whatever comes of it, the readings stay. */
async function loadHistory() {
  historyDue = Infinity;
  const use = (csv) => history = parseHistory(csv);
  const reason = await ask("history", use, PAUSE_MS);
  historyDue = Math.max(reason ? 0 : history.end + NEXT_MS, now + PAUSE_MS);
  note.textContent = reason && `The last day is missing: ${reason}`;
  if (isRefused) [failure, turn] = [reason, turn + 1]; // no answer under way counts
  keep(sensors);
  if (!main.hidden) show();
}

/** Asks for the readings, and again in time, until the page is hidden. */
async function poll() {
  if (isRefused) return;
  const own = ++turn;
  const use = (json) => keep(JSON.parse(json));
  const reason = await ask("sensors", use, PERIOD_MS);
  if (own !== turn) return;
  failure = reason;
  show();
  main.hidden = false;
  timer = setTimeout(poll, PERIOD_MS);
  if (!failure && now >= historyDue) loadHistory();
}

/** A hidden page asks nothing, and shows no number: a phone may freeze it at any time. */
function follow() {
  clearTimeout(timer);
  turn++;
  main.hidden = true;
  document.title = location.host;
  if (!document.hidden) poll();
}

find("h1").textContent = location.host;
problem.textContent = "";
document.addEventListener("visibilitychange", follow);
addEventListener("pageshow", follow);
