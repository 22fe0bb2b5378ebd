// What the page knows of the board, and how it asks. Nothing here needs a browser.

import { addPoint, createGraph, formatTime, parseHistory } from "./graph.js";
import { countDecimals, formatValue, joinUnit, listValues } from "./values.js";
import { MAX_VALUES, parseSensors, shorten, toNumber } from "./values.js";

const PERIOD_MS = 5000;
const MIN_PAUSE_MS = 1000; // of polling, after a slow answer
const PATIENCE_MS = 10_000; // until what was last answered is not current any more
const FIRST_HISTORY_MS = 1000; // for which the first cards wait
const HISTORY_TIMEOUT_MS = 60_000;
const HISTORY_PAUSE_MS = 60_000;
const NEXT_HISTORY_MS = 303_000; // until the next slot has ended, and is in an answer
const MAX_CLOCK_STEP_MS = 60_000; // between two answers, unless the clock was set
const REFUSAL = "The password is missing or wrong: load this page again";
const { compare } = new Intl.Collator("en", { numeric: true });

/** What is known of the board at a URL, and what it is asked. */
export class Board {
  #io;
  #answer = parseSensors("[]"); // the last one
  #sensors = /** @type {any[]} */ ([]); // what there is to show of it
  #now = 0; // by the board's clock
  #history = parseHistory("");
  #failure = ""; // why no number is current
  #missing = ""; // why there is no last day
  #isAsking = true; // from when the page is opened, hidden or seen again to an answer

  #isHidden = false;
  #historyDue = 0; // by the board's clock
  #turn = 0; // of the last request for the readings: no other answer counts
  #currentTurn = 0; // the one that brought what is current, if any is
  #answered = 0; // when it came, by the browser's clock

  /**
   * @param {string} url
   * @param {typeof fetch} fetch
   * @param {import("../clock.ts").Clock} clock
   * @param {(shown: Board["shown"]) => void} view Is told of each change.
   */
  constructor(url, fetch, clock, view) {
    this.#io = { url, fetch, clock, view, noAnswer: `${url} does not answer` };
  }

  /** What there is to show. Of sensors that are too many, `unseen` are silent. */
  get shown() {
    const [sensors, count] = [this.#sensors, this.#answer.length];
    return {
      sensors,
      count,
      unseen: this.#answer.slice(MAX_VALUES).filter(isSilent).length,
      isCut: count > MAX_VALUES || sensors.some((it) => it.isCut),
      now: this.#now,
      failure: this.#failure,
      missing: this.#failure ? "" : this.#missing, // for the same reason, maybe
      isAsking: this.#isAsking,
    };
  }

  /** Asks for the readings, and again in time, until the page is hidden. */
  async poll() {
    const { clock, noAnswer } = this.#io;
    const turn = ++this.#turn;
    if (this.#failure === REFUSAL || this.#isHidden) return;
    const start = clock.monotonicTime();
    const use = (json) => {
      const sensors = parseSensors(json);
      if (turn !== this.#turn) return;
      this.readClock(sensors[0]);
      const took = clock.monotonicTime() - start;
      sensors.forEach((sensor) => sensor.age += took / 1000);
      this.#answer = sensors;
      this.join();
    };
    const loadDue = () => this.#now >= this.#historyDue && this.loadHistory();
    const loading = loadDue();
    const reason = await this.load("sensors", use, PATIENCE_MS);
    if (turn !== this.#turn) return;
    const rest = PERIOD_MS - (clock.monotonicTime() - start);
    clock.delay(Math.max(rest, MIN_PAUSE_MS)).then(() => {
      if (turn === this.#turn) this.poll();
    });
    if (reason === noAnswer && this.#currentTurn) return;
    if (reason) return this.fail(reason);
    this.#failure = "";
    this.#currentTurn = turn;
    clock.delay(PATIENCE_MS).then(() => {
      if (turn === this.#currentTurn) this.fail(noAnswer);
    });
    // With their graphs, values do not move. Those of a page that was hidden are old
    const first = this.#isAsking && (loading || loadDue());
    this.#answered = clock.wallTime();
    if (first) await Promise.race([first, clock.delay(FIRST_HISTORY_MS)]);
    if (turn === this.#turn) this.show();
  }

  /** Asks for the last day. Whatever comes of it, the readings stay. */
  async loadHistory() {
    this.#historyDue = Infinity;
    const use = (csv) => this.#history = parseHistory(csv);
    const reason = await this.load("history", use, HISTORY_TIMEOUT_MS);
    const next = reason ? 0 : this.#history.end + NEXT_HISTORY_MS;
    this.#historyDue = Math.max(next, this.#now + HISTORY_PAUSE_MS);
    this.#missing = reason;
    this.join();
    if (reason === REFUSAL) {
      this.#turn++; // no answer under way counts
      this.fail(reason);
    } else if (!this.#isAsking) this.show();
  }

  /** Loads an answer, and uses it. Returns why there is none, or an empty text. */
  async load(path, use, timeoutMs) {
    const { url, fetch, clock, noAnswer } = this.#io;
    const controller = new AbortController();
    clock.delay(timeoutMs).then(() => controller.abort());
    const response = await fetch(url + path, { signal: controller.signal })
      .catch(() => undefined);
    const text = await response?.text().catch(() => undefined);
    if (text === undefined) return noAnswer;
    const { ok, status } = /** @type {Response} */ (response);
    if (status === 401) return REFUSAL;
    try {
      if (!ok) return `No current reading: ${shorten(JSON.parse(text).detail)}`;
      use(text);
      return "";
    } catch {
      return `${url}${path} answers with status ${status} and no reading`;
    }
  }

  /** Reads the board's clock from an answer. Once it was set, the history has other times. */
  readClock({ time, age }) {
    const now = +new Date(Date.parse(time) + 1000 * age);
    if (Number.isNaN(now)) return; // a proxy may have changed the answer
    const isSet = now < this.#now || now > this.#now + MAX_CLOCK_STEP_MS;
    if (isSet && this.#now > 0) this.#historyDue = now;
    this.#now = now;
  }

  /** Joins the last answer with what was seen before, and with the history. */
  join() {
    const old = new Map(this.#sensors.map((it) => [it.name, it.values]));
    let room = MAX_VALUES;
    this.#sensors = this.#answer.slice(0, MAX_VALUES).map((sensor) => {
      const joined = this.joinSensor(sensor, old.get(sensor.name), room);
      room -= joined.values.size;
      return joined;
    }).sort((a, b) => compare(a.name, b.name));
  }

  /**
   * Returns a sensor with its values by id, as far as there is room, and with what it lacks in
   * words that hardly ever change. What was shown keeps its place.
   */
  joinSensor(sensor, seen = new Map(), /** @type {number} */ room) {
    const since = Date.parse(sensor.time); // NaN, if a proxy has changed it
    const time = since ? formatTime(since, this.#now) : "";
    const listed = listValues(sensor);
    const { series } = this.#history;
    const kept = [...seen].filter(([id, { points }]) =>
      listed.has(id) || points.length || series.has(id) // no text that is gone
    );
    const gone = { value: undefined, last: undefined };
    const all = new Map(kept.map(([id, it]) => [id, { ...it, ...gone }]));
    listed.forEach((value, id) => all.set(id, value));
    const values = new Map();
    for (const [valueId, value] of [...all].slice(0, room)) {
      values.set(valueId, this.joinSeries(value, seen.get(valueId), time));
    }
    const isMissing = [...values.values()].some((it) => it.value === undefined);
    const missing = isMissing ? "missing a value" : "";
    const silent = time ? `silent since ${time}` : "silent";
    const lack = isSilent(sensor) ? silent : missing;
    const isCut = all.size > room;
    const id = `sensor ${sensor.name}`;
    return { ...sensor, id, values, lack, isCut };
  }

  /**
   * Returns a value with its graph, and its last day in words. It is drawn, or has a place for
   * its graph, unless it was the same all that day before it was shown.
   */
  joinSeries(value, before, time) {
    const { id, unit, last } = value;
    const now = this.#now;
    const series = this.#history.series.get(id) ?? { spans: [], decimals: 0 };
    const { points: seen = [], decimals: had = 0, isDrawn: was } = before ?? {};
    const points = addPoint(seen, value.value, now);
    const number = toNumber(value.value ?? last);
    const decimals = Math.max(had, series.decimals, countDecimals(number));
    const graph = createGraph(series, points, { ...value, decimals }, now);
    const isPlain = graph ? graph.isFlat && series.spans[0] : isNaN(number);
    const isDrawn = was && !this.#isAsking || !isPlain;
    const joined = { ...value, points, decimals, graph, isDrawn };
    if (last === undefined) return { brief: "", full: "", ...graph, ...joined };
    const brief = `last ${joinUnit(formatValue(last, decimals), unit)}`;
    return { ...joined, brief, full: time ? `${brief} at ${time}` : brief };
  }

  /** Shows no number from now on, and why. */
  fail(/** @type {string} */ reason) {
    const { clock, noAnswer } = this.#io;
    const time = formatTime(this.#answered, clock.wallTime());
    const isLate = reason === noAnswer && this.#answered > 0;
    const last = isLate ? `: its last answer came at ${time}` : "";
    this.#currentTurn = 0;
    this.#failure = reason + last;
    this.show();
  }

  /** Shows what is known. */
  show() {
    this.#isAsking = false;
    this.#io.view(this.shown);
  }

  /** A hidden page asks nothing, and shows no number: a phone may freeze it at any time. */
  restart(/** @type {boolean} */ isHidden) {
    if (this.#failure === REFUSAL) return; // it would ask for the password each time
    this.#isHidden = isHidden;
    this.#isAsking = true;
    this.#currentTurn = 0;
    this.#io.view(this.shown);
    this.poll();
  }
}

/** Whether a sensor has no current reading. */
export const isSilent = ({ reading }) => reading === undefined;
