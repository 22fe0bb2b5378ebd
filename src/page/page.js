import { addPoint, isPlain, parseHistory } from "./day.js";
import { readGraph, updateGraph } from "./day.js";
import { describeClock, formatDuration, formatValue } from "./values.js";
import { listValues, parseSensors, shorten } from "./values.js";

const PERIOD_MS = 5000;
const MIN_PAUSE_MS = 1000; // of polling, after a slow answer
const PATIENCE_MS = 10_000; // until what was last answered is not current any more
const FIRST_HISTORY_MS = 1000; // for which the first show waits
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
const NO_ANSWER = `${BASE}sensors does not answer: is it up?`;
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

/** The graph with the mark, the last one that had it, and where: from 0 at its left to 1. */
const pointer = /** @type {{ element?: any, last?: any, place: number }} */ ({
  place: 0,
});

/** Asks the board, and uses its answer. Returns why there is none, or an empty text. */
async function ask(path, use, timeoutMs) {
  const url = BASE + path;
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

/**
 * Makes a node like another one. Changes only what differs: what is selected, marked or in focus
 * stays. Nodes with keys are told apart by them.
 */
function morph(node, wanted) {
  for (const key of ["nodeValue", "className", "id", "href"]) {
    if (node[key] !== wanted[key]) node[key] = wanted[key];
  }
  const { html } = wanted.graph ?? {};
  if (html && node.graph?.html !== html) node.innerHTML = html;
  node.graph = wanted.graph;
  if (html) return;
  const children = [...wanted.childNodes];
  const kept = new Set(children.map(identify));
  for (const child of [...node.childNodes]) {
    if (!kept.has(identify(child))) child.remove();
  }
  children.forEach((child, index) => {
    const next = node.childNodes[index] ?? null;
    const isSame = (it) => identify(it) === identify(child);
    let there = next && isSame(next)
      ? next
      : [...node.childNodes].slice(index).find(isSame);
    there ??= Object.assign(child.cloneNode(), { key: child.key });
    if (there !== next) node.insertBefore(there, next);
    morph(there, child);
  });
  while (node.childNodes.length > children.length) node.lastChild.remove();
}

const identify = ({ nodeName, key = "" }) => `${nodeName} ${key}`;

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
    return { ...sensor, values, isCut: room < 0 };
  }).sort((a, b) => compare(a.name ?? "", b.name ?? ""));
}

/** Draws a sensor, as a card. */
function drawSensor({ name, age, reading, values }, index) {
  const { failure } = polling;
  const isSilent = reading === undefined;
  const duration = formatDuration(age);
  const state = isSilent ? `silent for ${duration}` : `${duration} old`;
  const isUnknown = failure || duration === "unknown";
  const small = create("small", isUnknown ? "age unknown" : state);
  const title = name === undefined ? "Reading" : create("bdi", shorten(name));
  const heading = create("h2", title, " ", small);
  if (isSilent && !failure) heading.className = "problem";
  const figures = create("div");
  const line = create("aside");
  for (const [label, value] of values) {
    const day = board.history.days.get(label) ?? { spans: [], decimals: 0 };
    const isInLine = values.size > 1 && isPlain(value, day.spans);
    const figure = drawValue(name ?? "", value, day, isInLine);
    (isInLine ? line : figures).append(Object.assign(figure, { key: label }));
  }
  const className = figures.children.length > 2 ? "wide" : "";
  const section = create("section", heading, figures, line);
  return Object.assign(section, { key: name, id: `sensor${index}`, className });
}

/** What a screen reader gets of a graph before it has had the mark. */
const SLIDER = {
  ...{ role: "slider", tabindex: 0, "aria-valuetext": "the last day" },
  ...{ "aria-valuemax": PLACES, "aria-valuenow": PLACES },
};

/** Draws a value, with a box for its graph unless it is in a line. */
function drawValue(sensor, shownValue, day, isInLine) {
  const { name, unit, value, points, kind, ...seen } = shownValue;
  const decimals = Math.max(seen.decimals, day.decimals);
  const isMissing = value === undefined;
  const isUnknown = polling.failure || isMissing;
  const number = create("b", isUnknown ? "–" : formatValue(value, decimals));
  if (isMissing && !polling.failure) number.className = "problem";
  const label = create("span", shorten(name));
  const shown = create("span", number, " ", create("small", unit));
  const caption = create("figcaption", label, " ", shown);
  const isText = points.length + day.spans.length === 0 &&
    !Number.isFinite(seen.number);
  if (isInLine || isText) return create("figure", caption);
  const { now, history } = board;
  const isCompass = /wind|dir/i.test(seen.label);
  const style = { decimals, kind, unit, isCompass };
  const graph = updateGraph(day, points, now, history.end, style);
  if (!graph) {
    const box = create("div", create("p", "The graph begins in a minute"));
    return create("figure", caption, Object.assign(box, { className: kind }));
  }
  const its = { graph, key: "graph", className: kind };
  const box = Object.assign(create("div"), its);
  const text = `${sensor} ${name}`.trim() || "Reading";
  Object.entries({ ...SLIDER, "aria-label": text })
    .forEach(([key, value]) => box.setAttribute(key, `${value}`));
  const hasDay = day.spans.length > 0 || history.days.size === 0; // as after a start
  const since = isUnknown || !graph.since ? "" : `, ${graph.since}`;
  const summary = create("p", hasDay ? graph.summary + since : "no history");
  if (kind !== "boolean") summary.className = "spoken"; // the graph shows it
  return create("figure", caption, box, summary);
}

/** Tells at a glance which sensors are silent or lack a value, with links to their cards. */
function drawStatus() {
  const { sensors, now } = board;
  const { failure } = polling;
  const isSilent = ({ reading }) => reading === undefined;
  const lacks = (it) =>
    !isSilent(it) &&
    [...it.values.values()].some(({ value }) => value === undefined);
  const silent = tell(isSilent, "is silent", "are silent");
  const lacking = tell(lacks, "lacks a value", "lack a value");
  const isDead = failure || silent.length + lacking.length > 0;
  const all = sensors.length === 1
    ? "1 sensor, "
    : `${sensors.length} sensors, all `;
  const between = silent.length && lacking.length ? "; " : "";
  const line = create(
    "p",
    ...failure ? [failure] : [...silent, between, ...lacking],
  );
  if (isDead) line.className = "problem";
  else line.append(`${all}current`);
  const isCut = sensors.some((it) => it.isCut);
  const limit = isCut ? `Only ${MAX_VALUES} values are shown` : "";
  const more = failure ? "" : limit || describeClock(now, Date.now());
  if (more) line.append(`. ${more}`);
  return line;
}

/** Tells of which sensors something is true. */
function tell(isTrue, one, several) {
  const { sensors } = board;
  const links = sensors.flatMap((sensor, index) => {
    const link = create("a", create("bdi", shorten(sensor.name ?? "Reading")));
    link.href = `#sensor${index}`;
    return isTrue(sensor) ? [", ", link] : [];
  });
  const count = links.length / 2;
  const what = count === 1 ? one : several;
  const text = `${count} of ${sensors.length} sensors ${what}: `;
  return count > 0 ? [text, ...links.slice(1)] : [];
}

/** Shows what is known. */
function show() {
  morph(main, create("main", ...board.sensors.map(drawSensor)));
  mark();
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

/** Tells what is at the mark, above it. */
function mark() {
  const { element, place } = pointer;
  if (!element) return;
  element.style.setProperty("--place", place);
  const text = readGraph(element.graph, place, board.now);
  const bubble = element.querySelector("mark");
  bubble.textContent = text;
  bubble.hidden = false;
  element.setAttribute("aria-valuenow", Math.round(PLACES * place));
  element.setAttribute("aria-valuetext", text);
}

/** Moves the mark to a place of a graph, or takes it away. */
function moveMark(element, place = 0) {
  const before = pointer.element;
  if (before && before !== element) {
    before.style.removeProperty("--place");
    before.querySelector("mark").hidden = true;
  }
  pointer.element = element;
  if (!element) return;
  pointer.last = element;
  pointer.place = Math.min(Math.max(place, 0), 1);
  mark();
}

/** Follows the pointer on a graph until it leaves it. */
function follow({ type, target, clientX }) {
  const graph = type === "pointerout" ? null : target.closest("svg");
  if (!graph) return moveMark();
  const { left, width } = graph.getBoundingClientRect();
  moveMark(graph.parentNode, (clientX - left) / width);
}

/** By how many places a key moves the mark. */
const STEPS = { ArrowLeft: -1, ArrowRight: 1, PageDown: -12, PageUp: 12 };

/** Follows the focus, and the keys on what has it. */
function followFocus(event) {
  const { type, target, key = "" } = event;
  if (type === "focusout") return moveMark();
  const hasModifier = event.altKey || event.ctrlKey || event.metaKey;
  if (!target.graph || hasModifier || key && !(key in STEPS)) return;
  if (key) event.preventDefault();
  const place = target === pointer.last ? pointer.place : 1; // a tap has its own
  moveMark(target, place + (STEPS[key] ?? 0) / PLACES);
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
  const isDue = () => board.now >= board.historyDue;
  const use = (json) => {
    const sensors = parseSensors(json);
    if (turn !== polling.turn) return;
    readClock(sensors[0]);
    board.sensors = joinValues(sensors);
  };
  const asking = ask("sensors", use, PATIENCE_MS);
  let loading = isDue() && loadHistory();
  const reason = await asking;
  if (turn !== polling.turn) return;
  const rest = PERIOD_MS - (performance.now() - start);
  polling.timer = setTimeout(poll, Math.max(rest, MIN_PAUSE_MS));
  if (reason) {
    if (reason !== NO_ANSWER || polling.expiry === 0) fail(reason);
    return;
  }
  polling.failure = "";
  clearTimeout(polling.expiry);
  polling.expiry = setTimeout(fail, PATIENCE_MS, NO_ANSWER);
  if (isDue()) loading = loadHistory();
  if (loading && !main.firstChild) { // with their graphs, values do not move
    const pause = new Promise((resolve) =>
      setTimeout(resolve, FIRST_HISTORY_MS)
    );
    await Promise.race([loading, pause]);
  }
  if (turn === polling.turn) show();
}

/** A hidden page asks nothing, and shows no number: a phone may freeze it at any time. */
function restart() {
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
  main.onkeydown = followFocus;
  main.addEventListener("focusin", followFocus);
  main.addEventListener("focusout", followFocus);
}
