import { addPoint, formatTime, isPlain, parseHistory } from "./day.js";
import { readGraph, updateGraph } from "./day.js";
import { countDecimals, describeClock, formatAge } from "./values.js";
import { formatValue, listValues, MAX_VALUES } from "./values.js";
import { parseSensors, shorten } from "./values.js";

const PERIOD_MS = 5000;
const MIN_PAUSE_MS = 1000; // of polling, after a slow answer
const PATIENCE_MS = 10_000; // until what was last answered is not current any more
const FIRST_HISTORY_MS = 1000; // for which the first cards wait
const HISTORY_TIMEOUT_MS = 60_000;
const HISTORY_PAUSE_MS = 60_000;
const NEXT_HISTORY_MS = 303_000; // until the next slot has ended, and is in an answer
const MAX_CLOCK_STEP_MS = 60_000; // between two answers, unless the clock was set
const REFUSAL = "The password is missing or wrong: load this page again";
const BASE = location.origin + location.pathname; // without a password
const NO_ANSWER = `${BASE} does not answer`;
const { compare } = new Intl.Collator("en", { numeric: true });
/** @type {(selector: string) => any} */
const find = (selector) => document.querySelector(selector);
const status = find("[role=status]");
const main = find("main");
const note = find("footer p");

/** What is known of each sensor, with its values by label. Times are those of the board's clock. */
const board = {
  sensors: /** @type {any[]} */ ([]),
  now: 0,
  history: parseHistory(""),
  historyDue: 0,
};

/**
 * The requests for the readings, of which only the answer to the last one counts. It came at the
 * time `answered`, and the timer `expiry`, unless it is 0, ends what is current.
 */
const polling = { failure: "", turn: 0, timer: 0, expiry: 0, answered: 0 };

/** The range over the graph with the mark: its value is in steps, up to 0 at the right. */
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
  if (status === 401) return REFUSAL;
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
  for (const key of ["nodeValue", "className", "href", "min"]) {
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

/**
 * Returns sensors with their values, to which the history and earlier points belong. What was
 * shown keeps its place.
 */
function joinValues(sensors) {
  const { days } = board.history;
  const old = new Map(board.sensors.map(({ name, values }) => [name, values]));
  let room = MAX_VALUES;
  return sensors.slice(0, MAX_VALUES).map((sensor) => {
    const seen = old.get(sensor.name) ?? new Map();
    const drawn = [...seen].filter(([, { points }]) => points.length > 0);
    const listed = listValues(sensor, new Map([...days, ...drawn]));
    const values = new Map();
    for (const label of new Set([...seen.keys(), ...listed.keys()])) {
      const value = listed.get(label);
      if (!value) continue;
      if (--room < 0) break;
      values.set(label, joinPoints(value, seen.get(label), days.get(label)));
    }
    const id = `sensor ${sensor.name ?? ""}`;
    return { ...sensor, id, values, isCut: room < 0 };
  }).sort((a, b) => compare(a.name ?? "", b.name ?? ""));
}

/** Returns a value with its day and points. Only a reading tells that it is a boolean. */
function joinPoints(value, before, /** @type {any} */ day = { spans: [] }) {
  const points = addPoint(before?.points ?? [], value.number, board.now);
  const [seen = 0, old = 0] = [before?.decimals, day.decimals];
  const decimals = Math.max(seen, old, countDecimals(value.number));
  const kind = value.value === undefined && before?.kind || value.kind;
  return { ...value, kind, points, day, decimals };
}

const isSilent = ({ reading }) => reading === undefined;

/** Tells what a sensor lacks, if anything, in words that change at midnight only. */
function findLack(sensor) {
  const values = [...sensor.values.values()];
  const isMissing = values.some(({ value }) => value === undefined);
  if (!isSilent(sensor)) return isMissing ? "missing a value" : "";
  const since = Date.parse(sensor.time); // NaN, if a proxy has changed it
  return since ? `silent since ${formatTime(since, board.now)}` : "silent";
}

/** Draws a sensor, as a card. */
function drawSensor(sensor) {
  const { name, age, values, id } = sensor;
  const { failure } = polling;
  const state = isSilent(sensor) ? findLack(sensor) : formatAge(age);
  const small = create("small", failure ? "" : ` ${state}`);
  const title = name === undefined ? "Reading" : create("bdi", shorten(name));
  const heading = create("h2", title, small);
  if (isSilent(sensor) && !failure) heading.className = "problem";
  const figures = create("div");
  const line = create("aside");
  for (const value of values.values()) {
    const isInLine = values.size > 1 && isPlain(value);
    const figure = drawValue(sensor, value, isInLine);
    (isInLine ? line : figures).append(figure);
  }
  const className = figures.children.length > 2 ? "wide" : "";
  const section = create("section", heading, figures, line);
  return Object.assign(section, { id, className });
}

/** Draws a value, with a box for its graph unless it is in a line. */
function drawValue(sensor, shown, isInLine) {
  const { label, name, unit, value, number, points, day, kind } = shown;
  const { failure } = polling;
  const isKnown = value !== undefined && !failure;
  const text = create("b", isKnown ? formatValue(value, shown.decimals) : "–");
  if (!isKnown && !failure && !isSilent(sensor)) text.className = "problem";
  const caption = create("figcaption", create("span", shorten(name)), " ");
  caption.append(create("span", text, " ", create("small", unit)));
  const drawn = Object.assign(create("figure", caption), { id: label });
  const isText = points.length + day.spans.length === 0 &&
    !Number.isFinite(number);
  if (isInLine || isText) return drawn;
  const graph = updateGraph(shown, board.now);
  const hasDay = day.spans.length > 0 || board.history.days.size === 0; // as after a start
  const since = kind === "boolean" ? graph?.summary : "";
  const told = hasDay ? since : "only the last minutes";
  const remark = graph ? told : isKnown && "The graph begins in a minute";
  drawn.append(createBox(label, graph, `${sensor.name ?? "Reading"} ${name}`));
  if (remark) drawn.append(create("p", remark));
  return drawn;
}

/** Creates the box of a graph, with an unseen range over it, for keys, fingers and screen readers. */
function createBox(label, graph, title) {
  const box = create("div");
  if (!graph) return box;
  box.id = `graph ${label}`;
  box.innerHTML =
    `<input type="range" max="0" value="0" aria-valuetext="the last day">
    <div></div>`;
  const [range, drawing] = /** @type {any} */ (box.children);
  range.min = -graph.steps;
  range.setAttribute("aria-label", title);
  drawing.graph = graph;
  return box;
}

/** Tells at a glance whether all is current, with links to the cards of what is not. */
function drawStatus() {
  const { sensors, now } = board;
  const { failure, answered } = polling;
  const dead = sensors.filter(findLack);
  const links = dead.flatMap((sensor) => {
    const { name, id } = sensor;
    const link = create("a", create("bdi", shorten(name ?? "Reading")));
    link.href = `#${encodeURIComponent(id)}`;
    return [", ", link, ` ${findLack(sensor)}`];
  });
  const isOne = sensors.length === 1;
  const all = isOne ? "1 sensor," : `${sensors.length} sensors, all`;
  const count = isOne ? "" : ` (${dead.length} of ${sensors.length} sensors)`;
  const text = dead.length ? [...links.slice(1), count] : [`${all} current`];
  const last = failure === NO_ANSWER && answered
    ? `: its last answer came at ${formatTime(answered, Date.now())}`
    : "";
  const isCut = sensors.some((sensor) => sensor.isCut);
  const limit = isCut && `Only ${MAX_VALUES} values are shown`;
  const more = limit || now && describeClock(now, Date.now());
  const line = create("p", ...failure ? [failure + last] : text);
  if (more && !failure) line.append(`. ${more}`);
  if (failure || dead.length) line.className = "problem";
  return line;
}

/** Shows what is known. */
function show() {
  morph(main, create("main", ...board.sensors.map(drawSensor)));
  mark(marked);
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

/** Marks where a range is on its graph, and tells what is there. All else takes the mark away. */
function mark(range) {
  if (marked && marked !== range) {
    delete marked.nextElementSibling.dataset.mark;
    marked.setAttribute("aria-valuetext", "the last day");
  }
  marked = range?.type === "range" ? range : undefined;
  if (!marked) return;
  const { graph, dataset, style } = range.nextElementSibling;
  const place = 1 - range.value / range.min;
  dataset.mark = readGraph(graph, place, board.now);
  style.setProperty("--place", place);
  range.setAttribute("aria-valuetext", dataset.mark);
}

/**
 * Lets the mark follow the pointer, or else the focus. A pointer that leaves was only a look,
 * unless it was pressed: this gives the focus, too.
 */
function follow({ type, target, clientX }) {
  if (target.type !== "range") return;
  if (type === "pointerover") target.kept = target.value;
  if (type === "pointerout") target.value = target.kept;
  if (type.endsWith("out")) return mark(document.activeElement);
  if (type.startsWith("pointer")) {
    const { left, width } = target.getBoundingClientRect();
    target.value = target.min * (1 - (clientX - left) / width);
  }
  if (type === "pointerup") {
    target.kept = target.value;
    target.focus({ preventScroll: true });
  }
  mark(target);
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
  if (reason === REFUSAL) {
    polling.turn++; // no answer under way counts
    fail(reason);
  } else if (!main.hidden) show();
}

/** Asks for the readings, and again in time, until the page is hidden. */
async function poll() {
  clearTimeout(polling.timer);
  const turn = ++polling.turn;
  if (polling.failure === REFUSAL || document.hidden) return;
  const start = performance.now();
  const use = (json) => {
    const sensors = parseSensors(json);
    if (turn !== polling.turn) return;
    readClock(sensors[0]);
    const took = performance.now() - start;
    sensors.forEach((sensor) => sensor.age += took / 1000);
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
  polling.answered = Date.now();
  clearTimeout(polling.expiry);
  polling.expiry = setTimeout(fail, PATIENCE_MS, NO_ANSWER);
  // With their graphs, values do not move
  if (!main.firstChild) await Promise.race([loading, pause(FIRST_HISTORY_MS)]);
  if (turn === polling.turn) show();
}

/** A hidden page asks nothing, and shows no number: a phone may freeze it at any time. */
function restart() {
  if (polling.failure === REFUSAL) return; // it would ask for the password each time
  main.hidden = true;
  clearTimeout(polling.expiry);
  polling.expiry = 0;
  morph(status, create("p", "Asking the board…"));
  document.title = location.host;
  poll();
}

// A copy of the page in a file keeps the text that says how it is opened
if (location.protocol !== "file:") {
  find("h1").textContent = location.hostname;
  document.addEventListener("visibilitychange", restart);
  addEventListener("pageshow", restart);
  addEventListener("online", poll);
  main.onpointerover = main.onpointermove = main.onpointerout = follow;
  main.onpointerup = main.oninput = follow;
  main.addEventListener("focusin", follow);
  main.addEventListener("focusout", follow);
}
