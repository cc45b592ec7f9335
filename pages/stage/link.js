// What ties the stage to the app: a case as it goes on comes by server-sent events, what stands behind it when it is
// opened, and what a person says leaves in batches, each thing said until the app has it.

const address = (what, run, scene) => `/${what}/${encodeURIComponent(run)}/${encodeURIComponent(scene)}`;

/** Hear a case as it goes on: `draw(scene)` with each change, `far(how)` its run is, `over()` at the end. Returns how to
 * stop. */
export function follow(run, named, draw, far, over) {
  let scene = null;
  const source = new EventSource(address("told", run, named));
  source.addEventListener("scene", (event) => draw((scene = JSON.parse(event.data))));
  source.addEventListener("changed", (event) => {
    const { cards, ...news } = JSON.parse(event.data);
    scene = { ...scene, ...news };
    if (cards) {
      const fresh = new Map(cards.map((card) => [card.id, card]));
      const kept = scene.cards.map((card) => fresh.get(card.id) ?? card);
      const known = new Set(scene.cards.map((card) => card.id));
      scene.cards = [...kept, ...cards.filter((card) => !known.has(card.id))].sort((one, other) => one.number - other.number);
    }
    draw(scene);
  });
  source.addEventListener("far", (event) => far(JSON.parse(event.data)));
  source.addEventListener("over", () => { source.close(); over(); });
  // Of a lost connection the browser asks again by itself, and is then told the whole; not where it was refused.
  source.onerror = () => { if (source.readyState === EventSource.CLOSED) over(); };
  return () => source.close();
}

/** What stands behind a scene, as the stage shows it. */
export async function evidence(scene) {
  const reply = await fetch(address("evidence", scene.run, scene.case));
  if (!reply.ok) throw new Error((await reply.json()).why);
  return reply.json();
}

/**
 * What a person says of runs: kept in the browser until the app has acknowledged it, one batch under way, said again
 * after a lost connection and after the page was loaded anew. `told(kept, of, refused)` says how far that is.
 */
export class Sayer {
  constructor(told = () => {}, store = globalThis.localStorage, wait = 1_000) {
    Object.assign(this, { told, store, wait, kept: 0, said: 0, underWay: false });
    this.waiting = this.#read();
    this.said = this.waiting.length;
    if (this.waiting.length) this.#send();
  }

  say(saying) {
    const id = globalThis.crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
    this.waiting.push({ id, ...saying });
    this.said += 1;
    this.#write();
    this.told(this.kept, this.said, "");
    this.#send();
  }

  /** Do this once the app has all that was said. */
  afterwards(does) {
    if (this.waiting.length) this.then = does;
    else does();
  }

  async #send() {
    if (this.underWay || !this.waiting.length) return;
    this.underWay = true;
    const batch = this.waiting.slice(0, 100);
    try {
      const reply = await fetch("/said", { method: "POST", body: JSON.stringify({ said: batch }), headers: { "content-type": "application/json" } });
      if (!reply.ok && reply.status !== 400) throw new Error(reply.status);
      const { kept = [], refused = {}, why = "" } = await reply.json();
      const heard = new Set(reply.ok ? [...kept, ...Object.keys(refused)] : batch.map((one) => one.id));
      this.waiting = this.waiting.filter((one) => !heard.has(one.id));
      this.kept += kept.length;
      this.#write();
      this.told(this.kept, this.said, Object.values(refused)[0] ?? why);
      this.underWay = false;
      const then = this.waiting.length ? null : this.then;
      if (then) this.then = null;
      then?.();
      this.#send();
    } catch {
      this.told(this.kept, this.said, "not saved yet: there is no connection");
      setTimeout(() => { this.underWay = false; this.#send(); }, this.wait);
    }
  }

  #read() {
    try { return JSON.parse(this.store.getItem("said")) ?? []; } catch { return []; }
  }

  #write() {
    try { this.store.setItem("said", JSON.stringify(this.waiting)); } catch { /* a browser that keeps nothing */ }
  }
}

const mounts = new WeakMap();
const theirs = new Map();

/**
 * The stage as a component of Streamlit. `component.data` is what `stage.mount` takes, and besides: `follow`, for each
 * scene null or what goes on ({run, case, share, words, around, pace, note}, see mount.py), and `reader`, under whose name
 * guesses are kept. Streamlit calls this again with each drawing of the page.
 */
export async function mounted(component, version) {
  const place = component.parentElement.querySelector(".stage-place");
  const { follow: followed, ...data } = component.data;
  const known = mounts.get(place);
  if (known) {
    known.data = data;
    known.component = component;
    const isOther = namesOf(known.followed) !== namesOf(followed);
    known.followed = followed;
    if (isOther || !known.hears?.()) known.draw?.(data.scenes, { ...data, far: farOf(followed) });
    if (isOther) hear(known);
    return known.end;
  }
  const here = { component, data, followed };
  // What was said before the page was loaded anew may still be on its way, and the app's scene does not have it.
  data.scenes = here.scenes = data.scenes.map((scene) => withGuesses(scene, sayer(here).waiting, data.reader));
  mounts.set(place, here);
  const from = (name) => new URL(`/stage/${name}?v=${version}`, location.origin).href;
  const { mount } = await import(from("stage.js"));
  const scene = () => here.scenes[0];
  const does = {
    guess: (on, value) => sayer(here).say({ what: "guess", run: scene().run, case: scene().case, trial: on, value, reader: here.data.reader }),
    judge(on, [about, value]) {
      sayer(here).say({ what: "judge", run: scene().run, case: scene().case, trial: on, about, value });
      // What else may be said of it stands on the page, which is drawn anew once the keys rest.
      clearTimeout(here.resting);
      here.resting = setTimeout(() => sayer(here).afterwards(() => here.component.setTriggerValue("went", "judged")), 1_500);
    },
    step: (on) => here.component.setTriggerValue("went", on),
    cancel: (on) => sayer(here).say({ what: "cancel", run: on }),
    open: (on) => location.assign(`/case?${new URLSearchParams({ run: on })}`),
    // The page knows the endpoints that were named in it, so it is not loaded anew.
    fork: (on) => here.component.setTriggerValue("went", `fork ${on}`),
    // The address says where one is, so that a reload comes back to it.
    place: (at) => inAddress({ at: String(at + 1) }),
    mode(to) {
      if (data.series) return location.assign(data.series.leave), true;
      inAddress(to === "tell" ? { present: "1" } : { present: "", at: "" });
      // What stands around a case that was guessed comes with the page, which knows of a guess once it is kept.
      if (here.data.mode === "guess") sayer(here).afterwards(() => here.component.setTriggerValue("went", "guessed"));
    },
  };
  // These have a field of their own on the page, under the stage.
  for (const name of ["question", "input", "draw"]) does[name] = () => field(name)?.focus();
  here.stage = mount(place, {
    ...data, far: farOf(followed), evidence, library: from("preact.js"),
    act: (name, on, value) => does[name]?.(on, value),
  });
  here.draw = (scenes, { scenes: _, ...more } = {}) => here.stage.update((here.scenes = scenes), more);
  here.end = () => { clearTimeout(here.resting); here.stop?.(); here.stage.unmount(); mounts.delete(place); };
  await here.stage.ready;
  hear(here);
  return here.end;
}

const namesOf = (followed) => JSON.stringify(followed.map((one) => one && [one.run, one.case]));
const farOf = (followed) => Object.fromEntries(followed.filter(Boolean).map((one) => [one.run, one]));

/** Hear what goes on, or nothing more. The page is drawn anew at the end, with what can be done then; and while it goes
 * on where more is to be seen around the case. Both is asked for until it came: what a component says can get lost. */
function hear(here) {
  here.stop?.();
  const told = new Map(), over = new Set(), going = here.followed.filter(Boolean);
  let waiting = 0, asked = 0;
  here.hears = () => going.some((one) => !over.has(one.run));
  const isNews = () => !here.hears() || here.followed.some((one) => told.has(one?.run) && told.get(one.run).around !== one.around);
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
  const stops = here.followed.map((one, at) => one && follow(
    one.run, one.case,
    // What may be done with it the page knows.
    (scene) => here.draw(here.scenes.map((now, place) => (place === at ? { ...scene, actions: now.actions } : now))),
    (far) => {
      told.set(one.run, { ...one, ...far });
      here.draw(here.scenes, { far: farNow() });
      news();
    },
    () => {
      over.add(one.run);
      // The others may go on for long, and the page is drawn anew once all are over.
      if (here.hears()) here.draw(here.scenes.map((now, place) => (place === at ? { ...now, actions: [] } : now)), { far: farNow() });
      news();
    },
  ));
  here.stop = () => { clearTimeout(waiting); stops.forEach((stop) => stop?.()); };
}

function withGuesses(scene, waiting, reader) {
  const mine = waiting.filter((one) => one.what === "guess" && one.run === scene.run && one.case === scene.case && one.reader === reader);
  const guesses = new Map(mine.map((one) => [one.trial, one.value]));
  return { ...scene, cards: scene.cards.map((card) => ({ ...card, guess: guesses.get(card.id) ?? card.guess })) };
}

const field = (name) => document.querySelector(`.st-key-act-${name} :is(input, textarea, button)`);

function sayer(here) {
  if (!theirs.has("sayer")) theirs.set("sayer", new Sayer());
  const one = theirs.get("sayer");
  one.told = (kept, of, why) => here.draw?.(here.scenes, { saved: why ? `${why} (saved ${kept} of ${of})` : `saved ${kept} of ${of}` });
  return one;
}

/** Set these in the page's address, without asking the server; what is empty is taken out. */
function inAddress(named) {
  const now = new URL(location.href);
  for (const [name, value] of Object.entries(named)) value ? now.searchParams.set(name, value) : now.searchParams.delete(name);
  history.replaceState(history.state, "", now);
}
