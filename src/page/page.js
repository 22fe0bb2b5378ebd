import { addPoint, isPlain, parseHistory } from "./day.js";
import { readGraph, updateGraph } from "./day.js";
import { describeClock, formatDuration, formatValue } from "./values.js";
import { listValues, nameBoard, shorten } from "./values.js";

const PERIOD_MS = 5000;
const HISTORY_TIMEOUT_MS = 60_000;
const HISTORY_PAUSE_MS = 60_000;
const NEXT_HISTORY_MS = 303_000; // until the next slot has ended, and is in an answer
const MAX_CLOCK_STEP_MS = 60_000; // between two answers, unless the clock was set
const MAX_VALUES = 2000;
const PROBLEMS = {
  401: "The password is missing or wrong: load this page again",
  502: "nginx answers, but the service is down",
};
const { compare } = new Intl.Collator("en", { numeric: true });
const find = (
  selector,
) => /** @type {HTMLElement} */ (document.querySelector(selector));
const problem = find("p");
const main = find("main");
const note = find("main + p");

/** What is known: of each sensor its last answer, and its values by label. Times are the board's. */
const board = {
  sensors: /** @type {any[]} */ ([]),
  now: 0, // at the last answer
  history: parseHistory(""),
  historyDue: 0,
};

/** The requests for the readings, of which only the answer to the last one counts. */
const polling = { failure: "", isRefused: false, turn: 0, timer: 0 };

/** On which graph the pointer is, and where: from 0 at its left to 1 at its right. */
const pointer = { element: /** @type {any} */ (undefined), place: 0 };

/** Asks the board, and uses its answer. Returns why there is none, or an empty text. */
async function ask(path, use, timeoutMs) {
  const url = location.origin + location.pathname + path; // without a password
  const controller = new AbortController();
  setTimeout(() => controller.abort(), timeoutMs);
  const response = await fetch(url, { signal: controller.signal })
    .catch(() => undefined);
  const text = await response?.text().catch(() => undefined);
  if (text === undefined) return `${url} does not answer: is it up?`;
  const { ok, status } = /** @type {Response} */ (response);
  polling.isRefused ||= status === 401; // another request would ask for the password, each time
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
  const { html = "", labels = "" } = wanted.graph ?? {};
  if ((node.graph?.html ?? "") !== html) {
    node.innerHTML = html && `${html}<p aria-hidden="true">${labels}</p>`;
  }
  node.graph = wanted.graph;
  if (html) return;
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

/** Reads the board's clock from an answer. Once it was set, the history has other times. */
function readClock({ time, age }) {
  const now = +new Date(Date.parse(time) + 1000 * age);
  if (Number.isNaN(now)) return; // a proxy may have changed the answer
  const isSet = now < board.now || now > board.now + MAX_CLOCK_STEP_MS;
  if (isSet) board.historyDue = now;
  board.now = now;
}

/** Returns sensors with their values, to which the history and earlier points belong. */
function joinValues(sensors) {
  const old = new Map(board.sensors.map(({ name, values }) => [name, values]));
  let room = MAX_VALUES;
  return sensors.slice(0, MAX_VALUES).map((sensor) => {
    const values = new Map();
    const seen = old.get(sensor.name) ?? new Map();
    const drawn = [...seen].filter(([, { points }]) => points.length > 0);
    const known = new Map([...board.history.days, ...drawn]);
    for (const value of listValues(sensor, known, MAX_VALUES)) {
      if (--room < 0) break;
      const before = seen.get(value.label);
      const points = addPoint(before, value.number, board.now);
      const kind = value.value === undefined && before?.kind || value.kind;
      values.set(value.label, { ...points, ...value, kind });
    }
    return { ...sensor, values, isCut: room < 0 };
  }).sort((a, b) => compare(a.name ?? "", b.name ?? ""));
}

/** Draws a sensor. */
function drawSensor({ name = "", age, reading, values }) {
  const { failure } = polling;
  const isSilent = reading === undefined;
  const duration = formatDuration(age);
  const state = isSilent ? `silent for ${duration}` : `${duration} old`;
  const isUnknown = failure || duration === "unknown";
  const small = create("small", isUnknown ? "age unknown" : state);
  const heading = create("h2", create("bdi", shorten(name)), " ", small);
  if (isSilent && !failure) heading.className = "problem";
  const figures = create("div");
  const line = create("aside");
  for (const value of values.values()) {
    const day = board.history.days.get(value.label) ??
      { spans: [], decimals: 0 };
    const isInLine = values.size > 1 && isPlain(value, day.spans);
    (isInLine ? line : figures).append(drawValue(value, day));
  }
  const width = figures.children.length || 1;
  const section = create("section", heading, figures, line);
  section.style.flex = `${width} 1 ${17 * width}rem`;
  return section;
}

/** Draws a value. */
function drawValue({ name, unit, value, points, kind, ...its }, day) {
  const decimals = Math.max(its.decimals, day.decimals);
  const isMissing = value === undefined;
  const isUnknown = polling.failure || isMissing;
  const number = create("b", isUnknown ? "–" : formatValue(value, decimals));
  if (isMissing && !polling.failure) number.className = "problem";
  const label = create("span", shorten(name));
  const symbol = create("small", unit);
  const caption = create("figcaption", label, " ", number, " ", symbol);
  const { now, history } = board;
  const options = { now, slotsEnd: history.end, decimals, kind };
  const graph = updateGraph(day, points, options);
  if (!graph) return create("figure", caption);
  const hasDay = day.spans.length > 0 || history.days.size === 0; // as after a start
  const summary = create("p", hasDay ? graph.summary : "no history");
  const place = Object.assign(create("div"), { graph });
  return create("figure", caption, place, summary);
}

/** Shows what is known. */
function show() {
  const { sensors, now } = board;
  const { failure } = polling;
  morph(main, create("main", ...sensors.map(drawSensor)));
  mark();
  const isCut = sensors.some((it) => it.isCut);
  const limit = isCut ? `Only ${MAX_VALUES} values are shown` : "";
  problem.textContent = failure || limit || describeClock(now, Date.now());
  const silent = find("h2.problem");
  const news = failure ? "No reading" : silent?.textContent ??
    `${find("bdi")?.textContent} ${find("figcaption")?.textContent}`;
  document.title = `${news} – ${location.host}`;
}

/** Marks where the pointer is and, in place of the times, tells what is there. */
function mark() {
  const { element, place } = pointer;
  if (!element?.graph) return;
  element.firstChild.style.setProperty("--place", `${100 * place}%`);
  element.lastChild.textContent = readGraph(element.graph, place);
}

/** Follows the pointer on a graph until it leaves it. */
function follow({ type, target, clientX }) {
  const { element } = pointer;
  if (element?.graph) {
    element.firstChild.style.removeProperty("--place");
    element.lastChild.innerHTML = element.graph.labels;
  }
  const graph = type === "pointerout" ? null : target.closest("svg");
  pointer.element = graph?.parentNode;
  if (!graph) return;
  const { left, width } = graph.getBoundingClientRect();
  pointer.place = Math.min(Math.max((clientX - left) / width, 0), 1);
  mark();
}

/** Asks for the last day. Whatever comes of it, the readings stay. */
async function loadHistory() {
  board.historyDue = Infinity;
  const use = (csv) => board.history = parseHistory(csv);
  const reason = await ask("history", use, HISTORY_TIMEOUT_MS);
  const next = reason ? 0 : board.history.end + NEXT_HISTORY_MS;
  board.historyDue = Math.max(next, board.now + HISTORY_PAUSE_MS);
  note.textContent = reason && `The last day is missing: ${reason}`;
  if (polling.isRefused) {
    polling.failure = reason;
    polling.turn++; // no answer under way counts
  }
  board.sensors = joinValues(board.sensors);
  if (!main.hidden) show();
}

/** Asks for the readings, and again in time, until the page is hidden. */
async function poll() {
  clearTimeout(polling.timer);
  const turn = ++polling.turn;
  if (polling.isRefused || document.hidden) return;
  const use = (json) => {
    const sensors = JSON.parse(json);
    if (turn !== polling.turn) return;
    readClock(sensors[0]);
    board.sensors = joinValues(sensors);
  };
  const reason = await ask("sensors", use, PERIOD_MS);
  if (turn !== polling.turn) return;
  polling.failure = reason;
  show();
  main.hidden = false;
  polling.timer = setTimeout(poll, PERIOD_MS);
  if (!reason && board.now >= board.historyDue) loadHistory();
}

/** A hidden page asks nothing, and shows no number: a phone may freeze it at any time. */
function restart() {
  main.hidden = true;
  document.title = location.host;
  poll();
}

// A copy of the page in a file keeps the text that says how it is opened
if (location.protocol !== "file:") {
  find("h1").textContent = nameBoard(location.hostname);
  problem.textContent = "";
  document.addEventListener("visibilitychange", restart);
  addEventListener("pageshow", restart);
  addEventListener("online", poll);
  main.onpointerover = main.onpointermove = follow;
  main.onpointerdown = main.onpointerout = follow;
}
