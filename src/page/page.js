import { Board, isSilent } from "./board.js";
import { formatTime, HOUR_MS, PIXELS, readGraph, SLOT_MS } from "./graph.js";
import { joinUnit, MAX_VALUES, shorten, tellNow } from "./values.js";

const MAX_CLOCK_ERROR_MS = 300_000;
const FRESH_SECONDS = 60; // for which no time is shown
const PAINTS = {
  band: { fill: "#2f80ed66", "shape-rendering": "crispEdges" }, // no lines between slots
  line: { stroke: "#2f80ed", "stroke-width": 2, fill: "none" },
  dots: { stroke: "currentcolor", "stroke-width": 5 },
};
/** @type {(selector: string) => any} */
const find = (selector) => document.querySelector(selector);
const [status, main, form, range] = ["p", "main", "form", "input"].map(find);

// The time that all graphs show, Infinity for now, and the one to which they return after a look
/** @type {Record<"time" | "chosen" | "now" | "frame", number>} */
const mark = { time: Infinity, chosen: Infinity, now: 0, frame: 0 };

/** @returns {any} an element, `name.class`, with texts, which are no HTML, and attributes */
function create(tag, ...content) {
  const [name, kind = ""] = tag.split(".");
  const space = /svg|path/.test(name) ? "2000/svg" : "1999/xhtml";
  const element = document.createElementNS(`http://www.w3.org/${space}`, name);
  if (kind) element.setAttribute("class", kind);
  for (const it of content) {
    if (typeof it === "string" || it.nodeName) element.append(it);
    else for (const key in it) element.setAttribute(key, it[key]);
  }
  return element;
}

/**
 * Makes a node like another one, whose parts it may take. Changes only what differs: what is
 * selected, marked or in focus stays. Elements with an id are told apart by it.
 */
function morph(node, wanted) {
  if (node.nodeValue !== wanted.nodeValue) node.nodeValue = wanted.nodeValue;
  for (const { name, value } of wanted.attributes ?? []) {
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  }
  if (!wanted.attributes?.class) node.removeAttribute?.("class");
  node.shown = wanted.shown;
  const children = [...wanted.childNodes];
  const identify = ({ nodeName, id = "" }) => nodeName + id;
  const kept = new Set(children.map(identify));
  const gone = [...node.childNodes].filter((it) => !kept.has(identify(it)));
  gone.forEach((child) => child.remove());
  children.forEach((child, index) => {
    const same = node.childNodes[index] ?? null;
    const isSame = same && identify(same) === identify(child);
    isSame ? morph(same, child) : node.insertBefore(child, same);
  });
  while (node.childNodes.length > children.length) node.lastChild.remove();
}

/** Draws a sensor, as a card. */
function drawSensor(sensor, { failure, now }) {
  const { name, age, values, id, lack } = sensor;
  const isDead = isSilent(sensor) && !failure;
  const time = formatTime(now - 1000 * (age || 0), now);
  const old = age > 0 ? `at ${time}` : "age unknown";
  const state = age < FRESH_SECONDS || failure ? "" : old;
  const small = create("small", ` ${isDead ? lack : state}`);
  const title = name ? create("bdi", shorten(name)) : "Reading";
  const heading = create(isDead ? "h2.problem" : "h2", title, small);
  const figures = create("div");
  values.forEach((it) => figures.append(drawValue(sensor, it, failure, now)));
  const tag = values.size > 2 ? "section.wide" : "section";
  return create(tag, { id }, heading, figures);
}

/** Draws a value: its name, what it is now, what its last day was, and its graph. */
function drawValue(sensor, value, failure, now) {
  const { id, name, isDrawn, graph } = value;
  const { text = "", unit, word } = tellNow(value, isSilent(sensor), failure);
  const tag = word === "missing" ? "small.problem" : "small";
  const small = word ?? joinUnit("", unit);
  const shown = create("span.now", create("b", text), create(tag, small));
  const then = create("small.then", value.brief);
  const title = create("span", create("bdi", shorten(name)), " ", then);
  const figure = create(isDrawn ? "figure" : "figure.flat", { id });
  figure.setAttribute("aria-label", `${sensor.name || "Reading"} ${name}`);
  const drawing = isDrawn ? drawGraph(graph, now) : [];
  figure.append(title, " ", shown, ...drawing, create("p", value.full));
  figure.shown = { ...value, text, small };
  return figure;
}

/** Draws a graph and its times, once there is one. Screen readers have its sentence instead. */
function drawGraph(graph, now) {
  const view = { viewBox: `0 0 ${PIXELS} 100`, preserveAspectRatio: "none" };
  const drawing = create("svg", { "aria-hidden": "true", ...view });
  if (!graph) return [drawing];
  const effect = { "vector-effect": "non-scaling-stroke" };
  for (const [part, d] of Object.entries(graph.paths)) {
    drawing.append(create("path", { d, ...PAINTS[part] }, effect));
  }
  const start = create("span", formatTime(graph.start, now));
  const axis = create("small.axis", { "aria-hidden": "true" }, start, "now");
  return [drawing, axis];
}

/** Tells at a glance whether all is current, with links to the cards of what is not. */
function drawStatus({ sensors, count, unseen, isCut, now, failure, isAsking }) {
  if (isAsking) return create("p", "Asking the board…");
  if (failure) return create("p.problem", failure);
  const lacking = sensors.filter(({ lack }) => lack);
  const lacks = [...new Set(lacking.map(({ lack }) => lack))]; // one cause, one sentence
  const texts = lacks.flatMap((lack) => {
    const same = lacking.filter((sensor) => sensor.lack === lack);
    const isAll = same.length > 1 && same.length === count;
    if (isAll) return [", ", `All ${count} sensors ${lack}`];
    const links = same.flatMap(({ name, id }) => {
      const href = `#${encodeURIComponent(id)}`;
      const text = create("bdi", shorten(name || "Reading"));
      return [", ", create("a", { href }, text)];
    });
    return [...links, ` ${lack}`];
  });
  if (unseen) texts.push(", ", `${unseen} more silent`);
  const all = count === 1 ? "1 sensor," : `${count} sensors, all`;
  const text = texts.length ? texts.slice(1) : [`${all} current`];
  const limit = `. Only the first ${MAX_VALUES} sensors and values are shown`;
  const clock = `. The board's clock says ${formatTime(now, Date.now())}`;
  const isOff = now && Math.abs(now - Date.now()) > MAX_CLOCK_ERROR_MS;
  text.push(isCut ? limit : "", isOff ? clock : "");
  return create(texts.length ? "p.problem" : "p", ...text);
}

/** Shows what is known of the board. */
function show(/** @type {Board["shown"]} */ shown) {
  const { sensors, now, failure, missing, isAsking } = shown;
  mark.now = now;
  main.hidden = form.hidden = isAsking;
  const draw = (sensor) => drawSensor(sensor, shown);
  if (isAsking) mark.time = mark.chosen = Infinity;
  else morph(main, create("main", ...sensors.map(draw)));
  morph(status, drawStatus(shown));
  write(find("footer p"), missing && `The last day is missing: ${missing}`);
  const first = ["h2 bdi", "figure bdi", ".now"];
  const value = first.map((it) => find(it)?.textContent).join(" ");
  const problem = failure ? "No reading" : shorten(status.textContent);
  const news = status.className ? problem : value;
  document.title = `${isAsking ? "" : `${news} – `}${location.host}`;
  if (!isAsking) showTime(mark.time);
}

/** Writes a text, unless it stands there: what is selected stays. */
const write = (node, text) =>
  node.textContent === text || (node.textContent = text);

/** Shows what was at a time, Infinity for now, at all values. */
function showTime(/** @type {number} */ time) {
  cancelAnimationFrame(mark.frame);
  mark.time = time;
  const { now } = mark;
  const figures = [...main.querySelectorAll("figure")];
  const starts = figures.map(({ shown }) => shown.graph?.start ?? now);
  form.hidden = starts.every((start) => start === now);
  const first = Math.min(now, ...starts);
  range.min = Math.floor(first / SLOT_MS);
  range.max = Math.ceil(now / SLOT_MS);
  range.value = Math.min(time / SLOT_MS, range.max);
  const chosen = time < now ? formatTime(time, now) : "now";
  range.setAttribute("aria-valuetext", chosen);
  write(range.nextElementSibling, chosen);
  const hours = Math.ceil((now - first) / HOUR_MS);
  write(range.previousElementSibling, `last ${hours} h`);
  for (const figure of figures) {
    const { graph, brief, text, small } = figure.shown;
    const past = graph && time < now ? readGraph(graph, time) : undefined;
    const shown = past ?? figure.shown;
    write(figure.querySelector(".then"), past ? `now ${text}${small}` : brief);
    write(figure.querySelector("b"), shown.text);
    write(figure.querySelector(".now small"), shown.small);
    figure.classList.toggle("past", past !== undefined);
    figure.style.setProperty("--place", past?.place ?? -1);
  }
}

/** Lets the time follow a pointer over a graph, once a frame, and gives it back. */
function follow({ target, clientX }) {
  const box = target.closest("svg") ?? target;
  const { start, end } = box.parentNode.shown?.graph ?? {};
  const { left, width } = box.getBoundingClientRect();
  const place = Math.max((clientX - left) / width, 0);
  const time = start + (end - start) * place || mark.chosen; // NaN elsewhere
  cancelAnimationFrame(mark.frame);
  mark.frame = requestAnimationFrame(() => showTime(time));
}

const clock = {
  monotonicTime: () => performance.now(),
  wallTime: () => Date.now(),
  delay: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};
const url = location.origin + location.pathname; // without a password
const board = new Board(url, (...request) => fetch(...request), clock, show);

// A copy of the page in a file keeps the text that says how it is opened
if (location.protocol !== "file:") {
  find("h1").textContent = location.hostname;
  const restart = () => board.restart(document.hidden);
  document.onvisibilitychange = self.onpageshow = restart;
  self.ononline = () => board.poll();
  main.onpointerdown = main.onpointermove = main.onpointerleave = follow;
  const choose = (time) => showTime(mark.chosen = time);
  const isNow = () => range.value === range.max;
  range.oninput = () => choose(isNow() ? Infinity : range.value * SLOT_MS);
  document.onkeyup = ({ key }) => key === "Escape" && choose(Infinity);
}
