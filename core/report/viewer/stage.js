// The stage draws a scene (core/scene.py) in six ways: read, tell, guess, beside, tried, far; of a run of several cases
// what they came to: all; and plays a pack of cards (game.js). It asks no server for anything but what its caller hands
// in, and what models and people wrote becomes text nodes, never markup.
//
// On Preact and htm: a scene comes again and again while a run goes on, and what a reader has opened, typed or focused
// must stay. The library is handed in, as a module or as its address: the same file serves an app and a page on a disk.

import {
  html, render, useState, useEffect, useLayoutEffect, useMemo, useRef, against, came, cameSoFar, capital, classOf,
  counted, cut, cutText, drawWith, isGoing, isOpen, isPredictable, joined, lengthOf, nameOf, revealed, sizeOf,
  standing, titleOf, useKeys, wordOf, ACTIONS, Actions, Bars, Button, Calls, Ending, Face, Fetched, Fold, MANY,
  Marked, Options, Panel, Panels, Sign, STATES, Text, Tiles,
} from "./parts.js";
import { Guess, Play } from "./game.js";

/** What a stage has where its caller says nothing of it. */
const GIVEN = { mode: "read", scenes: [], act() {}, judgements: [], judged: {}, card: "", far: {} };

/**
 * Draw scenes into an element.
 *
 * - `mode`: read, tell, guess, play, beside, tried (beside a form: only what was tried so far), far (beside a list:
 *   only how far each is), or all. `scenes`: a list of one scene, of several for *beside* and *far*, or for *all* of
 *   the scene of a run.
 * - `library`: Preact's module with htm (`html`, `render`, hooks), or the address of one.
 * - `evidence`: what stands behind the scenes, `{calls: {id: {title, parts: [{label, text}]}}}`, or a function of a
 *   scene that promises it; asked when it is first opened.
 * - `act(name, on, value)`: called when a person does something: the names of a scene's actions, and *guess*, *bet*,
 *   *judge* (on: a card, value: [name, word]), *place* (on: a screen of the telling), *open* (on: another run),
 *   *case* (on: another case of the run), *mode*. Where it returns true for *mode*, the caller changes it.
 * - `rows`: of *beside* which cards meet: of each row their ids in the scenes' order, null where there is none, and in
 *   words what differs there. `names`: who is who, where a letter does not tell.
 * - `keys: false`: listen to no keys. `place`: the screen a telling begins at.
 * - `judgements`: what may be judged of a card by keys: [name, what it is called, good word, bad word] each;
 *   `judged` what was, by card and name. `card`: the one that is open at first.
 * - `steps`: J, K and Esc lead from row to row of a list beside it, and back (*step*).
 * - `lead`: lines above a case that was opened from a list: first what was asked.
 * - `saved`: how far what was said is kept, in words.
 * - `far`: of runs that go on, by name, the `share` that is done, how far that is in `words`, and in a `note` who can
 *   stop it.
 * - `game`: of *play*, which needs no scenes: `pack` (core/report/game/pack.py), `seed` by which its cards are drawn,
 *   `guessed` what all players guessed of it (core/runs/labels.py), `isInline` where it stands within a page,
 *   `isInApp` where there is an app to go on in. It calls
 *   `act("play", place in the pack, word)`, and *seed* when others are drawn.
 * - `series`: *tell* several scenes one after another, and end on `{head, headline, words, links: [[words, address]],
 *   foot}`; `whole` has for each scene the address of all of it.
 *
 * Returns `update(scenes, options)`, `unmount()` and `ready`, a promise of the first drawing.
 */
export function mount(element, options) {
  const root = document.createElement("div");
  root.className = "stage";
  element.append(root);
  const stage = { ...GIVEN, ...options, root, listening: [] };
  let isGone = false;
  const draw = () => { if (!isGone && html) render(html`<${Stage} stage=${stage} />`, root); };
  const press = (event) => pressed(event, stage.listening);
  if (stage.keys !== false) document.addEventListener("keydown", press, true);
  const take = (module) => {
    drawWith(module);
    draw();
  };
  const { library } = stage;
  const ready = typeof library === "string" ? import(library).then(take) : Promise.resolve(take(library));
  return {
    ready,
    update(scenes, more = {}) {
      Object.assign(stage, more, { scenes });
      draw();
    },
    unmount() {
      isGone = true;
      document.removeEventListener("keydown", press, true);
      if (render) render(null, root);
      root.remove();
    },
  };
}

// ---------------------------------------------------------------------------------------------------------- Keys

const FIELDS = "input, textarea, select, [contenteditable], [role=textbox], [role=combobox], [role=dialog], dialog, " +
  "[role=menu], [role=listbox], [role=slider], [role=tablist], [role=radiogroup]";

// One listener on the document, ahead of others: a list beside the stage that has the focus would keep the keys. It is
// silent wherever a key means something else.
function pressed(event, listening) {
  const at = event.composedPath()[0];
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (at.closest?.(FIELDS)) return;
  if ([" ", "Enter"].includes(event.key) && at.closest?.("button, a[href], summary")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const does = listening.map((one) => one.current[key]).find(Boolean);
  if (!does) return;
  event.preventDefault();
  event.stopPropagation();
  does(event);
}

/** Keys 1 to 9, each of which does this with its number. */
const byNumber = (does) => Object.fromEntries(Array.from({ length: 9 }, (_, at) => [at + 1, () => does(at + 1)]));

// --------------------------------------------------------------------------------------------------------- Words

const MEANING = "What this says, and what it does not";

/** "A", "B" or "C": a name would give away how the story ends. */
const nameIn = ({ who }, at) => who?.is_robot ? `Robot ${"ABCDEFGH"[at] ?? "A"}` : capital(who?.shown || "The model");

/** What shows the rest of a list, where not all of it is shown. */
const More = ({ shown, all, one, open }) => shown < all
  && html`<${Button} does=${() => open(true)} words=${`Show all ${counted(all, one)}`} />`;

// ---------------------------------------------------------------------------------------------- Claims and conduct

/** What it said: large, left, in a colour and a typeface of its own. */
function Claim({ scene, name, most, folded }) {
  const { claim } = scene, coming = scene.coming?.[0];
  if (!claim && !coming) return html`<div class="claim is-empty">
    <div class="speaker"><${Face} who=${scene.who} name=${name} />${name}</div>
    <p>${isGoing(scene) ? "Waiting for its answer…" : "It has said nothing."}</p></div>`;
  const code = html`<pre tabindex="0" dir="ltr">${claim?.code}</pre>`;
  const parts = claim ? claim.parts : [coming], has = claim && parts.some((one) => one.text);
  return html`<div class="claim">
    <div class="speaker"><${Face} who=${scene.who} name=${name} /><span>${name}${" "}
      ${!claim ? "is writing" : claim.answer
        ? html`says <b dir="auto">${claim.answer}</b>${has ? ", because" : ", and gives no reason."}`
        : has ? "says" : "gives no explanation that could be read."}</span></div>
    ${(has || !claim) && html`<blockquote class=${claim ? "" : "is-coming"}>
      ${parts.map((part) => html`<${Text} part=${part} most=${most ?? 600} />`)}</blockquote>`}
    ${claim?.domain && html`<p class="small" dir="auto">Domain: ${claim.domain}</p>`}
    ${claim?.code && (folded ? html`<details><summary>Its code</summary>${code}</details>` : code)}
    ${claim?.thinking?.map((part) => part.text ? html`<details class="thinking"><summary>${part.label}</summary>
      <${Text} part=${{ text: part.text }} most=${600} /></details>` : html`<p class="small">${part.label}</p>`)}
    ${(claim?.gold || claim?.note) && html`<p class="small">${claim.gold && `The correct answer is ${claim.gold}. `}
        ${claim.note}</p>`}</div>`;
}

/** What was expected of one test, and what came, each with its label. */
function sidesOf({ came, said, mark, options, expects: [first], columns: [left, right] = [] }) {
  const none = ["waiting", "sealed"].includes(mark) ? "…" : "not predicted";
  return [
    left ?? { label: "expected", text: first?.value ? wordOf({ options }, first.value) : none },
    right ?? { label: came ? "what happened" : "it said", text: came || (said ? wordOf({ options }, said) : "–") },
  ];
}

/** What was expected of one test, what came, and what that is. */
function Outcome({ scene, card }) {
  const [expected, said] = sidesOf(card), { mark } = card;
  return html`${!card.is_reading && html`<span class="expected"><span
      class="label">${expected.label.toLowerCase()}</span>
      <span dir="auto">${cutText(expected.text, 80)}</span></span>`}
    <span class="said"><span class="label">${said.label.toLowerCase()}</span>
      <span dir="auto">${cutText(said.text, 80)}</span></span>
    <span class=${`outcome ${classOf(mark)}`}><${Sign} mark=${mark} />${nameOf(scene, mark)}</span>`;
}

/** The head of a table of cards: the labels that all of them share; null where they differ. Seen only, for each card
 * has its labels too. */
function headOf(scene) {
  const { one, cards, panels, plot } = scene;
  const came = cards.filter((card) => !isOpen(card.mark));
  const none = { mark: "waiting", options: {}, expects: [] };
  const known = came.length ? came : cards.length ? cards : [none];
  const [labels, ...others] = known.map((card) => sidesOf(card).map(({ label }) => label));
  // Where cards are still to come it has its place already, so that nothing moves.
  const isAhead = isGoing(scene) && !panels?.length && !plot;
  if ((cards.length < 2 && !isAhead) || cards.some((card) => card.is_reading)) return null;
  if (others.some((other) => String(other) !== String(labels))) return null;
  const words = [one, ...labels, "outcome"].map((word) => capital(word.toLowerCase()));
  return html`<div class="head" aria-hidden="true">${words.map((word) => html`
    <span>${word === "Expected" ? "Expected with its reason" : word}</span>`)}</div>`;
}

/** Whether what the reader said came, where that can be said. */
const cameTrue = ({ guess, said, options }) =>
  guess === "unknown" || !(said in options) ? "" : guess === said ? ": right" : ": wrong";

const labelled = (card) => card.parts.filter((part) => part.text).map((part) => joined(": ", part.label, part.text));
/** What was asked, without what stands elsewhere. */
const askedOf = ({ parts = [] }, stands) => parts.filter((part) => part.text && !stands.includes(part.text));
/** One test: a card in the row of them, which turns when its answer comes, and opens to what stands behind it. */
function Card({ stage, scene, card, isOpened, toggle, judged, judge }) {
  const before = useRef(card.mark), isNew = useRef(false);
  if (before.current !== card.mark) isNew.current = isOpen(before.current);
  before.current = card.mark;
  const [first, ...rest] = card.parts, shown = first && (lengthOf(first.text) > 220 ? cut(first, 220) : first);
  const press = (event) => {
    if (!event.target.closest("button, a, summary, .more") && !getSelection()?.toString()) toggle();
  };
  return html`<li class=${`card ${classOf(card.mark)} ${isNew.current ? "arrives" : ""}`} id=${`card-${card.id}`}
      onClick=${press}>
    <div class="row">
      <div class="about">
        <h4 dir="auto">${shown?.text ? html`<${Marked} part=${shown} />` : html`<span
            class="soft">${capital(scene.one)} ${card.number}</span>`}</h4>
        ${!isOpened && (card.reason || card.doubt ? html`<p class="small" dir="auto">${card.reason || card.doubt}</p>`
          : card.text && !card.columns?.length
            && html`<p class="small" dir="auto">“${cutText(card.text, 140)}”</p>`)}
        ${card.guess && html`<p class="small">You said <b>${wordOf(card, card.guess)}</b>${cameTrue(card)}.</p>`}</div>
      <${Outcome} scene=${scene} card=${card} />
      <button class="open" aria-expanded=${isOpened}
          aria-label=${`${isOpened ? "Close" : "Open"} ${scene.one} ${card.number}`}
        onClick=${toggle}><svg viewBox="0 0 16 16" aria-hidden="true"><path
            d=${isOpened ? "M3 10l5-5 5 5" : "M3 6l5 5 5-5"} /></svg></button></div>
    ${isOpened && html`<div class="more">
      <${Judge} stage=${stage} card=${card} judged=${judged} judge=${judge} />
      ${shown !== first && html`<${Text} part=${first} />`}${rest.map((part) => html`<${Text} part=${part} />`)}
      <${Behind} stage=${stage} scene=${scene} card=${card} /></div>`}</li>`;
}

/** What the reader makes of a card, by number. */
function Judge({ stage, card, judged, judge }) {
  return stage.judgements.map(([name, title, ...words], place) => html`<div class="judge" role="group"
      aria-label=${title}><span class="label">${title}</span>${words.map((word, at) => html`
    <button class="plain" aria-pressed=${judged?.[name] === word} onClick=${() => judge(card.id, name, word)}>${word}
      <kbd>${2 * place + at + 1}</kbd></button>`)}</div>`);
}

/** What stands behind a card: who expected what, what it said in its words, why it counts or not, and the calls. */
function Behind({ stage, scene, card }) {
  const notes = [
    card.outcome && `Outcome: ${card.outcome}.`, card.by_paper && `With the original parser: ${card.by_paper}.`,
    card.reason && `Not counted: ${card.reason}.`, card.doubt && `In doubt: ${card.doubt}.`,
    card.origin && `Origin: ${card.origin}.`, card.by_hand && "Asked by a person.",
    card.guess && `Your guess: ${wordOf(card, card.guess)}.`,
  ].filter(Boolean);
  return html`
    ${card.text && html`<${Text} part=${{ label: card.came ? "In its words" : "What it said", text: card.text }} />`}
    ${card.expects.length > 0 && html`<dl class="expects">${card.expects.map((one) => html`<div>
      <dt>${one.who}${one.arm && `, ${one.arm}`}</dt>
      <dd dir="auto"><b>${wordOf(card, one.value)}</b>${one.quote && html` <q>${cutText(one.quote, 300)}</q>`}
        ${one.votes.length > 0 && html`<span class="small"> votes: ${one.votes.join(", ")}</span>`}</dd></div>`)}</dl>`}
    <${Panels} stage=${stage} scene=${scene} panels=${card.panels} />
    ${notes.length > 0 && html`<ul class="notes">${notes.map((one) => html`<li dir="auto">${one}</li>`)}</ul>`}
    <${Calls} stage=${stage} scene=${scene}
        calls=${[...card.calls, ...card.expects.map((one) => one.call).filter(Boolean)]} />`;
}

/** All figures of the case and its run, and what it was made with. */
function Whole({ stage, scene }) {
  const draw = ({ figures = [], made_with: made = {} }) => html`<${Figures} figures=${[
    ...scene.figures.filter((one) => !figures.some((other) => other.title === one.title)), ...figures]} />
    ${Object.keys(made).length > 0
      && html`<${Text} part=${{ label: "Made with", text: JSON.stringify(made, null, 2) }} most=${900} />`}`;
  return html`<${Fetched} ...${{ stage, scene, draw }} title="Data and settings" />`;
}

function Figures({ figures }) {
  const parser = ({ rules }) => rules && `${rules === "paper" ? "original" : "updated"} parser`;
  const notes = (one) => [one.about, parser(one), one.help, one.made_with].filter(Boolean);
  return html`<dl class="figures">${figures.map((one) => html`<div>
    <dt>${one.title}${notes(one).map((text) => html`<span class="small">${text}</span>`)}</dt>
    <dd><b>${one.value}</b>${one.of > 0 && html`<span class="small"> over ${one.n} of ${one.of}</span>`}</dd>
  </div>`)}</dl>`;
}

// ----------------------------------------------------------------------------------------------------------- Plot

// Dots of a claim lie on the truth and not below it, or a claim that holds would not be seen.
const KINDS = ["baseline", "truth", "reader", "claim"];

/** The plane of a plot: where a value lies, in per cent. What a claim says far from all that was seen or is true must
 * not flatten the rest: it leaves the picture. */
function plane({ points, curves, intervals, x_ends, y_ends }) {
  const solid = curves.filter((one) => one.kind === "truth"), drawn = solid.length || points.length ? solid : curves;
  const range = (values, room) => {
    const known = values.filter(Number.isFinite);
    const low = known.length ? Math.min(...known) : 0, high = known.length ? Math.max(...known) : 1;
    const more = (high - low || Math.abs(high) || 1) * room;
    return [low - more, high + more];
  };
  const along = [...points, ...curves].flatMap((one) => one.x), up = [...points, ...drawn].flatMap((one) => one.y);
  const xs = range(x_ends ?? [...along, ...intervals.flatMap((one) => [one.low, one.high])], 0.06);
  const ys = range(y_ends ?? up, y_ends ? 0 : 0.06);
  const share = (value, [low, high]) => Math.min(1e4, Math.max(-1e4, (100 * (value - low)) / (high - low)));
  const holds = ({ x, y }) => x >= xs[0] && x <= xs[1] && y >= ys[0] && y <= ys[1];
  return { x: (value) => share(value, xs), y: (value) => 100 - share(value, ys), holds, xs: ticks(xs), ys: ticks(ys) };
}

/** A few round numbers between two ends, each with its digits. */
function ticks([low, high]) {
  const least = (high - low) / 5, unit = 10 ** Math.floor(Math.log10(least));
  const step = unit * ([1, 2, 5].find((one) => one * unit >= least) ?? 10), first = Math.ceil(low / step);
  const digits = Math.min(20, Math.max(0, -Math.floor(Math.log10(step))));
  const written = (value) => (Math.abs(value) >= 1e6 || digits > 6 ? round(value) : value.toFixed(digits));
  const many = Number.isFinite(first) ? Math.min(9, Math.floor(high / step) - first + 1) : 0;
  return Array.from({ length: many }, (_, n) => (first + n) * step).map((one) => [one, written(one)]);
}

/** Where the name of each curve stands: of a few places the one farthest from all other curves and names. */
function places(curves, at) {
  const found = [], off = (y) => (y > 50 ? y - 12 : y + 12);
  const lies = ({ x: xs, y }, x) => {
    const next = xs.findIndex((value) => value >= x);
    return next < 0 || y[next] === null ? null : at.y(y[next]);
  };
  for (const curve of curves) {
    const away = (x) => {
      const y = lies(curve, x);
      if (y === null || y < 0 || y > 100) return -1;
      const others = curves.filter((one) => one !== curve).map((one) => lies(one, x)).filter((other) => other !== null);
      const named = found.map((one) => Math.hypot(at.x(x) - one.left, off(y) - one.top));
      return Math.min(14, ...others.map((other) => Math.abs(other - y))) + 2 * Math.min(30, ...named);
    };
    const inside = curve.x.filter((x) => at.x(x) > 20 && at.x(x) < 80).map((x) => [x, away(x)]);
    const [x] = inside.reduce((best, one) => (one[1] > best[1] ? one : best), [null, -1]);
    if (x !== null) found.push({ curve, left: at.x(x), top: off(lies(curve, x)) });
  }
  return found;
}

/** A line with its gaps. */
function path({ x, y }, at) {
  const isThere = (place) => Number.isFinite(y[place]);
  const to = (x, y) => `${at.x(x).toFixed(2)} ${at.y(y).toFixed(2)}`;
  return x.map((one, n) => (isThere(n) ? (isThere(n - 1) ? "L" : "M") + to(one, y[n]) : "")).join("");
}

const round = (value) => String(Number(value.toPrecision(3)));
/** An end of a stretch, to one decimal as in sentences; what that would make 0, to three digits. */
const ended = (value) => String(Number(value.toFixed(1)) || Number(value.toPrecision(3)));

/** What is said of the axis, each once, with where that is; of the stretches only what the marks are. */
function saidOf(intervals) {
  const kinds = Map.groupBy(intervals, (one) => `${one.kind} ${one.mark} ${one.label}`);
  return [...kinds.values()].map((all) => {
    const [one] = all, where = all.map(({ low, high }) => `${ended(low)} to ${ended(high)}`).join(", ");
    return { ...one, words: one.kind === "stretch" && all.length > 3 ? one.label : `${one.label} (${where})` };
  });
}

/** Lines are SVG stretched to the place; dots and words are elements on it, so that neither is squeezed on a phone. */
function Plot({ scene, covered }) {
  const { plot } = scene, at = plane(plot);
  const kinds = KINDS.filter((kind) => !covered || kind !== "truth");
  const curves = kinds.flatMap((kind) => plot.curves.filter((one) => one.kind === kind));
  const intervals = plot.intervals.filter((one) => !covered || ["unseen", "claimed"].includes(one.kind));
  const many = plot.points.length, said = saidOf(intervals);
  const drawn = joined("; ", ...curves.map((one) => one.label), ...said.map((one) => one.words));
  return html`<figure class="plot">
    <div class="plane" role="img" aria-label=${`${counted(many, "point")} probed. ${drawn}`}>
      ${intervals.map((one) => html`<div class=${`interval ${one.kind} ${classOf(one.mark)}`}
        title=${`${one.label} (${ended(one.low)} to ${ended(one.high)})`}
        style=${`left:${at.x(one.low)}%;width:${Math.max(0.6, at.x(one.high) - at.x(one.low))}%`}></div>`)}
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
        ${curves.map((one) => html`<path key=${one.kind + one.label} class=${`line-${one.kind}`}
          d=${path(one, at)} />`)}</svg>
      ${plot.points.map((one, place) => at.holds(one) && html`<i key=${place}
        class=${one.number ? "point" : "point unasked"}
        title=${joined(", call ", `f(${one.x}) = ${one.y}`, one.number)}
        style=${`left:${at.x(one.x)}%;top:${at.y(one.y)}%;--nth:${many > 1 ? (one.number || place) / many : 0}`}></i>`)}
      ${places(curves, at).map(({ curve, left, top }) => html`<span key=${curve.kind + curve.label} dir="auto"
        class=${`label-of key-${curve.kind}`} style=${`left:${left}%;top:${top}%`}>${curve.label}</span>`)}
      ${at.xs.map(([x, written]) => html`<span class="tick along" style=${`left:${at.x(x)}%`}>${written}</span>`)}
      ${at.ys.map(([y, written]) => html`<span class="tick up" style=${`top:${at.y(y)}%`}>${written}</span>`)}
      <span class="axis x">${plot.x_label}</span><span class="axis y">${plot.y_label}</span></div>
    <figcaption>${many > 0 && html`<span><i class="point"></i>probed</span>`}
      ${said.map((one) => html`<span class=${`key key-interval ${one.kind} ${classOf(one.mark)}`}><i></i>
        <span dir="auto">${one.words}</span></span>`)}
      ${(plot.left_out ?? []).map((one) => html`<p dir="auto">${one}</p>`)}</figcaption></figure>`;
}

// -------------------------------------------------------------------------------------------------------- Verdict

/** The sentence, large where it is short, and beside it the bars that decide. */
function Verdict({ stage, scene, headline }) {
  const { verdict } = scene, [first, ...rest] = verdict ? [] : standing(scene);
  if (!verdict) return html`<div class=${`verdict is-open ${scene.status}`}><div>
    <h3 tabindex="-1">${scene.status === "running" && html`<span class="pulse" aria-hidden="true"></span>`}
      ${first}</h3>
    <p>${rest.join(" ")}</p>
    ${scene.failure?.map((part) => html`<${Text} part=${part} most=${240} />`)}</div>
    <${Progress} stage=${stage} scene=${scene} /></div>`;
  const length = lengthOf(verdict.headline.text), size = length > 200 ? "long wordy" : length > 64 ? "long" : "short";
  return html`<div class=${`verdict ${classOf(verdict.mark)}`}>
    <div>${verdict.caution && html`<p class="caution" dir="auto"><${Marked} part=${verdict.caution} /></p>`}
      <h3 ref=${headline} tabindex="-1" class=${size} dir="auto">
      ${verdict.mark && html`<span class=${`tile ${classOf(verdict.mark)}`}><${Sign} mark=${verdict.mark} /></span>`}
      <span><${Marked} part=${verdict.headline} /></span></h3>
      ${verdict.doubt && html`<p class="doubt" dir="auto">${verdict.doubt}</p>`}</div>
    ${verdict.bars.length > 0 && html`<${Bars} bars=${verdict.bars} />`}</div>`;
}

/** How much is done, where the run does not say so; and the places of the bars, empty, while they are still to come. */
function Progress({ stage, scene }) {
  const all = scene.cards.length, came = cameSoFar(scene.cards), isOver = ["done", "empty"].includes(scene.status);
  return (isGoing(scene) || all > 0 && !isOver) && html`<div class="far">
    ${all > 0 && !stage.far[scene.run] && html`<progress value=${came} max=${all}
        aria-label=${`${came} of ${all}`}></progress>`}
    ${isGoing(scene) && html`<div class="unlit" aria-hidden="true">${Array.from({ length: 6 }, () => html`<i></i>`)}
        </div>`}</div>`;
}

// ----------------------------------------------------------------------------------------------------------- Read

const FIRST = 40;

/** The most words of claim and sentences before the fold of the left column, which has 60 with the line above the
 * claim; and the most code points of a claim. */
const LEFT = 45, CLAIM = 180;

const wordsIn = (text = "") => text.split(/\s+/u).filter(Boolean).length;

/** The sentences on the verdict that still fit beside the claim, and those that follow in the fold. */
function fitting({ claim, verdict }) {
  const texts = [...claim?.parts.map((part) => cutText(part.text, CLAIM)) ?? [], claim?.note, claim?.domain,
    claim?.gold && `The correct answer is ${claim.gold}.`];
  const more = verdict?.more ?? [];
  let left = LEFT - texts.reduce((sum, text) => sum + wordsIn(text), 0);
  const at = more.findIndex(({ text }) => (left -= wordsIn(text)) < 0);
  return at < 0 ? [more, []] : [more.slice(0, at), more.slice(at)];
}

function Read({ stage, scene, name, change }) {
  const [opened, open] = useState(stage.card), [isWhole, whole] = useState(false);
  const here = useRef(null), headline = useRef(null), at = useRef(stage.card), watched = useRef(false);
  watched.current ||= isGoing(scene);
  const go = (id) => {
    at.current = id;
    if (scene.cards.findIndex((card) => card.id === id) >= FIRST) whole(true);
    open(id);
    requestAnimationFrame(() => {
      const card = [...(here.current?.querySelectorAll(".cards > .card") ?? [])].find((one) => one.id === `card-${id}`);
      card?.querySelector("button.open").focus({ preventScroll: true });
      card?.scrollIntoView({ block: "nearest" });
    });
  };
  const lead = (by, where) => {
    if (stage.steps) return stage.act("step", where);
    const place = scene.cards.findIndex((card) => card.id === at.current) + by;
    const next = scene.cards[Math.min(scene.cards.length - 1, Math.max(0, place))];
    if (next) go(next.id);
  };
  // What was said here stands, whatever the page still hands in of before.
  const [mine, say] = useState({});
  const saidOf = (id) => ({ ...stage.judged[id], ...mine[id] });
  const judge = (id, name, word) => {
    const value = saidOf(id)[name] === word ? "" : word;
    say((all) => ({ ...all, [id]: { ...all[id], [name]: value } }));
    stage.act("judge", id, [name, value]);
  };
  const judgeBy = (number) => {
    const [name, , ...words] = stage.judgements[(number - 1) >> 1] ?? [];
    if (name && at.current) judge(at.current, name, words[(number - 1) % 2]);
  };
  useKeys(stage, {
    j: () => lead(1, "next"), k: () => lead(-1, "previous"), t: () => change("tell"),
    ...(opened ? { Escape: () => open("") } : stage.steps ? { Escape: () => stage.act("step", "close") } : {}),
    ...byNumber(judgeBy),
  });
  useArrival(Boolean(scene.verdict), headline);
  const cards = isWhole ? scene.cards : scene.cards.slice(0, FIRST);
  // What is drawn already and has not changed is handed over as it is, and not compared again.
  const kept = useMemo(() => new Map(), [scene]);
  const drawn = (card) => {
    const said = saidOf(card.id), key = `${card.id} ${opened === card.id} ${JSON.stringify(said)}`;
    if (!kept.has(key)) {
      const toggle = () => { at.current = card.id; open((now) => (now === card.id ? "" : card.id)); };
      kept.set(key, html`<${Card} key=${card.id} stage=${stage} scene=${scene} card=${card}
          isOpened=${opened === card.id} toggle=${toggle} judged=${said} judge=${judge} />`);
    }
    return kept.get(key);
  };
  const failures = () => go(scene.cards.find((card) => card.mark === "broken").id);
  const canGuess = scene.is_sealed && scene.cards.some((card) => card.mark === "sealed" && isPredictable(card));
  // Of one test the verdict's tile is all there is, and its sessions stand higher.
  const isOne = scene.cards.length === 1 && scene.panels.length > 0;
  const head = useMemo(() => headOf(scene), [scene]);
  const tiles = useMemo(() => !isOne && html`<${Tiles} scene=${scene} go=${go} />`, [scene]);
  // What a session read stands in its panel.
  const read = scene.panels.flatMap((panel) => panel.parts.map((part) => part.text));
  const asked = askedOf(scene, [scene.title, ...read]), [seen, rest] = fitting(scene);
  const [asking, ...lines] = stage.lead ?? [];
  return html`<article class=${watched.current ? "read watched" : "read"} ref=${here}>
    ${asking && html`<section class="lead" aria-label="The row"><p dir="auto"><b>${asking}</b></p>
      ${lines.map((line) => html`<p class="small" dir="auto">${line}</p>`)}</section>`}
    <header><h2 dir="auto"><${Folded} text=${scene.title || scene.question || "A case"} most=${150} /></h2>
      ${canGuess && html`<${Button} does=${() => change("guess")} words=${ACTIONS.guess} />`}
      ${scene.screens?.length > 1 && html`<${Button} does=${() => change("tell")} words="Present" by="T" />`}</header>
    <${Verdict} stage=${stage} scene=${scene} headline=${headline} />
    <${Actions} stage=${stage} scene=${scene} does=${{ failures }} />
    ${scene.unread > 0 && html`<p class="warning">${counted(scene.unread, "line")} of the journal could not be read.
      Something may be missing here.</p>`}
    <div class="columns">
      <section class="left" aria-label="What it said">
        <${Claim} scene=${scene} name=${name} most=${Math.floor(CLAIM / (scene.claim?.parts.length || 1))} folded />
        ${seen.map((part) => html`<${Text} part=${part} />`)}
        ${scene.claim && scene.coming?.map((part) => html`<div class="coming"><div
            class="label">${capital(part.label || "it")} is writing …</div>
          <p dir="auto">${Array.from(part.text).slice(-240).join("")}</p></div>`)}
        ${(asked.length > 0 || scene.verdict) && html`<details class="on"><summary>More</summary>
          ${asked.map((part) => html`<${Text} part=${part} />`)}
          <${Meaning} scene=${scene} more=${rest} /></details>`}
        <${Calls} stage=${stage} scene=${scene} calls=${scene.claim?.calls} /></section>
      <section class="right" aria-label="What it did">
        ${tiles}
        ${scene.plot && html`<${Plot} scene=${scene} covered=${false} />`}
        <${Panels} stage=${stage} scene=${scene} panels=${scene.panels} />
        ${head}
        ${!scene.cards.length && ["empty", "waiting"].includes(scene.status) && html`<div class="cards"
            aria-hidden="true">
          ${[1, 2, 3, 4].map(() => html`<div class="card waiting ghost"></div>`)}</div>`}
        <ol class=${head ? "cards tabled" : "cards"}>${cards.map(drawn)}</ol>
        <${More} shown=${cards.length} all=${scene.cards.length} one=${scene.one} open=${whole} /></section></div>
    <${Rest} stage=${stage} scene=${scene} />
  </article>`;
}

/** A verdict that comes while one looks has the focus, unless one is doing something. */
function useArrival(isThere, headline) {
  const had = useRef(isThere);
  useEffect(() => {
    const at = headline.current, isBusy = at?.getRootNode().activeElement?.closest?.(FIELDS);
    if (isThere && !had.current && !isBusy) at?.focus({ preventScroll: true });
    had.current = isThere;
  }, [isThere]);
}

/** What all cases of a run came to: the verdict with the bars that decide, a tile a case, and how many came to what. */
function All({ stage, scene }) {
  const [isWhole, whole] = useState(false), headline = useRef(null), { verdict, tiles, ledger, figures } = scene;
  useArrival(scene.status !== "running", headline);
  const of = counted(Math.max(scene.planned, tiles.length), scene.one);
  const far = scene.status === "done" ? "" : `${cameSoFar(tiles)} of ${of} done.`;
  const cards = tiles.map((one) => ({ ...one, id: one.case })), few = isWhole ? cards : cards.slice(0, MANY);
  return html`<article class="read all">
    <${Verdict} stage=${stage} scene=${scene} headline=${headline} />
    <${Actions} stage=${stage} scene=${scene} />
    ${far && html`<p class="small">${joined(" ", STATES[scene.status][0], far)}</p>`}
    <section aria-label=${capital(`${scene.one}s`)}>
      <${Tiles} scene=${scene} only=${few} most=${few.length} shown=${stage.card} go=${(id) => stage.act("case", id)} />
      <${More} shown=${few.length} all=${cards.length} one=${scene.one} open=${whole} />
      <ul class="legend">${ledger.map((one) => html`<li class=${`is-${classOf(one.mark)}`} dir="auto">
        <${Sign} mark=${one.mark} />${`${one.n} ${one.words}${one.reason && ` (${one.reason})`}`}</li>`)}</ul></section>
    ${verdict.more.map((part) => html`<${Text} part=${part} />`)}
    <footer>${verdict.meaning && html`<details><summary>${MEANING}</summary>
        <${Text} part=${{ text: verdict.meaning }} most=${2_000} /></details>`}
      ${figures.length > 0 && html`<details><summary>All figures of the run (${figures.length})</summary>
        <${Figures} figures=${figures} /></details>`}</footer></article>`;
}

/** How far runs are whose cases stand in a list. */
function Going({ stage, scenes, names }) {
  return html`<article class="beside going" style=${`--columns:${scenes.length}`}>
    ${inColumns(scenes, names, (scene, name) => html`${name && html`<p class="label" dir="auto">${name}</p>`}
      <${Actions} stage=${stage} scene=${scene} />`)}</article>`;
}

/** What was tried so far, the newest first, and nothing that gives away what it is. */
function Tried({ stage, scene }) {
  return html`<article class="tried">${scene.plot && html`<${Plot} scene=${scene} covered />`}
    <${Panels} stage=${stage} scene=${scene} panels=${[...scene.panels].reverse()} /></article>`;
}

function Folded({ text, most }) {
  const [isWhole, open] = useState(false);
  if (lengthOf(text) <= most * 1.2) return text;
  return html`${isWhole ? text : cutText(text, most)} <${Fold} ...${{ isWhole, open }} more="all" less="less" />`;
}

/** What the verdict rests on, and what it does not say; whose story it was is part of the end. */
function Meaning({ scene: { verdict, who }, more = verdict?.more }) {
  return verdict && html`<div class="meaning">
    ${more.map((part) => html`<${Text} part=${part} />`)}
    ${verdict.meaning && html`<${Text} part=${{ label: MEANING, text: verdict.meaning }} />`}
    ${who?.name && html`<p class="small">It was ${revealed(who)}.</p>`}</div>`;
}

/** What few want to see, folded. */
function Rest({ stage, scene }) {
  const { grid = [], figures = [], ledger = [] } = scene, how = [scene.method, scene.differs].filter(Boolean);
  return html`<footer>
    ${grid.length > 0 && html`<details open=${grid.length < 13}><summary>More about this case</summary>
      <${Panels} stage=${stage} scene=${scene} panels=${grid} /></details>`}
    ${figures.length > 0 && !stage.evidence && html`<details><summary>All figures</summary>
      <${Figures} figures=${figures} /></details>`}
    ${ledger.length > 0 && html`<details><summary>Excluded (${new Set(ledger.map((one) => one.about)).size})</summary>
      <ul class="notes">${ledger.map((one) => html`<li dir="auto"><b>${one.about}</b>: ${one.reason}
        ${one.rules
          && html`<span class="small"> with the ${one.rules === "paper" ? "original" : "updated"} parser</span>`}
        ${one.detail && html`<${Text} part=${{ text: one.detail }} most=${240} />`}</li>`)}</ul></details>`}
    <${Whole} stage=${stage} scene=${scene} />
    ${how.length > 0 && html`<details><summary>Method</summary>
      ${how.map((text) => html`<${Text} part=${{ text }} />`)}</details>`}</footer>`;
}

// ----------------------------------------------------------------------------------------------------------- Tell

/** A screen of a telling. Its `key` is what it shows, of which scene: a run that goes on may put screens before it. */
const keyOf = (screen) => `${screen.nth ?? 0} ${screen.shows} ${screen.of}`;

function useScreens(stage, screens, place, leave, more = {}) {
  const [key, set] = useState(keyOf(screens[Math.min(place ?? 0, screens.length - 1)]));
  const last = useRef(0);
  const found = screens.findIndex((one) => keyOf(one) === key);
  const at = found < 0 ? Math.max(0, Math.min(last.current, screens.length - 1)) : found;
  last.current = at;
  const go = (to) => {
    const next = Math.max(0, Math.min(to, screens.length - 1));
    if (next === at) return;
    set(keyOf(screens[next]));
    stage.act("place", next);
  };
  const scroll = (by) => stage.root.querySelector(".screen").scrollBy(0, by * 200);
  useKeys(stage, {
    ArrowRight: () => go(at + 1), " ": () => go(at + 1), PageDown: () => go(at + 1), Home: () => go(0), Escape: leave,
    ArrowLeft: () => go(at - 1), PageUp: () => go(at - 1), End: () => go(screens.length - 1),
    ArrowDown: () => scroll(1), ArrowUp: () => scroll(-1), ...more,
  });
  return [at, go];
}

/** Where a finger goes over the screen, the story goes. */
function swiping(go, at) {
  let from = null;
  const onTouchStart = ({ touches }) => { from = touches.length === 1 ? touches[0] : null; };
  const onTouchEnd = ({ changedTouches: [to] }) => {
    const along = from && to.clientX - from.clientX, across = from && to.clientY - from.clientY;
    if (Math.abs(along) > Math.max(60, 2 * Math.abs(across))) go(at + (along < 0 ? 1 : -1));
  };
  return { onTouchStart, onTouchEnd };
}

function Told({ head, at, all, go, leave, hint, children, shows, whole }) {
  const body = useRef(null);
  useLayoutEffect(() => { body.current.scrollTop = 0; }, [at]);
  return html`<article class="tell" data-shows=${shows} ...${swiping(go, at)}>
    <header><span dir="auto">${cutText(head, 70)}</span><nav>
      ${whole && html`<a class="plain" href=${whole}>The whole run</a>`}
      <${Button} does=${leave} words="Exit" by="Esc" /></nav></header>
    <div class="screen" ref=${body} tabindex="0" role="group" aria-label=${`Screen ${at + 1} of ${all}`}
        key=${shows + at}>${children}</div>
    <footer><button class="turn" onClick=${() => go(at - 1)} disabled=${at === 0} aria-label="Back">←</button>
      <span class="hint"><progress value=${at + 1} max=${all} aria-label="Progress"></progress>
          ${at + 1} of ${all}${hint && html`<span class="by-key">${hint}</span>`}</span>
      <button class="turn" onClick=${() => go(at + 1)} disabled=${at === all - 1}
        aria-label="Next">→</button></footer>
  </article>`;
}

/** What the hall bet of a scene, by card. The browser keeps it: who leaves a telling and comes back has lost none. */
const betsOf = (scene) => `bets ${scene.run} ${scene.case}`;
const kept = (name) => { try { return JSON.parse(sessionStorage.getItem(name)) ?? {}; } catch { return {}; } };
const keep = (name, bets) => { try { sessionStorage.setItem(name, JSON.stringify(bets)); } catch { /* not kept */ } };

/** A case that was stopped ends on that. */
const screensOf = (scene) => [...(scene.screens?.length ? scene.screens : [{ shows: "question", of: "" }]),
  ...(scene.verdict || isGoing(scene) || scene.status === "empty" ? [] : [{ shows: "verdict", of: "" }])];

/** The screens of one scene, or of several one after another. */
function Tell({ stage, scenes, names, series, place, leave }) {
  const screens = scenes.flatMap((scene, nth) => screensOf(scene).map((one) => ({ ...one, nth })));
  if (series) screens.push({ shows: "end", of: "", nth: 0 });
  const [bets, bet] = useState(() => Object.fromEntries(scenes.map((one) => [betsOf(one), kept(betsOf(one))])));
  const shown = useRef(null);
  const cardOf = ({ of, nth }) => scenes[nth].cards.find((card) => card.id === of);
  const choose = (card, value) => {
    const name = betsOf(scenes[shown.current.nth]);
    bet((all) => {
      const mine = { ...all[name], [card.id]: value };
      keep(name, mine);
      return { ...all, [name]: mine };
    });
    stage.act("bet", card.id, value);
  };
  const [at, go] = useScreens(stage, screens, place, leave, byNumber((number) => {
    const card = shown.current.shows === "card" && cardOf(shown.current);
    const value = card && Object.keys(card.options)[number - 1];
    if (value) choose(card, value);
  }));
  const screen = (shown.current = screens[at]), scene = scenes[screen.nth], name = names[screen.nth];
  const card = cardOf(screen), isBet = screen.shows === "card" && card && Object.keys(card.options).length > 0;
  const isEnd = screen.shows === "end";
  const hint = isBet ? "number: vote, space: reveal" : at < screens.length - 1 ? "space: next"
    : !isEnd && isGoing(scene) ? "more to come" : "";
  useEffect(() => stage.say?.(isEnd ? series.headline : spoken(scene, screen, card)), [keyOf(screen)]);
  const head = isEnd ? series.head : series || screen.shows === "question" ? scene.question : scene.title;
  return html`<${Told} head=${head} at=${at} all=${screens.length} go=${go} leave=${leave} hint=${hint}
    shows=${screen.shows} whole=${!isEnd && series?.whole?.[screen.nth]}>${isEnd ? html`<${End} ...${series} />`
      : html`${series && screen.shows === "claim" && html`<h2 class="middle"
          dir="auto">${cutText(scene.title, 200)}</h2>`}
        <${Screen} stage=${stage} scene=${scene} name=${name} screen=${screen} card=${card} bets=${bets[betsOf(scene)]}
          choose=${choose} />`}</${Told}>`;
}

/** What several scenes come to, and the ways on. */
function End({ headline, words, links, foot }) {
  return html`<h2>${headline}</h2><p class="words">${words}</p>
    <nav class="ways">${links.map(([name, to]) => html`<a class="link" href=${to}>${name}</a>`)}</nav>
    <p class="doubt">${foot}</p>`;
}

const cameOf = (scene, card) => `${capital(came(card))}: ${nameOf(scene, card.mark)}`;

const spoken = (scene, screen, card) => ({
  question: scene.title, claim: scene.claim?.parts.map((one) => one.text).join(" "),
  card: card && titleOf(card).join(" "), turned: card && cameOf(scene, card), verdict: scene.verdict?.headline.text,
})[screen.shows] ?? "";

function Screen({ stage, scene, name, screen, card, bets = {}, choose, most }) {
  const bet = bets[screen.of], panel = scene.panels[screen.of], predicted = against(scene.cards, bets);
  switch (screen.shows) {
    case "question": return html`<div class="opening"><${Face} who=${scene.who} name=${name} />
        <h2 class=${sizeOf(scene.title)} dir="auto"><${Folded} text=${scene.title} most=${300} /></h2></div>
      ${askedOf(scene, [scene.title]).map((part) => html`<${Text} part=${part} />`)}`;
    case "claim": return html`<${Claim} scene=${scene} name=${name} most=${most} />`;
    case "plot": return html`<${Said} scene=${scene} name=${name} /><${Plot} scene=${scene} covered />`;
    case "truth": return html`<${Plot} scene=${scene} />`;
    case "panel": return panel && html`<div class=${`panel ${classOf(panel.mark)}`}>
      <${Panel} ...${{ stage, scene, panel }} /></div>`;
    case "card": return card && html`<${Said} scene=${scene} name=${name} card=${card} /><${Asked} card=${card} />
      <${Options} card=${card} chosen=${bet} choose=${(value) => choose(card, value)} />`;
    case "turned": return card && html`<${Said} scene=${scene} name=${name} card=${card} />
      <${Turned} scene=${scene} card=${card} who="You" guess=${bet} />`;
    case "tiles": return html`<${Tiles} scene=${scene} />`;
    case "bars": return html`<${Bars} bars=${scene.verdict?.bars ?? []} />`;
    default: return html`<${Ending} scene=${scene} name=${name} />
      ${predicted && html`<p class="words">${predicted}</p>`}`;
  }
}

/** The claim once more, in a line: what a test is held against; not where the card itself quotes it. */
function Said({ scene, name, card }) {
  const text = scene.claim?.parts.map((one) => one.text).join(" ").trim();
  return text && !card?.parts.some((part) => part.text.trim() === text) ? html`<p class="overline">
    <${Face} who=${scene.who} name=${name} /><span>It said: <q dir="auto">${cutText(text, 160)}</q></span></p>` : null;
}

function Asked({ card }) {
  const [first, ...rest] = card.parts;
  const text = first?.text || "…";
  return html`<h2 class=${sizeOf(text)} dir="auto">${lengthOf(text) > 300
    ? html`<${Folded} text=${text} most=${260} />` : html`<${Marked} part=${first ?? { text }} />`}</h2>
    ${rest.map((part) => html`<${Text} part=${part} most=${240} />`)}`;
}

/** A card that was turned: what came, in its words; a broken one steps out of line. */
function Turned({ scene, card, guess, who }) {
  const said = came(card) ? `${capital(came(card))}.` : nameOf(scene, card.mark);
  const text = (card.came ?? "").includes(card.text) ? "" : card.text, expects = card.expects[0];
  return html`<div class=${`turned ${classOf(card.mark)}`}>
    <p class="small" dir="auto">${cutText((card.came ? labelled(card) : titleOf(card)).join(" / "), 200)}</p>
    <h2><${Sign} mark=${card.mark} />${said}</h2>
    ${text && html`<p class="words" dir="auto">“${cutText(text, 220)}”</p>`}
    <p class="small">${expects && !card.is_reading && html`<span
        class="expects-word">Its explanation led us to expect: ${wordOf(card, expects.value)}.</span> `}
      ${guess && `${who} said ${wordOf(card, guess)}. `}<b>${capital(nameOf(scene, card.mark))}.</b>
      ${(card.reason || card.doubt) && ` ${capital(card.reason || card.doubt)}.`}</p></div>`;
}

// --------------------------------------------------------------------------------------------------------- Beside

/** The rows that are handed in, each with its cards; the app knows better than texts which tests are the same. */
function rowsOf(scenes, given = []) {
  const cards = scenes.map((scene) => new Map(scene.cards.map((card) => [card.id, card])));
  // What came since these were made meets by its words, until the page is drawn again.
  const known = scenes.map((_, column) => new Set(given.map(([ids]) => ids[column]))), late = new Map();
  scenes.forEach((scene, column) => scene.cards.filter((card) => !known[column].has(card.id)).forEach((card) => {
    const words = titleOf(card).join("\n"), ids = late.get(words) ?? scenes.map(() => null);
    late.set(words, ids.with(column, card.id));
  }));
  return [...given, ...[...late.values()].map((ids) => [ids, ""])].map(([ids, differs]) => {
    const cells = ids.map((id, column) => cards[column].get(id));
    const card = cells.find(Boolean), there = cells.filter(Boolean).map(titleOf);
    // What only one of them has, such as what its own code gives, is no title of the row.
    const isShared = (text, at) => (there.length > 1 ? there.every((one) => one.includes(text)) : !at);
    const title = card ? titleOf(card).filter(isShared) : [];
    return { key: JSON.stringify(ids), card, cells, differs, title };
  }).filter((row) => row.card);
}

function Cell({ scene, card, title }) {
  if (!card) return html`<span class="soft">${isGoing(scene) ? "not yet" : "not asked"}</span>`;
  return html`<${Outcome} scene=${scene} card=${card} />
    ${card.text && html`<p class="small" dir="auto">“${cutText(card.text, 140)}”</p>`}
    ${(card.reason || card.doubt) && html`<p class="small" dir="auto">${capital(card.reason || card.doubt)}.</p>`}
    ${card.parts.filter((part) => part.text && !title.includes(part.text))
      .map((part) => html`<${Text} part=${part} most=${160} />`)}`;
}

const inColumns = (scenes, names, draw) => html`<div class="across">${scenes.map((scene, at) =>
  html`<div role="group" aria-label=${names[at]}>${draw(scene, names[at])}</div>`)}</div>`;

function Row({ scenes, names, row }) {
  const title = row.title.join(" / ") || `${capital(scenes[0].one)} ${row.card.number}`;
  return html`<h4 dir="auto"><${Folded} text=${title} most=${220} /></h4>
    ${row.differs && html`<p class="small parting">${capital(row.differs)}.</p>`}
    <div class="across">${row.cells.map((card, at) => html`<div class=${`cell card ${classOf(card?.mark)}`}>
      <span class="whose small">${names[at]}</span>
      <${Cell} scene=${scenes[at]} card=${card} title=${row.title} /></div>`)}</div>`;
}

function Beside({ stage, scenes, names, change }) {
  const rows = rowsOf(scenes, stage.rows);
  const [isWhole, whole] = useState(false);
  useKeys(stage, { t: () => change("tell") });
  const shared = scenes.every((one) => one.title === scenes[0].title);
  return html`<article class="beside" style=${`--columns:${scenes.length}`}>
    <header><h2 dir="auto"><${Folded} text=${shared ? scenes[0].title : "Side by side"} most=${150} /></h2>
      <${Button} does=${() => change("tell")} words="Present" by="T" /></header>
    ${inColumns(scenes, names, (scene, name) => html`<p class="label" dir="auto">${name}</p>
      ${!shared && html`<p class="small" dir="auto">${cutText(scene.title, 150)}</p>`}
      <${Verdict} stage=${stage} scene=${scene} /><${Actions} stage=${stage} scene=${scene} />
      <${Tiles} scene=${scene} />`)}
    ${inColumns(scenes, names, (scene, name) => html`<${Claim} scene=${scene} name=${name} most=${300} />`)}
    ${inColumns(scenes, names, (scene) => scene.plot && html`<${Plot} scene=${scene} />`)}
    <ol class="rows">${(isWhole ? rows : rows.slice(0, FIRST)).map((row) => html`<li key=${row.key}
      class=${row.differs ? "differs" : ""}><${Row} scenes=${scenes} names=${names} row=${row} /></li>`)}</ol>
    <${More} shown=${isWhole ? rows.length : FIRST} all=${rows.length} one="row" open=${whole} />
    ${inColumns(scenes, names, (scene) => html`<${Meaning} scene=${scene} />`)}
    ${inColumns(scenes, names, (scene) => html`<${Panels} stage=${stage} scene=${scene} panels=${scene.panels} />`)}
  </article>`;
}

/** Side by side for an audience: the claims, the rows in which they part, what decides, the verdicts. */
function TellBeside({ stage, scenes, names, place, leave }) {
  const rows = rowsOf(scenes, stage.rows);
  const parted = [...rows].sort((one, other) => !one.differs - !other.differs).slice(0, 6);
  const bars = scenes.some((one) => one.verdict?.bars.length) ? [["bars"]] : [];
  const screens = [["question"], ["claim"], ...parted.map((row) => ["card", row.key]), ...bars, ["verdict"]]
    .map(([shows, of = ""]) => ({ shows, of }));
  const [at, go] = useScreens(stage, screens, place, leave), { shows, of } = screens[at];
  const row = rows.find((one) => one.key === of);
  const body = shows === "question" ? html`<div class="opening">${scenes.map((scene, n) => html`<${Face}
      who=${scene.who} name=${names[n]} />`)}
      <h2 class=${sizeOf(scenes[0].title)} dir="auto">${cutText(scenes[0].title, 300)}</h2></div>`
    : shows === "card" ? row && html`<${Row} scenes=${scenes} names=${names} row=${row} />`
    : inColumns(scenes, names, (scene, name) => html`${shows !== "claim" && html`<h3>${name}</h3>`}
      <${Screen} ...${{ scene, name, screen: screens[at], most: 200 }} />`);
  return html`<${Told} head=${shows === "question" ? "" : scenes[0].title} at=${at} all=${screens.length} go=${go}
      leave=${leave} shows=${shows}>
    <div class="beside" style=${`--columns:${scenes.length}`}>${body}</div></${Told}>`;
}

// ---------------------------------------------------------------------------------------------------------- Stage

const KEYS = [
  ["→ ← space", "one screen on or back"], ["Home End", "first, last screen"], ["J K", "next, last card"],
  ["1 2 3", "guess, vote, judge"], ["T", "present"], ["Esc", "close, exit"], ["?", "these keys"],
];

const MODES = { tell: Tell, guess: Guess, tried: Tried, far: Going, all: All };
const IN_COLUMNS = { tell: TellBeside, beside: Beside };

function Stage({ stage }) {
  const { scenes, mode, place, series, saved, game } = stage;
  const [own, set] = useState(null), [isHelp, help] = useState(false), [said, say] = useState("");
  stage.say = say;
  const before = useRef(mode);
  if (before.current !== mode) {
    before.current = mode;
    set(null);
  }
  const now = own ?? mode;
  const change = (to) => { if (stage.act("mode", to) !== true) set(to); };
  const leave = () => change(scenes.length > 1 ? "beside" : "read");
  // Beside a list from which nothing is open it is hidden.
  const keys = scenes.length || mode === "play" ? { "?": () => help(!isHelp) } : {};
  useKeys(stage, { ...keys, ...(isHelp ? { Escape: () => help(false) } : {}) }, true);
  const names = stage.names?.length ? stage.names : scenes.map(nameIn);
  // Another case starts again: what is open in one is not in the next.
  const [scene] = scenes, name = names[0], whose = `${scene?.run}/${scene?.case}/${stage.card}`;
  // A screen reader hears the verdict once it can be seen: not while the reader guesses, plays or is being told.
  const isAhead = ["guess", "play", "tell"].includes(now);
  const verdict = isAhead ? "" : scenes.map((one) => one.verdict?.headline.text ?? "").join(" ");
  // Before what a mode itself says, or that would be lost.
  useLayoutEffect(() => { say(verdict.trim()); }, [verdict]);
  const all = { stage, scene, scenes, name, names, place, series, change, leave };
  const Drawn = scenes.length > 1 && !(series && now === "tell") && IN_COLUMNS[now] || MODES[now] || Read;
  return html`
    ${now === "play" ? html`<${Play} key=${game.pack.name} stage=${stage} ...${game} />`
      : !scene ? html`<p class="soft">There is nothing to show.</p>`
      : html`<${Drawn} key=${[Read, Guess].includes(Drawn) ? whose : null} ...${all} />`}
    <div class="aloud" role="status" aria-live="polite">${said}</div>
    ${saved && html`<p class="saved" aria-live="off">${saved}</p>`}
    ${isHelp && html`<aside class="keys" aria-label="Keys"><dl>${KEYS.map(([key, does]) =>
        html`<div><dt><kbd>${key}</kbd></dt><dd>${does}</dd></div>`)}</dl>
      <${Button} does=${() => help(false)} words="Close" /></aside>`}`;
}
