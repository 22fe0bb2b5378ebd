import { addPoint, isPlain, parseHistory } from "./day.js";
import { readGraph, updateGraph } from "./day.js";
import { describeClock, formatDuration, formatValue } from "./values.js";
import { listValues, parseSensors, shorten } from "./values.js";

const PERIOD_MS = 5000;
const MIN_PAUSE_MS = 1000; // of polling, after a slow answer
const PATIENCE_MS = 10_000; // until what was last answered is not current any more
const FIRST_HISTORY_MS = 1000; // for which the first cards wait
const HISTORY_TIMEOUT_MS = 60_000;
const HISTORY_PAUSE_MS = 60_000;
const NEXT_HISTORY_MS = 303_000; // until the next slot has ended, and is in an answer
const MAX_CLOCK_STEP_MS = 60_000; // between two answers, unless the clock was set
const MAX_VALUES = 2000;
const PLACES = 288; // to which a key moves the mark: slots in a day
const PROBLEMS = {
  401: "The password is missing or wrong: load this page again",
  502: "nginx answers, but the service is down",
};
const ASKING = "Asking the board…";
const BASE = location.origin + location.pathname; // without a password
const NO_ANSWER = `${BASE} does not answer: is it up?`;
const { compare } = new Intl.Collator("en", { numeric: true });
const find = (
  selector,
) => /** @type {HTMLElement} */ (document.querySelector(selector));
const status = find("[role=status]");
const main = find("main");
const note = find("main + p");

/** @typedef {ReturnType<typeof parseHistory>} History */

/**
 * What is known: of each sensor its last answer, and its values by label. Times are the board's.
 *
 * @type {{ sensors: any[], now: number, history: History, historyDue: number }}
 */
const board = { sensors: [], now: 0, history: parseHistory(""), historyDue: 0 };

/**
 * The requests for the readings, of which only the answer to the last one counts. The timer
 * `expiry`, unless it is 0, ends what is current.
 *
 * @type {Record<"turn" | "timer" | "expiry", number> & { failure: string, isRefused: boolean }}
 */
const polling = { failure: "", isRefused: false, turn: 0, timer: 0, expiry: 0 };

/** The graph with the mark, whose `place` is from 0 at its left to 1 at its right. */
let marked = /** @type {any} */ (undefined);

/** Asks the board, and uses its answer. Returns why there is none, or an empty text. */
async function ask(path, use, timeoutMs) {
  const url = BASE + path;
  const controller = new AbortController();
  setTimeout(() => controller.abort(), timeoutMs);
  const response = await fetch(url, { signal: controller.signal })
    .catch(() => undefined);
  const text = await response?.text().catch(() => undefined);
  if (text === undefined) return NO_ANSWER;
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

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Creates an element that contains texts and other elements. */
function create(name, ...content) {
  const element = document.createElement(name);
  element.append(...content);
  return element;
}

const identify = ({ nodeName, id = "" }) => nodeName + id;

/**
 * Makes a node like another one. Changes only what differs: what is selected, marked or in focus
 * stays. Nodes with an id are told apart by it.
 */
function morph(node, wanted) {
  for (const key of ["nodeValue", "className", "href"]) {
    if (node[key] !== wanted[key]) node[key] = wanted[key];
  }
  const { html } = wanted.graph ?? {};
  if (html && node.graph?.html !== html) node.innerHTML = html;
  node.graph = wanted.graph;
  if (html) return;
  const children = [...wanted.childNodes];
  const kept = new Set(children.map(identify));
  const gone = [...node.childNodes].filter((child) =>
    !kept.has(identify(child))
  );
  gone.forEach((child) => child.remove());
  children.forEach((child, index) => {
    let same = node.childNodes[index] ?? null;
    if (!same || identify(same) !== identify(child)) {
      same = node.insertBefore(child.cloneNode(), same);
    }
    morph(same, child);
  });
  while (node.childNodes.length > children.length) node.lastChild.remove();
}

/** Reads the board's clock from an answer. Once it was set, the history has other times. */
function readClock({ time, age }) {
  const now = +new Date(Date.parse(time) + 1000 * age);
  if (Number.isNaN(now)) return; // a proxy may have changed the answer
  const isSet = now < board.now || now > board.now + MAX_CLOCK_STEP_MS;
  if (isSet && board.now > 0) board.historyDue = now;
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
    const id = `sensor ${sensor.name ?? ""}`;
    return { ...sensor, id, values, isCut: room < 0 };
  }).sort((a, b) => compare(a.name ?? "", b.name ?? ""));
}

const isSilent = ({ reading }) => reading === undefined;

/** Draws a sensor, as a card. */
function drawSensor(sensor) {
  const { name, age, values, id } = sensor;
  const { failure } = polling;
  const duration = formatDuration(age);
  const state = isSilent(sensor) ? `silent for ${duration}` : `${duration} old`;
  const isUnknown = failure || duration === "unknown";
  const small = create("small", isUnknown ? "age unknown" : state);
  const title = name === undefined ? "Reading" : create("bdi", shorten(name));
  const heading = create("h2", title, " ", small);
  if (isSilent(sensor) && !failure) heading.className = "problem";
  const figures = create("div");
  const line = create("aside");
  for (const value of values.values()) {
    const day = board.history.days.get(value.label) ??
      { spans: [], decimals: 0 };
    const isInLine = values.size > 1 && isPlain(value, day.spans);
    const figure = drawValue(name ?? "Reading", value, day, isInLine);
    (isInLine ? line : figures).append(figure);
  }
  const className = figures.children.length > 2 ? "wide" : "";
  const section = create("section", heading, figures, line);
  return Object.assign(section, { id, className });
}

/** Draws a value, with a box for its graph unless it is in a line. */
function drawValue(sensorName, shown, day, isInLine) {
  const { label, name, unit, value, number, points, kind } = shown;
  const decimals = Math.max(shown.decimals, day.decimals);
  const isMissing = value === undefined;
  const isUnknown = polling.failure || isMissing;
  const text = create("b", isUnknown ? "–" : formatValue(value, decimals));
  if (isMissing && !polling.failure) text.className = "problem";
  const caption = create("figcaption", create("span", shorten(name)), " ");
  caption.append(create("span", text, " ", create("small", unit)));
  const drawn = Object.assign(create("figure", caption), { id: label });
  const isText = points.length + day.spans.length === 0 &&
    !Number.isFinite(number);
  if (isInLine || isText) return drawn;
  const { now, history } = board;
  const style = { decimals, kind, unit };
  const graph = updateGraph(day, points, now, history.end, style);
  const id = graph ? `graph ${label}` : "";
  const box = Object.assign(create("div"), { graph, id });
  Object.entries({
    role: "slider",
    tabindex: "0",
    "aria-label": `${sensorName} ${name}`,
    "aria-valuenow": "100",
    "aria-valuetext": "the last day",
  }).forEach(([key, value]) => box.setAttribute(key, value));
  const hasDay = day.spans.length > 0 || history.days.size === 0; // as after a start
  const since = isUnknown || !graph?.since ? "" : `, ${graph.since}`;
  const known = hasDay ? graph?.summary + since : "no history";
  const summary = create("p", graph ? known : "The graph begins in a minute");
  if (graph && kind !== "boolean") summary.className = "spoken"; // the graph shows it
  drawn.append(box, summary);
  return drawn;
}

/** Tells at a glance whether all is current, with links to the cards of what is not. */
function drawStatus() {
  const { sensors, now } = board;
  const { failure } = polling;
  const dead = sensors.filter((sensor) => {
    const values = [...sensor.values.values()];
    return isSilent(sensor) || values.some(({ value }) => value === undefined);
  });
  const links = dead.flatMap(({ name, id }) => {
    const link = create("a", create("bdi", shorten(name ?? "Reading")));
    link.href = `#${encodeURIComponent(id)}`;
    return [", ", link];
  });
  const lack = dead.every(isSilent) ? "" : "missing a value";
  const silence = dead.some(isSilent) ? "silent" : "";
  const state = [silence, lack].filter(Boolean).join(" or ");
  const verb = dead.length === 1 ? "is" : "are";
  const count =
    `${dead.length} of ${sensors.length} sensors ${verb} ${state}: `;
  const all = sensors.length === 1
    ? "1 sensor,"
    : `${sensors.length} sensors, all`;
  const isCut = sensors.some((sensor) => sensor.isCut);
  const limit = isCut ? `Only ${MAX_VALUES} values are shown` : "";
  const more = failure ? "" : limit || describeClock(now, Date.now());
  const isDead = failure || dead.length > 0;
  const problem = failure ? [failure] : [count, ...links.slice(1)];
  const text = isDead ? problem : [`${all} current`];
  const line = create("p", ...text, more && `. ${more}`);
  return Object.assign(line, { className: isDead ? "problem" : "" });
}

/** Shows what is known. */
function show() {
  morph(main, create("main", ...board.sensors.map(drawSensor)));
  mark(marked, marked?.place);
  morph(status, drawStatus());
  const silent = find("h2.problem");
  const news = polling.failure ? "No reading" : silent?.textContent ??
    `${find("h2 bdi")?.textContent ?? ""} ${find("figcaption")?.textContent}`;
  document.title = `${news} – ${location.host}`;
  main.hidden = false;
}

/** Shows no number from now on, and why. */
function fail(reason) {
  clearTimeout(polling.expiry);
  polling.expiry = 0;
  polling.failure = reason;
  show();
}

/** Moves the mark to a place of a graph and tells, above it, what is there, or takes it away. */
function mark(box, place) {
  if (marked && marked !== box) {
    marked.style.removeProperty("--place");
    marked.querySelector("mark").textContent = "";
  }
  marked = box;
  if (!box) return;
  box.place = Math.min(Math.max(place, 0), 1);
  const text = readGraph(box.graph, box.place, board.now);
  box.style.setProperty("--place", box.place);
  box.querySelector("mark").textContent = text;
  box.setAttribute("aria-valuenow", Math.round(100 * box.place));
  box.setAttribute("aria-valuetext", text);
}

/** By how many places a key moves the mark. */
const STEPS = { ArrowLeft: -1, ArrowRight: 1, PageDown: -12, PageUp: 12 };

/** Follows the pointer, the focus and the keys. After a tap, the focus finds the mark there. */
function follow(event) {
  const { type, target, clientX, key = "" } = event;
  const isShortcut = event.altKey || event.ctrlKey || event.metaKey;
  if (type === "keydown" && (isShortcut || !(key in STEPS))) return;
  const box = target.graph ? target : target.closest("svg")?.parentNode;
  if (!box?.graph || type.endsWith("out")) return mark();
  if (key) event.preventDefault();
  const { left, width } = box.getBoundingClientRect();
  const step = (STEPS[key] ?? 0) / PLACES;
  const isPointer = type.startsWith("pointer");
  mark(box, isPointer ? (clientX - left) / width : (box.place ?? 1) + step);
}

/** Asks for the last day. Whatever comes of it, the readings stay. */
async function loadHistory() {
  board.historyDue = Infinity;
  const use = (csv) => board.history = parseHistory(csv);
  const reason = await ask("history", use, HISTORY_TIMEOUT_MS);
  const next = reason ? 0 : board.history.end + NEXT_HISTORY_MS;
  board.historyDue = Math.max(next, board.now + HISTORY_PAUSE_MS);
  note.textContent = reason && `The last day is missing: ${reason}`;
  board.sensors = joinValues(board.sensors);
  if (reason && polling.isRefused) {
    polling.turn++; // no answer under way counts
    fail(reason);
  } else if (!main.hidden) show();
}

/** Asks for the readings, and again in time, until the page is hidden. */
async function poll() {
  clearTimeout(polling.timer);
  const turn = ++polling.turn;
  if (polling.isRefused || document.hidden) return;
  const start = performance.now();
  const use = (json) => {
    const sensors = parseSensors(json);
    if (turn !== polling.turn) return;
    readClock(sensors[0]);
    board.sensors = joinValues(sensors);
  };
  const loading = board.now >= board.historyDue && loadHistory();
  const reason = await ask("sensors", use, PATIENCE_MS);
  if (turn !== polling.turn) return;
  const rest = PERIOD_MS - (performance.now() - start);
  polling.timer = setTimeout(poll, Math.max(rest, MIN_PAUSE_MS));
  if (reason === NO_ANSWER && polling.expiry > 0) return;
  if (reason) return fail(reason);
  polling.failure = "";
  clearTimeout(polling.expiry);
  polling.expiry = setTimeout(fail, PATIENCE_MS, NO_ANSWER);
  // With their graphs, values do not move
  if (!main.firstChild) await Promise.race([loading, pause(FIRST_HISTORY_MS)]);
  if (turn === polling.turn) show();
}

/** A hidden page asks nothing, and shows no number: a phone may freeze it at any time. */
function restart() {
  if (polling.isRefused) return;
  main.hidden = true;
  clearTimeout(polling.expiry);
  polling.expiry = 0;
  morph(status, create("p", ASKING));
  document.title = location.host;
  poll();
}

// A copy of the page in a file keeps the text that says how it is opened
if (location.protocol !== "file:") {
  find("h1").textContent = location.hostname;
  document.addEventListener("visibilitychange", restart);
  addEventListener("pageshow", restart);
  addEventListener("online", poll);
  main.onpointerover = main.onpointermove = follow;
  main.onpointerdown = main.onpointerout = follow;
  main.onkeydown = follow;
  main.addEventListener("focusin", follow);
  main.addEventListener("focusout", follow);
}
