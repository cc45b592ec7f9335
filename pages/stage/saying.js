// What a person says on the stage leaves in batches, each thing said until the app has it.

/**
 * What a person says of runs: kept in the browser until the app has acknowledged it, one batch under way, said again
 * after a lost connection and after the page was loaded anew. `told(kept, of, refused)` says how far that is; `opened`
 * is given what comes of a sealed run with the acknowledgement.
 */
export class Sayer {
  opened = () => {};

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
    const batch = this.waiting.slice(0, 100), headers = { "content-type": "application/json" };
    try {
      const reply = await fetch("/said", { method: "POST", body: JSON.stringify({ said: batch }), headers });
      if (!reply.ok && reply.status !== 400) throw new Error(reply.status);
      const { kept = [], refused = {}, why = "", opened = [] } = await reply.json();
      const heard = new Set(reply.ok ? [...kept, ...Object.keys(refused)] : batch.map((one) => one.id));
      this.waiting = this.waiting.filter((one) => !heard.has(one.id));
      this.kept += kept.length;
      this.#write();
      this.told(this.kept, this.said, Object.values(refused)[0] ?? why);
      this.opened(opened);
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

/** A guess of a card of a pack, as it is said: places are counted from 1. */
export const played = (pack, place, value) => ({ what: "play", pack: pack.name, place: place + 1, value });
