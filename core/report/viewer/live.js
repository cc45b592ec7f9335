// What ties the stage to the app: a case as it goes on comes by server-sent events, what stands behind it when it is
// opened, and what a person says leaves in batches, each thing said until the app has it.

import { Sayer, played } from "./outbox.js";

const address = (what, run, scene) => `/${what}/${encodeURIComponent(run)}/${encodeURIComponent(scene)}`;

/** Hear a case as it goes on: `draw(scene)` with each change, `far(how)` its run is, `over()` at the end. Returns how
 * to stop. */
export function follow(run, named, draw, far, over) {
  let scene = null;
  const source = new EventSource(address("told", run, named));
  source.addEventListener("scene", (event) => draw((scene = JSON.parse(event.data))));
  source.addEventListener("changed", (event) => draw((scene = merged(scene, JSON.parse(event.data)))));
  source.addEventListener("far", (event) => far(JSON.parse(event.data)));
  source.addEventListener("over", () => { source.close(); over(); });
  // Of a lost connection the browser asks again by itself, and is then told the whole; not where it was refused.
  source.onerror = () => { if (source.readyState === EventSource.CLOSED) over(); };
  return () => source.close();
}

/** A scene with what is new of it; of its cards those come that are not as they were. */
function merged(scene, { cards, ...news }) {
  const now = { ...scene, ...news };
  if (!cards) return now;
  const fresh = new Map(cards.map((card) => [card.id, card])), known = new Set(scene.cards.map((card) => card.id));
  const kept = scene.cards.map((card) => fresh.get(card.id) ?? card);
  now.cards = [...kept, ...cards.filter((card) => !known.has(card.id))].sort((one, other) => one.number - other.number);
  return now;
}

/** What stands behind a scene, as the stage shows it. */
export async function evidence(scene) {
  const reply = await fetch(address("evidence", scene.run, scene.case));
  if (!reply.ok) throw new Error((await reply.json()).why);
  return reply.json();
}

// A list beside the case: the browser opens its rows and steps through them by itself. It tells the page once the keys
// rest; of a row that was pressed, immediately.

/** Milliseconds that keys rest before the page hears of it, before it is asked again, before a key that was held back
 * is given up, and that a pointer rests on a row before its scene is fetched; and how many scenes are kept. */
const REST = 450, AGAIN = 4_000, GIVEN_UP = 60_000, HOVER = 80, SCENES = 12;

const scenes = new Map();

function sceneAt([run, named]) {
  const at = address("scene", run, named);
  if (!scenes.has(at)) {
    const coming = fetch(at).then((reply) => (reply.ok ? reply.json() : Promise.reject(new Error(reply.statusText))));
    coming.catch(() => scenes.delete(at));
    scenes.set(at, coming);
    if (scenes.size > SCENES) scenes.delete(scenes.keys().next().value);
  }
  return scenes.get(at);
}

const FIELDS = "input, textarea, select, [contenteditable]";

const textOf = (row) => JSON.stringify(row?.place ?? null);

/** What the page draws of another row while the browser is ahead: nothing may be done there. */
const BEHIND = ["labels", "more-like", "step-through", "whole-run"].map((name) => `.st-key-${name}`).join(", ");

/** The tables of rows: the list alone, and the one beside an open case. */
const TABLES = [".st-key-alone", ".st-key-beside"].map((one) => `${one} [data-testid=stDataFrame]`).join(", ");

/** Milliseconds until a table that is sorted by a press on its head says so. */
const SORTED = 500;

/** The numbers of the head of a table and of the row that is marked as open, beside those of its rows from 0. */
const HEAD = -1, OPEN = -2;

let headPressed = -SORTED;

/** Whether the last key or press of the reader was a press on no row. */
let isRowless = false;

/** The number of the row of a table under the pointer, HEAD for its head, OPEN for the row with the mark, null for
 * none. The table is a canvas. What it tells screen readers has the number of its rows, and an arrow on the column by
 * which a reader sorted it: then the first column, which has no title, says which row is where. */
function rowAt({ target, clientX, clientY }) {
  const scroller = target.closest?.(".dvn-scroller"), grid = scroller?.closest(TABLES)?.querySelector("[role=grid]");
  if (!grid) return null;
  const { left, top } = scroller.getBoundingClientRect(), x = clientX - left, y = clientY - top;
  const whole = scroller.querySelector(".dvn-stack > :last-child").offsetHeight;
  const high = whole / grid.getAttribute("aria-rowcount");
  if (y < high) return HEAD;
  const isSorted = [...grid.querySelectorAll("th")].some((one) => /^[↑↓] /.test(one.textContent));
  const isOutside = x > scroller.clientWidth || y > scroller.clientHeight;
  if (isOutside || performance.now() - headPressed < SORTED) return null;
  const shown = Math.floor((y + scroller.scrollTop) / high) - 1;
  return isSorted ? sortedRow(grid, shown) : shown;
}

function sortedRow(grid, shown) {
  const column = [...grid.querySelectorAll("th")].findIndex((one) => !one.textContent.trim());
  const row = grid.querySelector(`[role=row][aria-rowindex="${shown + 2}"]`), text = row?.children[column]?.textContent;
  return text === "▶" ? OPEN : text ? Number(text) - 1 : null;
}

/** Whether a key led the focus into the list alone; also once that list was taken away. */
let isInList = false;

/** Note whether a key led to the list alone. A table that gets the focus selects its first cell, which opens a row:
 * keep it from that after a press that was on no row. */
function focused(event) {
  const isTable = event.target.closest?.(".st-key-alone [data-testid=data-grid-canvas]");
  isInList = Boolean(isTable) && event.target.matches(":focus-visible");
  if (isRowless && event.target.closest?.(TABLES)) event.stopImmediatePropagation();
}

/** Whether the browser shows a row beside a list from which the page has none open (lists.py). */
const showAhead = (isAhead) => document.documentElement.toggleAttribute("data-ahead", isAhead);

const isDrawn = () => document.querySelector("[data-test-script-state]")?.dataset.testScriptState === "notRunning";

/** A mouse chooses a row when it is pressed down, as the table does; a finger, which may scroll, when it is lifted. */
const POINTS = ["pointerdown", "click"];

class Steps {
  /** The row that is shown, null while the page shows it too. */
  wanted = null;
  /** The rows that were shown since the page showed the same, and the one that it showed then. */
  led = new Set();
  held = [];

  constructor(here) {
    this.here = here;
    this.press = (event) => this.#hold(event);
    this.point = (event) => this.#point(event);
    // After the stage's own listener, which takes its keys, and before those of the page.
    document.addEventListener("keydown", this.press, true);
    for (const kind of POINTS) addEventListener(kind, this.point, true);
    this.hover = (event) => this.#hover(event);
    addEventListener("pointermove", this.hover);
    addEventListener("focusin", focused, true);
    // The browser's *back* leads the page, which then leads the browser.
    this.back = () => { this.wanted = null; this.led.clear(); };
    addEventListener("popstate", this.back);
    this.#ahead();
  }

  get rows() { return this.here.data.listed; }
  get at() { return this.rows.findIndex((row) => textOf(row) === textOf(this.wanted ?? this.here.data.here)); }

  /** To the next row (1) or the previous one (-1); false where the page has to lead. */
  go(by) {
    if (!this.rows.length || this.at < 0) return false;
    const row = this.rows[this.at + by];
    if (!row) return true;
    this.#lead(row, by);
    this.#later(REST);
    return true;
  }

  /** Show this row, and promise that it is shown, or that only the page can show it. */
  #lead(row, by = 1) {
    this.wanted = row;
    this.led.add(textOf(this.here.data.here)).add(textOf(row));
    this.#place("pushState");
    this.#mark(true);
    return this.#show(row).then(() => this.#ahead(by));
  }

  #rowOf(number) {
    if (number === OPEN) return this.rows.find((one) => textOf(one) === textOf(this.here.data.here));
    return this.rows.find((one) => one.number === number);
  }

  /** The scene of a row on which the pointer rests is fetched ahead. */
  #hover(event) {
    clearTimeout(this.hovering);
    if (event.pointerType === "touch") return;
    this.hovering = setTimeout(() => {
      const row = this.#rowOf(rowAt(event));
      if (row) sceneAt(row.place).catch(() => {});
    }, HOVER);
  }

  /** To the row of the table that is pressed. Before any other press the page has to show the same row. */
  #point(event) {
    const { type, pointerType, button, ctrlKey, shiftKey, metaKey, altKey } = event, isDown = type === "pointerdown";
    const isPlain = !(button || ctrlKey || shiftKey || metaKey || altKey);
    const number = rowAt(event), isChosen = isPlain && isDown === (pointerType !== "touch");
    if (number === HEAD) headPressed = performance.now();
    if (isDown) isRowless = !this.#rowOf(number);
    const row = isChosen && this.#rowOf(number);
    if (row && textOf(row) !== textOf(this.wanted ?? this.here.data.here)) {
      const shown = this.#lead(row);
      this.#later(isDown ? REST : AGAIN);
      if (!isDown) return;
      // The table would tell the page later, when the reader may have gone on. Of a finger it has heard already.
      document.addEventListener("pointerdown", (same) => same.stopPropagation(), { once: true });
      // The page's script would keep the scene waiting.
      shown.then(() => { if (this.wanted === row) this.#tell(); });
    } else if (this.wanted && isDown && !row && !event.composedPath().includes(this.here.place)) this.#tell();
  }

  /** What the page handed in: whether it is drawn, since it shows the row that is wanted. */
  takes(data) {
    const listed = data.listed.some((row) => textOf(row) === textOf(this.wanted)), here = textOf(data.here);
    this.#settle();
    // A row to which the browser did not lead is one that the table named: there the page is right.
    if (this.wanted && listed && this.led.has(here) && here !== textOf(this.wanted)) {
      // The page has set the address to the row that it shows.
      this.#place();
      return false;
    }
    this.wanted = null;
    this.led.clear();
    clearTimeout(this.telling);
    return true;
  }

  end() {
    clearTimeout(this.telling);
    clearTimeout(this.hovering);
    clearInterval(this.settling);
    document.removeEventListener("keydown", this.press, true);
    for (const kind of POINTS) removeEventListener(kind, this.point, true);
    removeEventListener("pointermove", this.hover);
    removeEventListener("focusin", focused, true);
    removeEventListener("popstate", this.back);
    this.#mark(false);
    showAhead(false);
  }

  #place(how) {
    const [run, named, trial] = this.wanted.place;
    inAddress({ run, case: named, trial }, how);
  }

  async #show(row) {
    try {
      const scene = await sceneAt(row.place), [before] = this.here.scenes;
      // What the reader may not see as a whole is drawn by the page alone, which knows what they may do there.
      if (this.wanted !== row || scene.is_sealed) return;
      // What was judged of the case before is not said of this one.
      const judgements = before?.lab === scene.lab ? this.here.data.judgements : [];
      showAhead(true);
      this.here.draw([scene], { card: row.place[2], lead: row.lead, judged: {}, judgements, mode: "read" });
    } catch {
      // The page says why it cannot be shown.
      if (this.wanted === row) this.#tell();
    }
  }

  #ahead(by = 1) {
    const at = this.at;
    if (at < 0) return;
    const near = [at + by, at + 2 * by, at - by].map((next) => this.rows[next]).filter(Boolean);
    for (const row of near) sceneAt(row.place).catch(() => {});
  }

  #later(wait) {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => this.#tell(), wait);
  }

  #tell() {
    // A row with a key that was held back comes first, also if the reader has gone on since.
    const row = this.held[0]?.row ?? (this.wanted && textOf(this.wanted));
    if (!row) return;
    this.here.component.setTriggerValue("went", `row ${row}`);
    // A page that is being drawn may lose what it is told.
    this.#again();
  }

  /** Send the page its values again, once it is drawn: values that come earlier would start the drawing over. */
  #again() {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => (isDrawn() ? this.#tell() : this.#again()), AGAIN);
  }

  /** Keys of the page, such as those of labels, wait until it shows this row too. */
  #hold(event) {
    const { key, code, keyCode, ctrlKey, metaKey, altKey } = event;
    isRowless = false;
    if (!this.wanted || event.defaultPrevented || !event.isTrusted || key.length > 1) return;
    if (ctrlKey || metaKey || altKey || key === " " || event.composedPath()[0].closest?.(FIELDS)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.held.push({ key, code, keyCode, row: textOf(this.wanted), at: Date.now() });
    this.#tell();
  }

  /** Once the page is drawn to its end, the keys of its row are given to it. */
  #settle() {
    clearInterval(this.settling);
    this.settling = setInterval(() => {
      if (!isDrawn()) return;
      clearInterval(this.settling);
      this.#mark(false);
      this.#refocus();
      const here = textOf(this.here.data.here), since = Date.now() - GIVEN_UP;
      const held = this.held.filter((one) => one.row === here);
      this.held = this.held.filter((one) => one.row !== here && one.at > since);
      for (const { key, code, keyCode } of held)
        for (const kind of ["keydown", "keyup"])
          document.body.dispatchEvent(new KeyboardEvent(kind, { key, code, keyCode, bubbles: true, cancelable: true }));
      if (!this.wanted && !this.held.length) return;
      this.#mark(Boolean(this.wanted));
      // What a key did is drawn first.
      this.#later(held.length ? REST : 0);
    }, 40);
  }

  /** Give the focus of the list alone, which opened its first row, to the table beside the case once that is there. The
   * table then selects its first row, so the verdict gets it if a sorted list opened another row. */
  #refocus(left = 50) {
    if (!isInList || this.wanted || this.at < 0) return;
    const next = this.at ? this.here.place.querySelector("h3[tabindex]")
      : document.querySelector(".st-key-beside [data-testid=data-grid-canvas]");
    if (next && document.activeElement === document.body) next.focus({ preventScroll: true });
    else if (left) setTimeout(() => this.#refocus(left - 1), 40);
    else isInList = false;
  }

  #mark(isBehind) {
    for (const one of document.querySelectorAll(BEHIND)) {
      one.inert = isBehind;
      one.style.opacity = isBehind ? "0.35" : "";
    }
  }
}

const mounts = new WeakMap();
let opening = null, theirs = null;

/**
 * The stage as a component of Streamlit. `component.data` is what `stage.mount` takes, and besides: `follow`, for each
 * scene null or what goes on ({run, case, share, words, around, pace, note}, see mount.py), and `reader`, under whose
 * name guesses are kept. Streamlit calls this again with each drawing of the page.
 */
export async function mounted(component, version) {
  const place = component.parentElement.querySelector(".stage-place");
  const { follow: followed, ...data } = component.data;
  const known = mounts.get(place);
  if (known) {
    const end = ends(known);
    known.data = data;
    known.component = component;
    // A page that is drawn again at once calls before the stage is there.
    await known.begun;
    if (known.steps && !known.steps.takes(data)) return end;
    const isOther = namesOf(known.followed) !== namesOf(followed);
    known.followed = followed;
    const more = { ...data, lead: data.here?.lead, far: farOf(followed) };
    if (isOther || !known.hears?.()) known.draw(data.scenes, more);
    if (known.steps && !data.scenes.length) showAhead(false);
    arrive(place, data);
    if (isOther) hear(known);
    return end;
  }
  let begun;
  const here = { component, data, followed, place, calls: 0, begun: new Promise((done) => { begun = done; }) };
  const end = ends(here);
  // What was said before the page was reloaded may still be on its way, and the app's scene does not have it.
  const guessed = (scene) => withGuesses(scene, sayer(here).waiting, data.reader);
  if (data.mode !== "all") data.scenes = data.scenes.map(guessed);
  here.scenes = data.scenes;
  mounts.set(place, here);
  const from = (name) => new URL(`/stage/${version}/${name}`, location.origin).href;
  const { mount } = await import(from("stage.js"));
  const say = (what, more) => sayer(here).say({ what, run: here.scenes[0].run, case: here.scenes[0].case, ...more });
  const went = (what) => here.component.setTriggerValue("went", what);
  const does = {
    play: (on, value) => sayer(here).say(played(here.data.game.pack, on, value)),
    guess: (on, value, isWithout) =>
      say("guess", { trial: on, value, reader: here.data.reader, about: isWithout ? "without" : "" }),
    judge(on, [about, value]) {
      say("judge", { trial: on, about, value });
      // What else may be said of it stands on the page, which is drawn again once the keys rest.
      clearTimeout(here.resting);
      here.resting = setTimeout(() => sayer(here).afterwards(() => went("judged")), 1_500);
    },
    step(where) { if (where === "close" || !here.steps?.go(where === "next" ? 1 : -1)) went(where); },
    // The next step after the verdict is carried out by the page.
    ...Object.fromEntries(["predict", "real", "longer", "failures", "compare"].map((name) => [name, () => went(name)])),
    cancel: (on) => sayer(here).say({ what: "cancel", run: on }),
    case(on, left = 4) {
      opening = on;
      went(`case ${on}`);
      // A page that is being drawn loses what it is told.
      const again = () => opening === on && does.case(on, left - 1);
      if (left) setTimeout(again, 1_500);
    },
    open: (on) => location.assign(`/case?${new URLSearchParams({ run: on })}`),
    // The page knows the endpoints that were named in it, so it is not reloaded.
    fork: (on) => went(`fork ${on}`),
    // It has a field of its own on the page, under the stage.
    question: () => document.querySelector(".st-key-act-question :is(input, textarea)")?.focus(),
    // The address says where one is, so that a reload comes back to it.
    place: (at) => inAddress({ at: String(at + 1) }),
    mode(to) {
      if (data.series) return location.assign(data.series.leave), true;
      inAddress(to === "tell" ? { present: "1" } : { present: "", at: "" });
      // What stands around a case that was guessed comes with the page, which knows of a guess once it is kept.
      if (here.data.mode === "guess") sayer(here).afterwards(() => went("guessed"));
    },
  };
  here.stage = mount(place, {
    ...data, lead: data.here?.lead, far: farOf(followed), evidence, keys: data.mode !== "all",
    library: from("preact.js"),
    act: (name, ...said) => does[name]?.(...said),
  });
  here.draw = (scenes, { scenes: _, ...more } = {}) => here.stage.update((here.scenes = scenes), more);
  here.end = () => {
    clearTimeout(here.resting);
    here.steps?.end();
    here.stop?.();
    here.stage.unmount();
    mounts.delete(place);
  };
  await here.stage.ready;
  if (data.steps) here.steps = new Steps(here);
  hear(here);
  begun();
  return end;
}

/** How this call of `mounted` ends. Streamlit ends each that another came after as soon as it has answered, also while
 * the stage is being loaded: only the last ends the stage. */
function ends(here) {
  const call = (here.calls += 1);
  return () => { if (call === here.calls) here.end(); };
}

/** Who chose a case among all has it before their eyes, and the focus on its verdict. */
function arrive(place, { mode, scenes }) {
  if (opening === null || mode === "all" || scenes[0].case !== opening) return;
  opening = null;
  requestAnimationFrame(() => place.querySelector("h3[tabindex]")?.focus());
}

const namesOf = (followed) => JSON.stringify(followed.map((one) => one && [one.run, one.case]));
// Nothing is said of a run that does not go on, though its end is still to come.
const farOf = (followed) => Object.fromEntries(followed.filter((one) => one?.words).map((one) => [one.run, one]));

/** Hear what goes on, or nothing more. The page is drawn again at the end, with what can be done then; and while it
 * goes on where more is to be seen around the case. Both are asked for until they came, since what a component says
 * can get lost. */
function hear(here) {
  here.stop?.();
  const told = new Map(), over = new Set(), going = here.followed.filter(Boolean);
  let waiting = 0, asked = 0;
  here.hears = () => going.some((one) => !over.has(one.run));
  const isOther = (one) => told.has(one?.run) && told.get(one.run).around !== one.around;
  const isNews = () => !here.hears() || here.followed.some(isOther);
  const ask = () => {
    waiting = 0;
    if (!isNews()) return;
    asked = Date.now();
    here.component.setTriggerValue("went", "news");
    news();
  };
  const farNow = () => farOf(going.map((one) => !over.has(one.run) && (told.get(one.run) ?? one)));
  const pace = 1_000 * Math.max(0, ...going.map((one) => one.pace));
  const news = () => { waiting ||= isNews() ? setTimeout(ask, Math.max(0, asked + pace - Date.now())) : 0; };
  const changed = (at, made) => here.scenes.map((now, place) => (place === at ? made(now) : now));
  const stops = here.followed.map((one, at) => one && follow(
    one.run, one.case,
    // What may be done with it the page knows.
    (scene) => here.draw(changed(at, ({ actions }) => ({ ...scene, actions }))),
    (far) => {
      told.set(one.run, { ...one, ...far });
      here.draw(here.scenes, { far: farNow() });
      news();
    },
    () => {
      over.add(one.run);
      // The others may go on for long, and the page is drawn again once all are over.
      if (here.hears()) here.draw(changed(at, (now) => ({ ...now, actions: [] })), { far: farNow() });
      news();
    },
  ));
  here.stop = () => { clearTimeout(waiting); stops.forEach((stop) => stop?.()); };
}

function withGuesses(scene, waiting, reader) {
  const isOfCase = (one) => one.run === scene.run && one.case === scene.case;
  const mine = waiting.filter((one) => one.what === "guess" && one.reader === reader && isOfCase(one));
  const guesses = new Map(mine.map((one) => [one.trial, one.value]));
  return { ...scene, cards: scene.cards.map((card) => ({ ...card, guess: guesses.get(card.id) ?? card.guess })) };
}

function sayer(here) {
  const one = (theirs ??= new Sayer());
  one.opened = (all) => {
    for (const { run, case: named, news } of all) {
      const is = (scene) => scene.run === run && scene.case === named;
      if (here.scenes.some(is)) here.draw?.(here.scenes.map((scene) => (is(scene) ? merged(scene, news) : scene)));
    }
  };
  one.told = (kept, of, why) => {
    const far = `saved ${kept} of ${of}`;
    // The person who plays is not told how far that is kept.
    if (here.data.mode !== "play") here.draw?.(here.scenes, { saved: why ? `${why} (${far})` : far });
  };
  return one;
}

/** Set these in the page's address, without asking the server; what is empty is taken out. */
function inAddress(named, how = "replaceState") {
  const now = new URL(location.href);
  // Given a value, `delete` takes only what has that value.
  for (const [name, value] of Object.entries(named)) {
    if (value) now.searchParams.set(name, value);
    else now.searchParams.delete(name);
  }
  history[how](history.state, "", now);
}
