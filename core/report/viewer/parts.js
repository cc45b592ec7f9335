// What stage.js and game.js both draw with: Preact's functions, keys, words, and the small parts of a scene.

export let html, render, useState, useEffect, useLayoutEffect, useMemo, useRef;

/** Draw with this module from now on: Preact with htm. */
export function drawWith(module) {
  ({ html, render, useState, useEffect, useLayoutEffect, useMemo, useRef } = module);
}

// ---------------------------------------------------------------------------------------------------------- Keys

/** While the component stands, these keys do this; of two that want one key the frame has it. Before the paint, so that
 * no key is lost between two screens. */
export function useKeys(stage, keys, isFrame = false) {
  const current = useRef(keys);
  current.current = keys;
  useLayoutEffect(() => {
    stage.listening[isFrame ? "unshift" : "push"](current);
    return () => stage.listening.splice(stage.listening.indexOf(current), 1);
  }, []);
}

// --------------------------------------------------------------------------------------------------------- Words

const MARKS = {
  kept: "kept", broken: "broken", "not settled": "left open", "in doubt": "in doubt", "set aside": "excluded",
  unread: "could not be read", failed: "failed", waiting: "pending", stopped: "not reached", sealed: "sealed",
};

export const ACTIONS = {
  question: "Ask your own question", guess: "Your turn: guess", fork: "Edit this answer and continue", cancel: "Stop",
  predict: "Predict yourself", real: "Ask a real model", longer: "Run more tests", failures: "Open the failures",
  compare: "Ask another model",
};

/** The next step after a verdict, of which there is at most one: a button. */
const STEPS = ["predict", "real", "longer", "failures", "compare"];

export const STATES = {
  empty: ["Nothing has been asked yet.", "Its explanation will appear here, with its later answers next to it."],
  unread: ["It cannot be read.", "Its journal is damaged."],
  waiting: ["Starting…", "If the server is busy, your run waits in the queue."],
  running: ["Its explanation is being tested…", ""],
  failed: ["It could not be finished.", "The results so far are below."],
  cancelled: ["It was stopped.", "The results so far are below."],
  interrupted: ["It was interrupted.", "Nothing is lost: it can be resumed."],
  done: ["It ended without a verdict.", ""],
  sealed: ["The result is sealed.", "It appears once every card is guessed, or when all is revealed."],
};

export const isGoing = (scene) => ["waiting", "running"].includes(scene.status);
export const isOpen = (mark) => ["waiting", "stopped", "sealed"].includes(mark);
export const cameSoFar = (cards) => cards.filter((card) => !isOpen(card.mark)).length;
export const nameOf = (scene, mark) => scene.words?.[mark] || MARKS[mark];
export const wordOf = (card, value) => (card.options?.[value] ?? value).toLowerCase();
export const lengthOf = (text) => [...text].length;
export const capital = (text) => text && text[0].toUpperCase() + text.slice(1);
export const joined = (by, ...texts) => texts.filter(Boolean).join(by);
export const classOf = (mark) => (mark ?? "none").replace(" ", "-");
export const counted = (n, one) => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;

/** A text in pieces, each with its mark. Spans count code points, and a string of JavaScript does not. */
function pieces({ text, spans }) {
  if (!spans?.length) return [{ text }];
  const points = Array.from(text), found = [];
  let at = 0;
  for (const { start, end, mark } of spans) {
    if (start > at) found.push({ text: points.slice(at, start).join("") });
    found.push({ text: points.slice(Math.max(at, start), end).join(""), mark });
    at = Math.max(at, end);
  }
  return [...found, { text: points.slice(at).join("") }].filter((one) => one.text);
}

/** The first code points of a part, up to the end of a word, with the spans that lie in them. */
export function cut(part, most) {
  const text = [...part.text].slice(0, most).join("").replace(/\s\S{0,30}$/, ""), end = lengthOf(text);
  const spans = (part.spans ?? []).filter((one) => one.start < end);
  return { ...part, text: `${text} …`, spans: spans.map((one) => ({ ...one, end: Math.min(one.end, end) })) };
}

const TAGS = { strong: "strong", struck: "del", added: "ins" };

export function Marked({ part }) {
  return pieces(part).map(({ text, mark }) =>
    mark ? html`<${TAGS[mark] ?? "mark"} class=${`is-${mark}`}>${text}<//>` : text);
}

/** A text under its label; what is longer than `most` code points is folded, and opened by a button. */
export function Text({ part, most = 420, quoted }) {
  const [isWhole, open] = useState(false);
  const length = lengthOf(part.text), isLong = length > most * 1.2;
  const shown = isLong && !isWhole ? cut(part, most) : part;
  const size = length > 160 ? "is-long" : part.label && length + lengthOf(part.label) < 40 ? "is-short" : "";
  return html`<div class=${`text ${quoted ? "quoted" : ""} ${size}`}>
    ${part.label && html`<div class="label">${part.label}</div>`}
    <p dir="auto"><${Marked} part=${shown} /></p>
    ${isLong && html`<${Fold} ...${{ isWhole, open }} more=${`Show all ${counted(length, "character")}`} />`}</div>`;
}

/** What shows all of something, and folds it again. */
export const Fold = ({ isWhole, open, more, less = "Show less" }) => html`<button class="link" aria-expanded=${isWhole}
  onClick=${() => open(!isWhole)}>${isWhole ? less : more}</button>`;

/** A button, and the key that does the same. */
export const Button = ({ does, words, by }) =>
  html`<button class="plain" onClick=${does}>${words}${by && html`<kbd>${by}</kbd>`}</button>`;

// ------------------------------------------------------------------------------------------------- Small drawings

const SIGNS = {
  kept: "M3 8.5l3.5 3.5L13 4.5", broken: "M4 4l8 8M12 4l-8 8", "set aside": "M4 8h8", stopped: "M6 4.5v7M10 4.5v7",
  "not settled": "M5.4 6a2.6 2.6 0 1 1 3.8 2.3c-.8.5-1.2.9-1.2 1.9M8 12.8v.1", failed: "M8 3v6M8 12.6v.2",
  "in doubt": "M2.5 9c1.8-3.4 3.7 1.4 5.5-.6s3.7-2.6 5.5-.6", waiting: "M3.6 8h.1M8 8h.1M12.4 8h.1",
  unread: "M2.5 8c2.4-4 8.6-4 11 0M4 13.5L12.5 3", sealed: "M4 7.5h8v5.5H4zM5.6 7.5V5.4a2.4 2.4 0 0 1 4.8 0v2.1",
};

export const Sign = ({ mark }) =>
  html`<svg class="sign" viewBox="0 0 16 16" aria-hidden="true"><path d=${SIGNS[mark]} /></svg>`;

// The parts of a face are paths, in a square of 48; the eyes besides dots at these x, of such a radius.
const TOPS = ["M24 13V5M21 5h6", "M18 12l-4-7M30 12l4-7", "M24 13V8m-3 0a3 3 0 1 1 6 0", "M20 12V6M28 12V6"];

const HEADS = [
  "M15 13h18a9 9 0 0 1 9 9v9a9 9 0 0 1-9 9H15a9 9 0 0 1-9-9v-9a9 9 0 0 1 9-9z",
  "M7 26a17 17 0 0 1 34 0a17 17 0 0 1-34 0z", "M11 14h26l5 13-5 14H11L6 27z", "M8 40V24a16 13 0 0 1 32 0v16z",
  "M14 16h20a10 10 0 0 1 0 20H14a10 10 0 0 1 0-20z", "M10 13h28l-4 28H14z",
];

const CHIP = "M14 9h20a5 5 0 0 1 5 5v20a5 5 0 0 1-5 5H14a5 5 0 0 1-5-5V14a5 5 0 0 1 5-5z"
  + "M17 9V4M24 9V4M31 9V4M17 44v-5M24 44v-5M31 44v-5M9 17H4M9 24H4M9 31H4M44 17h-5M44 24h-5M44 31h-5";

const EYES = [
  ["", 3.2, 17, 31], ["M13 26h7M28 26h7"], ["M17 22h14a4 4 0 0 1 0 8H17a4 4 0 0 1 0-8z", 2, 28],
  ["M14 26a4 4 0 0 1 8 0a4 4 0 0 1-8 0zM26 26a4 4 0 0 1 8 0a4 4 0 0 1-8 0z", 1.4, 30],
];

export const numberOf = (name) => [...name].reduce((sum, one) => (sum * 31 + one.codePointAt(0)) >>> 0, 7);

/** The speaker as a character: the same name has the same face. A model that is no robot looks like a chip. */
export function Face({ who, name }) {
  const number = numberOf(who?.name || name), isRobot = who?.is_robot;
  const [eyes, radius, ...dots] = EYES[(isRobot ? number >>> 3 : number) % EYES.length];
  const lines = isRobot ? [TOPS[number % TOPS.length], HEADS[number % HEADS.length], "M19 34h10"] : [CHIP, "M20 33h8"];
  return html`<svg class="face" viewBox="0 0 48 48" aria-hidden="true">
    ${[...lines, eyes].map((d) => html`<path d=${d} />`)}
    ${dots.map((x) => html`<circle class="dot" cx=${x} cy="26" r=${radius} />`)}</svg>`;
}

// ---------------------------------------------------------------------------------------------- Claims and conduct

/** The shares that decide, to one scale, in units where these can be counted; a line goes down where the one of its own
 * ends. */
export function Bars({ bars }) {
  const [own, another] = bars.filter((one) => one.own && one.n);
  const isCountable = Math.max(...bars.map((one) => one.n)) <= 24;
  const kinds = (bar) => [
    ...["own", "wins", "limit", "faint"].filter((one) => bar[one]), bar.mark && classOf(bar.mark)];
  return html`<ul class="bars">${bars.map((bar) => html`
    <li class=${joined(" ", ...kinds(bar))}>
      <span class="name">${bar.label}${bar.limit && html`<span class="aloud"> (the best possible)</span>`}</span>
      <span class="track" aria-hidden="true">
        ${isCountable ? Array.from({ length: bar.n }, (_, at) => html`<i class=${at < bar.hits ? "full" : ""}></i>`)
          : html`<i style=${`flex:${bar.n}`}><i class="full" style=${`width:${(100 * bar.hits) / (bar.n || 1)}%`}></i>
              </i>`}
        ${bar.low != null && bar.high != null && html`<u
          style=${`left:${100 * bar.low}%;width:${100 * (bar.high - bar.low)}%`}></u>`}
        ${own && !another && html`<s style=${`left:${(100 * own.hits) / own.n}%`}></s>`}</span>
      <span class="count"><b>${bar.hits}</b> of ${bar.n}${bar.wins &&
        html`<span class="aloud"> (as good as with the explanation, or better)</span>`}</span></li>`)}</ul>`;
}

/** How many came of each kind, in words: what the tiles show, for who does not see them. */
const tally = ({ cards }) => Object.keys(MARKS)
  .map((mark) => [mark, cards.filter((card) => card.mark === mark).length]).filter(([, many]) => many);

export const FEW = 40, MANY = 120;

/** A tile a test. Few (`most` of them) are buttons that lead to their cards; more are small, a picture with words. */
export function Tiles({ scene, go, only, most = FEW, shown }) {
  const cards = only ?? scene.cards, isMany = cards.length > most;
  if (!cards.length) return null;
  const tile = (card) => {
    const words = `${joined(" · ", card.number, card.title)}: ${nameOf(scene, card.mark)}`;
    const look = { class: `tile ${classOf(card.mark)}`, "aria-label": words, title: words };
    if (!go || isMany) return html`<li key=${card.id} ...${look}><${Sign} mark=${card.mark} /></li>`;
    return html`<li key=${card.id}><button ...${look} title=${joined("\n", words, card.sentence?.text)}
      aria-current=${shown === card.id ? "true" : null} onClick=${() => go(card.id)}><${Sign} mark=${card.mark} />
        </button></li>`;
  };
  return html`<ol class=${isMany ? "tiles many" : "tiles"}
      style=${`--all:${Math.max(6, cards.length)}`}>${cards.map(tile)}</ol>
    ${!only && html`<p class="legend">${tally(scene).map(([mark, n]) =>
      html`<span class=${`is-${classOf(mark)}`}><${Sign} mark=${mark} />${`${n} ${nameOf(scene, mark)}`}</span>`)}
          </p>`}`;
}

export const titleOf = (card) => card.parts.map((part) => part.text).filter(Boolean);
export const cutText = (text, most) => (lengthOf(text) > most ? cut({ text }, most).text : text);

/** What stands behind the scene, fetched when a part of it is first opened, and drawn by `draw`. */
export function Fetched({ stage, scene, title, draw }) {
  const [found, set] = useState(null), isAsked = useRef(false);
  const open = (event) => {
    if (!event.target.open || isAsked.current) return;
    isAsked.current = true;
    const asked = typeof stage.evidence === "function" ? stage.evidence(scene) : stage.evidence;
    Promise.resolve(asked).then((one) => set(one ?? {}), () => { isAsked.current = false; set({}); });
  };
  return stage.evidence && html`<details class="calls" onToggle=${open}><summary>${title}</summary>
    ${found ? draw(found) : html`<p class="small">Loading …</p>`}</details>`;
}

/** The raw calls. */
export function Calls({ stage, scene, calls }) {
  const ids = [...new Set(calls)], canFork = scene.actions?.some((one) => one.name === "fork");
  const draw = (found) => ids.map((id) => html`<section>
    <h5>${found.calls?.[id]?.title ?? "This call is missing."}</h5>
    ${found.calls?.[id]?.parts.map((part) => html`<${Text} part=${part} most=${900} />`)}
    ${found.calls?.[id] && canFork && html`<button class="link"
        onClick=${() => stage.act("fork", id)}>${ACTIONS.fork}</button>`}</section>`);
  return ids.length > 0
    && html`<${Fetched} ...${{ stage, scene, draw }}
      title=${`Prompts and replies (${counted(ids.length, "call")})`} />`;
}

/** Things that were asked alike and follow one another. */
export function Panels({ stage, scene, panels }) {
  return panels?.length > 0 && html`<ol class="panels">${panels.map((panel, at) => html`
    <li class=${`panel ${classOf(panel.mark)}`} key=${`${at}-${panel.title}`}><${Panel} ...${{ stage, scene, panel }} />
      </li>`)}</ol>`;
}

const PARTS = 6;

export function Panel({ stage, scene, panel }) {
  const [isWhole, whole] = useState(false), all = panel.parts.length;
  return html`<h4>${panel.title}</h4>
    ${(isWhole ? panel.parts : panel.parts.slice(0, PARTS)).map((part) => html`<${Text} part=${part} quoted />`)}
    ${all > PARTS && html`<${Fold} isWhole=${isWhole} open=${whole} more=${`Show all ${all}`} />`}
    ${panel.answer && html`<p class=${`answer ${sizeOf(panel.answer, 24)}`} dir="auto">
      ${panel.mark && html`<${Sign} mark=${panel.mark} />`}${panel.answer}</p>`}
    ${(panel.note || panel.mark) && html`<p class="small" dir="auto">
      ${joined(": ", panel.mark && nameOf(scene, panel.mark), panel.note)}</p>`}
    ${panel.run && html`<button class="link" onClick=${() => stage.act("open", panel.run)}>Open the run</button>`}
    <${Calls} stage=${stage} scene=${scene} calls=${panel.calls} />`;
}

// -------------------------------------------------------------------------------------------------------- Verdict

/** How far it has come, where the verdict will stand. */
export function standing(scene) {
  const isUnread = scene.unread && scene.status === "empty", isSealed = scene.is_sealed && !isGoing(scene);
  const [first, more] = STATES[isUnread ? "unread" : isSealed ? "sealed" : scene.status] ?? STATES.empty;
  const all = scene.cards.length, far = `${cameSoFar(scene.cards)} of ${counted(all, scene.one)}`;
  const isSaid = all && scene.status !== "waiting";
  return [first, isSaid && `${far} ${scene.is_sealed ? "turned" : "answered"}.`, more].filter(Boolean);
}

/** What comes next; while the run goes on how far it is, and who can stop it. `does` has what happens here. */
export function Actions({ stage, scene, does = {} }) {
  // An answer is edited where it stands.
  const offered = (scene.actions ?? []).filter((one) => one.name !== "fork"), far = stage.far[scene.run];
  if (!offered.length && !far) return null;
  // What can be pressed stays in its place when the rest goes.
  return html`<nav class="next" aria-label="Next steps">${offered.map((one) =>
    html`<button class=${STEPS.includes(one.name) ? "plain step" : "link"}
      onClick=${() => (does[one.name] ?? stage.act)(one.name, one.on)}>${one.words || ACTIONS[one.name]}</button>`)}
    ${far && html`<span class="run"><progress value=${far.share} max="1" aria-label="Progress"></progress>${far.words}
        </span>`}${far?.note && html`<span class="run">${far.note}</span>`}</nav>`;
}

// ----------------------------------------------------------------------------------------------------------- Read

/** A respondent by its name, as the end tells it. */
export const revealed = ({ name, does, is_robot: isRobot }) =>
  `${isRobot ? "the robot " : ""}${name}${does ? `, which ${does}` : ""}`;

// ----------------------------------------------------------------------------------------------------------- Tell

/** What came, in a sentence: in words of its own where it is no word of the model's. */
export const came = (card) => card.came || (card.said && `it said ${wordOf(card, card.said)}`);
export const sizeOf = (text, most = 70) =>
  lengthOf(text) > 3 * most ? "long" : lengthOf(text) > most ? "middle" : "short";

export function Options({ card, chosen, choose }) {
  const options = Object.entries(card.options);
  return options.length > 0 && html`<div class="options" role="group"
      aria-label="What will it say?">${options.map(([value, words], at) => html`
    <button key=${value} aria-pressed=${chosen === value} onClick=${() => choose(value)}>${words}<kbd>${at + 1}</kbd>
        </button>`)}</div>`;
}

export function Ending({ scene, name }) {
  const { verdict } = scene;
  if (!verdict) return html`<h2>${standing(scene).join(" ")}</h2>`;
  return html`${verdict.caution && html`<p class="caution" dir="auto"><${Marked} part=${verdict.caution} /></p>`}
    <div class=${`ending ${classOf(verdict.mark)}`}>
    ${verdict.mark && html`<span class=${`tile ${classOf(verdict.mark)}`}><${Sign} mark=${verdict.mark} /></span>`}
    <h2 class=${sizeOf(verdict.headline.text)} dir="auto"><${Marked} part=${verdict.headline} /></h2></div>
    ${verdict.words && html`<p class="words" dir="auto">${verdict.words}</p>`}
    ${verdict.doubt && html`<p class="doubt" dir="auto">${verdict.doubt}</p>`}
    ${scene.who?.name && html`<p class="reveal"><${Face} who=${scene.who} name=${name} />
      <span>${scene.who.is_robot ? name : "It"} was ${revealed(scene.who)}.</span></p>`}`;
}

// ---------------------------------------------------------------------------------------------------- Predicting

/** What a reader can predict and then see: nothing that was set aside, and no question of a person's own. */
export const isPredictable = (card) =>
  Object.keys(card.options).length > 0 && card.mark !== "set aside" && !card.by_hand;

/** The reader and the explanation over the same tests: only those that count and that both predicted. */
export function against(cards, guesses) {
  const guessed = cards.filter((card) => guesses[card.id]);
  const predicted = guessed.filter((card) => guesses[card.id] !== "unknown" && card.said in card.options);
  const both = predicted.filter((card) => ["kept", "broken"].includes(card.mark) && !card.is_reading
    && card.expects[0] && card.expects[0].value !== "unknown");
  const came = (some) => some.filter((card) => guesses[card.id] === card.said).length;
  if (!predicted.length) return guessed.length ? "You made no prediction." : "";
  if (!both.length) return `You predicted ${came(predicted)} of ${predicted.length} correctly.`;
  const its = both.filter((card) => card.expects[0].value === card.said).length, left = guessed.length - both.length;
  const all = both.length;
  return `You predicted ${came(both)} of ${all} correctly. Taking its explanation literally: ${its} of ${all}.`
    + (left ? " Only questions that count and that both predicted are compared: "
      + `${left > 1 ? `${left} guesses are` : "1 guess is"} left out.` : "");
}
