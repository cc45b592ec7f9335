// Draw what you think a function of numbers is: ask it for single values, each of which costs a life, draw its curve by
// pointer, finger or keys; at the end the truth is wiped in, and then what others drew. A component of Streamlit, which
// calls it again with each drawing of the page; everything that is typed or computed elsewhere becomes text nodes.

const SVG = "http://www.w3.org/2000/svg";
const PLACES = 9; // that keys move, of the points of a curve
const PATIENCE = 8_000; // milliseconds that an answer is waited for before another call may be made

const known = new WeakMap();

export default (component) => {
  const root = component.parentElement.querySelector(".draw");
  if (!known.has(root)) known.set(root, new Drawing(root));
  known.get(root).take(component);
};

function made(tag, className = "", ...children) {
  const one = document.createElement(tag);
  one.className = className;
  one.append(...children);
  return one;
}

const limited = (value, low, high) => Math.min(high, Math.max(low, value));
const written = (value) => String(Number(value.toPrecision(4)));

/** A few round numbers between two ends. */
function ticks(low, high) {
  const least = (high - low) / 5, unit = 10 ** Math.floor(Math.log10(least));
  const step = unit * ([1, 2, 5].find((one) => one * unit >= least) ?? 10), first = Math.ceil(low / step);
  return Array.from({ length: limited(Math.floor(high / step) - first + 1, 0, 9) }, (_, n) => (first + n) * step);
}

/** The value of a line through these points at x, level beyond its ends; 0 where there is none. */
function between(points, x) {
  const next = points.findIndex((one) => one.x >= x);
  if (next <= 0) return points.length ? points.at(next).y : 0;
  const a = points[next - 1], b = points[next];
  return a.y + ((x - a.x) / (b.x - a.x)) * (b.y - a.y);
}

class Drawing {
  constructor(root) {
    this.isDrawing = false;
    this.cursor = 0; // x that keys ask for
    this.place = 4; // of the places that keys move
    this.ys = null; // the curve, once something of it was drawn
    this.lives = made("span", "lives");
    this.modes = [["Ask", false], ["Draw", true]].map(([words, isDrawing]) => {
      const button = made("button", "plain", words);
      button.onclick = () => { this.isDrawing = isDrawing; this.plane.focus({ preventScroll: true }); this.draw(); };
      return button;
    });
    this.plane = Object.assign(made("div", "plane"), { tabIndex: 0, role: "application" });
    this.hint = made("p", "small");
    this.done = made("button", "primary", "Submit");
    this.done.onclick = () => this.conclude();
    this.said = Object.assign(made("p", "small said-of"), { role: "status" });
    this.head = made("header", "", this.lives, made("nav", "", ...this.modes));
    this.foot = made("footer", "", this.said, this.done);
    root.replaceChildren(this.head, this.plane, this.hint, this.foot);
    this.plane.onkeydown = (event) => this.press(event);
    this.plane.onpointerdown = (event) => this.begin(event);
    this.plane.onpointermove = (event) => this.move(event);
    this.plane.onpointerup = this.plane.onpointercancel = () => { this.last = null; this.draw(); };
    this.plane.onpointerleave = () => { this.over = null; this.draw(); };
    this.plane.onclick = (event) => { if (!this.isDrawing) this.ask(this.at(event).x); };
  }

  /** What the page hands in: points, how many calls were made and are left, the ends of x; at the end the curves. */
  take(component) {
    const before = this.data;
    Object.assign(this, { component, data: component.data });
    const { calls, left, points, run } = this.data;
    if (before && before.run !== run) Object.assign(this, { ys: null, isDrawing: false, pending: null });
    if (!before || before.calls !== calls) {
      this.pending = null;
      const last = points.at(-1);
      const isNumber = last?.number === calls;
      if (before && last) this.say(isNumber ? `f(${last.x}) = ${written(last.y)}` : "It gave no number there.");
    }
    if (!left) this.isDrawing = true;
    this.draw();
  }

  say(words) { this.said.textContent = words; }

  get xs() { return this.data.x_ends; }
  get steps() { return this.data.points_of_a_curve - 1; }
  get step() { return (this.xs[1] - this.xs[0]) / this.steps; }
  x(place) { return this.xs[0] + place * this.step; }

  /** What was drawn; before that a line through what was asked. */
  get curve() {
    const points = [...this.data.points].sort((one, other) => one.x - other.x);
    return this.ys ?? Array.from({ length: this.steps + 1 }, (_, place) => between(points, this.x(place)));
  }

  /** The ends of y leave room above and below what is known; they stay while something is drawn. */
  get ends() {
    if (this.data.y_ends) return this.data.y_ends;
    if (this.last && this.held) return this.held;
    const values = [...this.data.points.map((one) => one.y), ...(this.ys ?? [])];
    const low = values.length ? Math.min(...values) : -1, high = values.length ? Math.max(...values) : 1;
    const room = 0.4 * (high - low || Math.abs(high) || 1);
    return (this.held = [low - room, high + room]);
  }

  across(x) { return (100 * (x - this.xs[0])) / (this.xs[1] - this.xs[0]); }
  down(y) { const [low, high] = this.ends; return limited(100 - (100 * (y - low)) / (high - low), -1e4, 1e4); }

  at(event) {
    const box = this.plane.getBoundingClientRect(), [low, high] = this.ends;
    const x = this.xs[0] + limited((event.clientX - box.left) / box.width, 0, 1) * (this.xs[1] - this.xs[0]);
    return { x: Math.round(x), y: high - limited((event.clientY - box.top) / box.height, 0, 1) * (high - low) };
  }

  ask(x) {
    if (this.data.is_over || this.pending != null || !this.data.left) return;
    this.pending = this.cursor = x;
    this.say(`f(${x}) is asked …`);
    this.component.setTriggerValue("asked", x);
    // What was refused brings no answer; the page says why.
    setTimeout(() => { if (this.pending === x) { this.pending = null; this.draw(); } }, PATIENCE);
    this.draw();
  }

  begin(event) {
    if (!this.isDrawing || this.data.is_over) return;
    this.plane.setPointerCapture(event.pointerId);
    this.ends;
    this.last = this.at(event);
    this.stroke(this.last);
  }

  move(event) {
    if (this.data.is_over) return;
    this.over = this.at(event);
    if (this.last) this.stroke(this.over);
    else if (!this.isDrawing) this.draw();
  }

  /** From the last place of the pointer to this one: each point of the curve on the way lies on it. */
  stroke(to) {
    const [from, end] = this.last.x <= to.x ? [this.last, to] : [to, this.last];
    this.ys = this.curve.map((y, place) => {
      const x = this.x(place);
      return x < from.x || x > end.x ? y : from.x === end.x ? to.y : between([from, end], x);
    });
    this.ys[Math.round((to.x - this.xs[0]) / this.step)] = to.y;
    this.last = to;
    this.draw();
  }

  /** A place of the curve up or down, and less so the points on its way to the next places. */
  lift(by) {
    const wide = this.steps / (PLACES - 1), [low, high] = this.ends, most = by * (high - low) / 40;
    const share = (place) => Math.max(0, 1 - Math.abs(place - this.place * wide) / wide);
    this.ys = this.curve.map((y, place) => y + most * share(place));
  }

  press(event) {
    const does = this.data.is_over ? {} : this.isDrawing ? {
      ArrowLeft: () => { this.place = Math.max(0, this.place - 1); },
      ArrowRight: () => { this.place = Math.min(PLACES - 1, this.place + 1); },
      ArrowUp: () => this.lift(event.shiftKey ? 5 : 1), ArrowDown: () => this.lift(event.shiftKey ? -5 : -1),
    } : {
      ArrowLeft: () => { this.cursor = Math.max(this.xs[0], this.cursor - (event.shiftKey ? 10 : 1)); },
      ArrowRight: () => { this.cursor = Math.min(this.xs[1], this.cursor + (event.shiftKey ? 10 : 1)); },
      Enter: () => this.ask(this.cursor),
    };
    if (!does[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.over = null;
    does[event.key]();
    const at = Math.round(this.place * this.steps / (PLACES - 1));
    if (this.isDrawing) this.say(`x = ${written(this.x(at))}: ${written(this.curve[at])}`);
    else if (event.key !== "Enter") this.say(`x = ${this.cursor}: Enter asks`);
    this.draw();
  }

  conclude() {
    this.done.disabled = true;
    setTimeout(() => { this.done.disabled = false; }, PATIENCE);
    this.component.setTriggerValue("drawn", this.curve.map((y) => Number(y.toPrecision(5))));
  }

  draw() {
    const { points, calls, left, is_over: isOver, curves = [], sketches = [] } = this.data;
    const lives = Array.from({ length: Math.min(20, calls + left) }, (_, n) => made("i", n < left ? "" : "gone"));
    this.lives.replaceChildren(...lives, ` ${left} ${left === 1 ? "call" : "calls"} left`);
    this.modes.forEach((button, n) => button.setAttribute("aria-pressed", String(Boolean(n) === this.isDrawing)));
    this.modes[0].disabled = !left;
    for (const one of [this.head, this.hint, this.foot]) one.hidden = isOver;
    this.hint.textContent = this.isDrawing
      ? "Draw over the chart. By keys: ← → choose a place, ↑ ↓ move it."
      : "Click where you want to know its value. By keys: ← → and Enter.";
    this.plane.parentElement.classList.toggle("is-over", isOver);
    this.plane.classList.toggle("is-drawing", this.isDrawing && !isOver);
    const asked = points.map((one) => `f(${one.x}) = ${written(one.y)}`).join(", ") || "nothing yet";
    this.plane.setAttribute("role", isOver ? "img" : "application");
    this.plane.setAttribute("aria-label", isOver && curves.length
      ? curves.map((one) => one.label).join(", ") : `A chart of what was asked: ${asked}`);
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 100 100");
    svg.setAttribute("preserveAspectRatio", "none");
    const mine = this.curve.map((y, place) => [this.x(place), y]);
    const drawn = isOver
      ? curves.filter((one) => one.x.length).map((one) => [one.kind, one.x.map((x, n) => [x, one.y[n]])])
      : this.isDrawing || this.ys ? [["claim", mine]] : [];
    for (const ys of sketches) svg.append(this.path("sketch", ys.map((y, place) => [this.x(place), y]), 0));
    drawn.forEach(([kind, line], nth) => svg.append(this.path(kind, line, nth)));
    const dot = (x, y, look) => {
      const one = made("i", look);
      one.style.cssText = `left:${this.across(x)}%;top:${this.down(y)}%`;
      return one;
    };
    const shown = points.map((one) => dot(one.x, one.y, "point"));
    if (!isOver && this.isDrawing) {
      const wide = this.steps / (PLACES - 1);
      const handles = Array.from({ length: PLACES }, (_, n) => mine[n * wide]);
      shown.push(...handles.map(([x, y], n) => dot(x, y, n === this.place ? "handle is-on" : "handle")));
    } else if (!isOver) {
      const x = this.pending ?? this.over?.x ?? this.cursor;
      const line = made("b", this.pending != null ? "hair is-asked" : "hair", String(x));
      line.style.left = `${this.across(x)}%`;
      shown.push(line);
    }
    const named = (values, look, side, where) => values.map((value) => {
      const one = made("span", `tick ${look}`, written(value));
      one.style[side] = `${where(value)}%`;
      return one;
    });
    const [low, high] = this.ends;
    this.plane.replaceChildren(svg, ...shown, ...named(ticks(...this.xs), "along", "left", (x) => this.across(x)),
      ...named(ticks(low, high), "up", "top", (y) => this.down(y)));
    this.legend(isOver ? curves : []);
  }

  path(kind, line, nth) {
    const one = document.createElementNS(SVG, "path");
    let isOn = false, found = "";
    for (const [x, y] of line) {
      if (y != null) found += `${isOn ? "L" : "M"}${this.across(x).toFixed(2)} ${this.down(y).toFixed(2)}`;
      isOn = y != null;
    }
    for (const [name, value] of [["d", found], ["class", `line-${kind}`]]) one.setAttribute(name, value);
    one.style.setProperty("--nth", nth);
    return one;
  }

  legend(curves) {
    this.keys?.remove();
    this.keys = made("p", "legend", ...curves.map((one) => made("span", `key-${one.kind}`, one.label)));
    if (curves.length) this.plane.after(this.keys);
  }
}
