// What a person says on the stage leaves in batches, each thing said until the app has it.

/** Things said in a batch, as many as the app takes (routes.py). */
const MOST = 20;

/**
 * What a person says of runs: kept in the browser until the app has acknowledged it, one batch under way, said again
 * after a lost connection and after the page was reloaded. `told(kept, of, refused)` says how far that is; `opened`
 * is given the result of a sealed run with the acknowledgement.
 */
export class Sayer {
  opened = () => {};

  constructor(told = () => {}, store = globalThis.localStorage, wait = 1_000) {
    Object.assign(this, { told, store, wait, most: MOST, kept: 0, said: 0, underWay: false });
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
    const batch = this.waiting.slice(0, this.most), headers = { "content-type": "application/json" };
    try {
      const reply = await fetch("/said", { method: "POST", body: JSON.stringify({ said: batch }), headers });
      const { kept = [], refused = {}, why = "", opened = [] } = await reply.json().catch((fault) => {
        if (reply.ok) throw fault;
        return {};
      });
      if (reply.status === 403 && why) {
        // This browser sends no cookies: nothing of it is kept before the page is loaded again.
        this.underWay = false;
        this.told(this.kept, this.said, why);
        return;
      }
      const isTooLong = reply.status === 413 && batch.length > 1;
      if (isTooLong) this.most = 1;
      else if (!reply.ok && ![400, 413].includes(reply.status)) throw new Error(why || "no connection");
      const heard = new Set(reply.ok ? [...kept, ...Object.keys(refused)] : isTooLong ? [] : batch.map(({ id }) => id));
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
    } catch ({ name, message }) {
      const why = name === "Error" ? message : "no connection";
      this.told(this.kept, this.said, `not saved yet: ${why}`);
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
