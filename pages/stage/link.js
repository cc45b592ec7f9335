// What ties the stage to the app: a case as it goes on comes by server-sent events, what stands behind it when it is
// opened, and what a person says leaves in batches, each thing said until the app has it.

const address = (what, run, scene) => `/${what}/${encodeURIComponent(run)}/${encodeURIComponent(scene)}`;

/** Hear a case as it goes on: `draw(scene)` with each change, `over()` at the end. Returns how to stop. */
export function follow(run, named, draw, over, lost = () => {}) {
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
    lost(false);
  });
  source.addEventListener("over", () => { source.close(); over(); });
  // The browser asks again by itself, and is then told the whole.
  source.onerror = () => lost(true);
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
