// Predicting, one card a screen: a reader says what will come, and a tap turns the card. Cards of a run that is
// guessed first, and cards of a pack (core/report/game/pack.py) that is played, are rounds of one game; kinds differ
// by data only.
//
// The explanation is on trial: at the end stands what the model did, and what its reasons let a reader predict.

import {
  html, useEffect, useLayoutEffect, useMemo, useRef, useState, useKeys, Actions, Bars, Button, Calls, Ending, Face,
  Marked, Options, Panels, Sign, Text, Tiles, against, came, capital, classOf, counted, cut, cutText, isPredictable,
  isGoing, nameOf, numberOf, revealed, titleOf, wordOf,
} from "./parts.js";

const UNKNOWN = "unknown";
const MOST_CARDS = 10;

/** Fewer predictions than this say nothing; a lead that chance brings more often than this is none. */
const LEAST = 5, LEVEL = 0.05;

// --------------------------------------------------------------------------------------------------------- Drawing

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomOf(seed) {
  let state = numberOf(String(seed));
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function shuffled(list, random) {
  const all = [...list];
  for (let last = all.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [all[last], all[other]] = [all[other], all[last]];
  }
  return all;
}

/** The longest stretch of neighbours that are alike. */
function longest(values) {
  let most = 0, now = 0;
  values.forEach((value, at) => { now = at && value === values[at - 1] ? now + 1 : 1; most = Math.max(most, now); });
  return most;
}

/** Whether those who read the reason differ on what it implies, as they may on a card of a pack that is as it came. */
const isDisputed = ({ expects: [first, ...others] }) =>
  others.some((one) => one.arm === first.arm && one.value !== first.value);

/** What came of a card for the explanation: what it led to expect, another thing, or it says nothing of it. `open` is
 * the answer that predicts nothing, where there is one: elsewhere *cannot tell* is an answer like others. */
function ofReason(card, open = UNKNOWN) {
  const { expects: [first], said, options, doubt } = card;
  if (!first || !(first.value in options) || first.value === open || doubt || isDisputed(card)) return "not settled";
  return first.value === said ? "kept" : "broken";
}

/**
 * The places in a pack of the cards that are played, at most ten, drawn by a seed; in an order without pattern: no more
 * than three answers or outcomes alike in a row, and no question twice in a row, where that can be had.
 */
export function drawn(cards, seed, most = MOST_CARDS) {
  const random = randomOf(seed);
  const can = cards.map((_, place) => place).filter((place) => cards[place].card.said in cards[place].card.options);
  const chosen = shuffled(can, random).slice(0, most);
  const alike = (order, of) => longest(order.map((place) => of(cards[place])));
  let found = chosen, least = Infinity;
  for (let tries = 0; tries < 300 && least > 3; tries++) {
    const order = shuffled(chosen, random);
    const runs = Math.max(alike(order, (one) => one.card.said), alike(order, (one) => ofReason(one.card)))
      + 3 * (alike(order, (one) => `${one.run} ${one.case}`) - 1);
    if (runs < least) [found, least] = [order, runs];
  }
  return found;
}

/** Whether a card of a run comes without the reason: one of each two, drawn by the run's name, whatever else is known
 * of it yet. These are the first to be guessed, or the reason would be known. */
export function isCovered(run, number) {
  return (randomOf(`${run} ${Math.ceil(number / 2)}`)() < 0.5) === (number % 2 === 0);
}

// ------------------------------------------------------------------------------------------------------ Conclusion

const ASK = {
  asks: "Judging by its reason, what will it answer next?", open: UNKNOWN, same: "",
  led: {
    kept: "It kept to its own reason.", broken: "It contradicted its own reason.",
    "not settled": "Its reason doesn't tell.",
  },
  model: ({ broken, n }) => broken ? `It contradicted its own reason on ${broken} of ${n}.`
    : `It kept to its own reason on all ${n}.`,
  none: "Its reasons didn't tell on any of these cards.",
  lead: (hits, n) => `You predicted ${hits} of ${n} correctly.`,
  means: "A good explanation helps you predict what the model will say next.",
};

/** What is asked and told in each game: all in which kinds differ. */
const GAMES = {
  ask: ASK,
  check: {
    ...ASK, asks: "It hid the words it says its answer depends on. What will it say now?", open: "", same: "as before",
    means: "Words that decided an answer should change it when they are hidden. If they don't, something else decided.",
  },
  plant: {
    ...ASK, asks: "We asked twice and got two answers. Once we slipped in a hint.", open: "",
    came: (word) => `it was ${word}`,
    led: {
      kept: "Its reason gives it away.", broken: "The reasons point to the other.",
      "not settled": "Neither reason gives it away.",
    },
    model: ({ kept, all }) => `The reasons gave the hint away on ${kept} of ${all}.`,
    none: "The reasons gave the hint away on none of these cards.",
    means: "A reason should tell what changed the answer. If nobody can tell the two apart, it doesn't.",
  },
  probe: {
    ...ASK, asks: "This is what its code gives. Does the real function give the same?", open: "",
    led: { kept: "Its code is right here.", broken: "Its code is wrong here.", "not settled": "" },
    means: "A good description of a function gives the right value for inputs that were never tried.",
  },
  exam: {
    ...ASK, asks: "Never mind whether it's true. What follows from the reason?", open: "", isExam: true,
    came: (word) => word === "it does not say" ? word : `it implies ${word}`,
    led: { kept: "", broken: "", "not settled": "" },
    marks: { kept: "correct", broken: "that's not what it implies", "not settled": "not scored" },
    model: ({ hits, n }) => `You read ${hits} of ${n} correctly.`, lead: () => "",
    means: "Only what the reason implies counts here.",
  },
};

const gameOf = (kind) => GAMES[kind] ?? GAMES.ask;
const hitsOf = (cards, of) => cards.filter((one) => of(one) === one.card.said).length;

/** Those who need no reasons, over these cards: by the correct answer, as before, always the same; the best first. */
function ignoring(words, cards) {
  const [first = [], ...others] = cards.map((one) => Object.keys(one.card.options));
  const common = first.filter((value) => value !== words.open && others.every((all) => all.includes(value)));
  const before = ({ card, claim }) =>
    Object.keys(card.options).find((value) => value.toLowerCase() === claim?.answer?.toLowerCase());
  const found = common.map((value) => {
    const word = capital(wordOf(cards[0].card, value));
    return { label: `always “${word}”`, would: `Always answering ${word}`, of: () => value };
  });
  if (words.same && cards.every(before)) {
    found.unshift({ label: words.same, would: "Answering as before", of: before });
  }
  if (cards.every((one) => one.truth in one.card.options)) {
    found.unshift({ label: CORRECT, would: "Just giving the correct answer", of: (one) => one.truth });
  }
  return found.map((one) => ({ ...one, hits: hitsOf(cards, one.of) })).sort((one, other) => other.hits - one.hits);
}

const CORRECT = "the correct answer";

/** How likely a fair coin is to win at least so often (one-sided). */
function byChance(wins, losses) {
  const n = wins + losses;
  let ways = 1, sum = 0;
  for (let k = 0; k <= n; k++) {
    if (k >= wins) sum += ways;
    ways = (ways * (n - k)) / (k + 1);
  }
  return sum / 2 ** n;
}

/**
 * What the guesses of all players say of the reasons of a pack that nobody selected: a sentence, an `outcome` (none,
 * open, gain, loss). `guessed` is how many `players` there are, and of each card, by its place from 0, how many guessed
 * which word. A card counts once, by the share of its guesses that were right.
 */
export function pooled(kind, cards, { players = 0, cards: counts = {} } = {}) {
  const words = gameOf(kind), sum = (values) => values.reduce((all, one) => all + one, 0);
  const shares = new Map(cards.flatMap((one, at) => {
    const made = Object.entries(counts[at] ?? {}).filter(([value]) => value !== words.open);
    const isDecided = ofReason(one.card, words.open) !== "not settled";
    return isDecided && made.length ? [[one, (counts[at][one.card.said] ?? 0) / sum(made.map(([, n]) => n))]] : [];
  }));
  const rows = [...shares.keys()], n = rows.length, [best] = n ? ignoring(words, rows) : [];
  if (players < 2 || n < LEAST || !best || words.isExam) return { outcome: "none", sentence: "" };
  const gains = rows.map((one) => shares.get(one) - (best.of(one) === one.card.said));
  const wins = gains.filter((one) => one > 0).length, losses = gains.filter((one) => one < 0).length;
  const isLed = hitsOf(rows, (one) => one.card.expects[0].value) > best.hits;
  const outcome = isLed && byChance(wins, losses) <= LEVEL ? "gain" : byChance(losses, wins) <= LEVEL ? "loss" : "open";
  const right = Number(sum([...shares.values()]).toFixed(1));
  return { outcome, sentence: `All ${players} players so far, over ${n} cards: ${right} right on average. `
    + `${best.would} would have scored ${best.hits}. ${POOLED[outcome]}` };
}

const POOLED = {
  gain: "So the reasons told players more.", loss: "So the reasons didn't help players.",
  open: "That is too few to say whether the reasons helped.",
};

/**
 * What happened on these cards: `model` about the model, `lead` and `sentence` about the reader, who stands beside the
 * reasons taken literally and the correct answer, all over the same cards: those that the reason decides and for which
 * the reader made a prediction. One game is no verdict on the reasons: it would judge a choice of cards, or few cards.
 *
 * `cards` are those of a pack, `guesses` a word each. Gives `left` (cards that are not scored), `hits`, `n`, `bars`.
 */
export function concluded(kind, cards, guesses) {
  const words = gameOf(kind), guess = new Map(cards.map((one, at) => [one, guesses[at]]));
  const decided = cards.filter((one) => ofReason(one.card, words.open) !== "not settled");
  const scored = decided.filter((one) => guess.get(one) && guess.get(one) !== words.open);
  const n = scored.length, hits = hitsOf(scored, (one) => guess.get(one));
  const broken = decided.filter((one) => ofReason(one.card, words.open) === "broken").length;
  const of = words.isExam ? n : decided.length;
  const counts = { broken, kept: decided.length - broken, n: of, all: cards.length, hits };
  const told = {
    model: decided.length ? words.model(counts) : words.none, hits, n,
    left: cards.filter((one) => guess.get(one)).length - n,
    lead: n ? words.lead(hits, n) : "You made no predictions.",
  };
  const literally = hitsOf(scored, (one) => one.card.expects[0].value);
  const beside = n ? ignoring(words, scored).filter((one) => [CORRECT, words.same].includes(one.label)) : [];
  const correct = beside.find((one) => one.label === CORRECT);
  const own = { label: words.isExam ? "you" : "you, using its reasons", hits, n, own: true };
  if (words.isExam) return { ...told, sentence: "", bars: n ? [own] : [] };
  const bars = n ? [own, { label: "taking its reasons literally", hits: literally, n }] : [];
  const also = correct ? `; just giving the correct answer gets ${correct.hits}` : "";
  return {
    ...told, sentence: n ? `Taking its reasons literally gets ${literally}${also}.` : "",
    bars: [...bars, ...beside.map(({ label, hits }) => ({ label, hits, n }))],
  };
}

/** What is said at all times of a pack that was chosen. */
export function picked({ cards, as_it_came: isAsItCame, kind }) {
  if (isAsItCame) return "";
  const goings = cards.map((one) => ofReason(one.card, gameOf(kind).open));
  const [works, fails] = ["kept", "broken"].map((mark) => goings.filter((one) => one === mark).length);
  return works && fails && Math.abs(works - fails) <= 1
    ? `We picked cards where reasons work and fail ${works === fails ? "" : "about "}equally often.`
    : "We picked these cards. They are examples, not evidence.";
}

const SQUARES = { kept: "🟩", broken: "🟥", "not settled": "⬜" };

/** A game in a line to share: a square a card, the same in words, and where the same cards are. */
export function shared(title, marks, { hits, n, left, model }, link) {
  const squares = marks.map((mark) => SQUARES[mark]).join(""), open = left ? `, ${left} not scored` : "";
  return [`Outguess: ${title}`, `${squares} ${hits} of ${n} predicted${open}`, model, link]
    .filter(Boolean).join("\n");
}

// ----------------------------------------------------------------------------------------------------------- Rounds

const PREDICTED = { kept: "you were right", broken: "you were wrong", "not settled": "not scored" };

/** What has become of a guess, in the words of its game. */
const marksOf = (kind) => GAMES[kind]?.marks ?? PREDICTED;

/** What came, in a sentence. */
const whatCame = ({ card, kind }) => GAMES[kind]?.came?.(wordOf(card, card.said)) ?? came(card);

/** The result of a guess. What cannot be predicted keeps its card's mark; a card of a pack is not scored where its
 * reason does not decide it. */
function ofGuess({ card, kind, open = UNKNOWN }, guess) {
  if (!(card.said in card.options)) return card.mark;
  if (kind && ofReason(card, open) === "not settled") return "not settled";
  return !guess || guess === open ? "not settled" : guess === card.said ? "kept" : "broken";
}

/** What was said, its answer first, in the words in which it was said; or the answer alone. */
function Saying({ round }) {
  const { claim, title, who, isCovered } = round, answer = capital(claim?.answer ?? "");
  const parts = isCovered ? [] : claim?.parts ?? [];
  const opens = parts[0]?.text.toLowerCase().startsWith(answer.toLowerCase());
  const [first = { text: "" }, ...rest] = opens ? parts : answered(answer, parts);
  return claim && html`<div class="claim">
    <div class="speaker"><${Face} who=${who} name="It" /><span dir="auto">${cutText(title, 160)}</span></div>
    <blockquote>${[first, ...rest].map((part) => html`<${Text} part=${part} most=${280} />`)}</blockquote>
    ${isCovered && html`<p class="small">${round.cover ?? "Reason hidden on this card."}</p>`}</div>`;
}

/** The answer before the first of the parts of a reason; where that has a label of its own, apart from it. */
function answered(answer, [first, ...rest]) {
  if (answer && first?.label) return [...answered(answer, []), first, ...rest];
  const before = answer && `${answer}${first ? ": " : "."}`, by = [...before].length;
  const spans = (first?.spans ?? []).map((one) => ({ ...one, start: one.start + by, end: one.end + by }));
  if (by) spans.unshift({ start: 0, end: by, mark: "strong" });
  return [{ ...first, text: before + (first?.text ?? ""), spans }, ...rest];
}

/** Two reasons, of which one is to be told. */
const Reasons = ({ parts }) => html`<div class="reasons">${parts.map((part) =>
  html`<blockquote class="claim"><${Text} part=${part} most=${280} /></blockquote>`)}</div>`;

/** Whether it said nothing but the answer. */
const isWordAlone = (card) => card.text.replace(/[^\p{L}\p{N}]|^\d+\)/gu, "").toLowerCase() === card.said.toLowerCase();

/** What was whispered, as it stood in what was asked. */
function cueOf({ text, spans }) {
  const span = spans.find((one) => one.mark === "cue");
  const found = span ? [...text].slice(span.start, span.end).join("").trim() : "";
  return found && within({ text: found, spans: [{ start: 0, end: [...found].length, mark: "cue" }] }, 120);
}

const within = (part, most) => [...part.text].length > most ? cut(part, most) : part;

/** A card that was turned: what came in its own words, and whether its reason led there. */
function Result({ round, guess }) {
  const { card, isCovered, after = [] } = round, mark = ofGuess(round, guess), [first] = card.expects;
  const { led } = gameOf(round.kind), tells = first && !isCovered && !isDisputed(card), of = ofReason(card, round.open);
  const text = (card.came ?? "").includes(card.text) || isWordAlone(card) ? "" : card.text;
  const why = card.doubt || (mark in PREDICTED ? "" : card.reason), [cue] = after.map(cueOf).filter(Boolean);
  const isNone = guess === (round.open ?? UNKNOWN);
  const about = isNone ? "you made no prediction" : marksOf(round.kind)[mark];
  const pointed = tells && !gameOf(round.kind).isExam && of !== "not settled"
    ? `Its own reason pointed to ${wordOf(card, first.value)}.` : "";
  return html`<div class=${`turned ${classOf(mark)}`}>
    <h2>${round.isAlone && !(card.said in card.options) ? "Its answer cannot be used."
      : html`${capital(whatCame(round) || card.outcome)}. ${tells && led[of]}`}</h2>
    ${text && html`<p class="words" dir="auto">“${cutText(text, 220)}”</p>`}
    <p class="small"><${Sign} mark=${mark} /><b>${capital(about ?? card.outcome)}.</b>
      ${pointed && html` <span class="expects-word">${pointed}</span>`}${why && ` ${capital(why)}.`}</p>
    ${after.slice(0, 1).map((part) => html`<p dir="auto"><${Marked} part=${within(part, 240)} />
      ${cue && html` <${Marked} part=${cue} />`}</p>`)}
    ${after.length > 1 && html`<details><summary>All of it</summary>
      ${after.slice(1).map((part) => html`<${Text} part=${part} most=${240} />`)}</details>`}${round.calls}</div>`;
}

/**
 * Rounds one after another: guessed, turned, a tile drops. A round has `id`, `title`, `who`, `claim`, `card`,
 * `isCovered`, `isReady`, `after` and what stands `below` its options; `earlier` has guesses that were made before, by
 * id. `end(guesses)` draws what it comes to; `note` is visible all the time, and `task` on the first card.
 */
function Game({ stage, rounds, earlier, head, asks, tell, end, leave, more, isInline, note, task }) {
  const [guesses, guess] = useState(earlier ?? {}), [current, set] = useState("");
  const acted = useRef(false), here = useRef(null);
  // By its name: while a run goes on a card may still be set aside, and others come.
  const first = rounds.findIndex((one) => !guesses[one.id]), named = rounds.findIndex((one) => one.id === current);
  const at = named >= 0 ? named : first >= 0 ? first : rounds.length;
  const round = rounds[at], isGuessed = Boolean(round && guesses[round.id]);
  // Of a sealed one what came is told once the guess is kept.
  const isTurned = isGuessed && !["sealed", "waiting"].includes(round.card.mark);
  const go = (to) => { acted.current = true; set(rounds[to]?.id ?? ""); };
  const choose = (value) => {
    if (!round?.isReady || isGuessed) return;
    acted.current = true;
    guess((all) => ({ ...all, [round.id]: value }));
    set(round.id);
    tell(round, value);
  };
  // More may have come since what was the end.
  const on = () => go(at + 1 < rounds.length ? at + 1 : rounds.findIndex((one) => !guesses[one.id]));
  const values = Object.keys(round?.card.options ?? {});
  useKeys(stage, {
    ...Object.fromEntries(values.map((value, n) => [String(n + 1), () => choose(value)])),
    ...(isTurned ? { " ": on, Enter: on, ArrowRight: on } : isInline ? {} : { " ": () => {}, Enter: () => {} }),
    ...(leave ? { Escape: leave } : {}), ...(at && !isInline ? { ArrowLeft: () => go(at - 1) } : {}),
  });
  const became = isTurned && (marksOf(round.kind)[ofGuess(round, guesses[round.id])] ?? "");
  const words = !round ? "" : isTurned ? `${capital(whatCame(round))}: ${became}.` : titleOf(round.card).join(" ");
  useEffect(() => { if (acted.current && words) stage.say?.(words); }, [words]);
  // What was pressed is gone: the focus goes where one goes on, but never before a person did something.
  useLayoutEffect(() => {
    const find = (selector) => here.current.querySelector(selector);
    if (acted.current) (find(".onward") ?? find("h2[tabindex]"))?.focus({ preventScroll: true });
  }, [at, isTurned]);
  const tiles = tilesOf(rounds, guesses), isMore = tiles.length < rounds.length || more;
  const foot = html`<footer><span class="hint">${round ? `${at + 1} of ${rounds.length}` : ""}</span>
    <div class="dropped"><${Tiles} scene=${{ words: marksOf(rounds[0]?.kind), cards: tiles }} only=${tiles} /></div>
    </footer>`;
  return html`<article class=${`game ${isInline ? "inline" : ""}`} ref=${here}>
    <header><span dir="auto">${round ? asks : head}</span>${leave && html`
      <${Button} does=${leave} words=${round ? "Stop guessing" : "Exit"} by="Esc" />`}</header>
    ${round ? html`<div class="round" key=${round.id}>${at === 0 && task && html`<p class="soft">${task}</p>`}
        <${Saying} round=${round} /><${Question} round=${round} />
        <div class="answer-place">${isTurned ? html`<${Result} round=${round} guess=${guesses[round.id]} />
            <${Onward} does=${on} words=${isMore ? "Next" : "See your result"} by="space" />`
          : isGuessed && round.isAlone ? html`<p class="soft">You said <b>${wordOf(round.card, guesses[round.id])}</b>.
            It is writing its answer…</p>`
          : isGuessed ? html`<p class="soft">The answer appears once your guess is saved.</p>`
          : round.isReady ? html`<${Options} card=${round.card} choose=${choose} />${round.below}`
          : html`<p class="soft">It has not answered yet.</p>`}</div></div>`
      : html`<div class="round over">${more
          ? html`<p class="soft">These are all the cards so far. More are on their way.</p>${more}`
          : end(guesses)}</div>`}
    ${round && foot}${note && html`<p class="small picked">${note}</p>`}</article>`;
}

/** The rounds that were guessed, as cards whose tiles are drawn. */
const tilesOf = (rounds, guesses) => rounds.map((one, at) =>
  guesses[one.id] && { ...one.card, id: one.id, number: at + 1, mark: ofGuess(one, guesses[one.id]) }).filter(Boolean);

/** What leads on from a card, or from the last of them. */
const Onward = ({ does, words, by }) => html`<div class="options">
  <button class="primary onward" onClick=${does}>${words}<kbd>${by}</kbd></button></div>`;

/** What is asked of the reader; of a card without a claim with the reasons that are to be told apart. */
function Question({ round }) {
  const [first, ...others] = round.card.parts;
  // What stands in the claim is not said again.
  const known = new Set([round.title, ...(round.isCovered ? [] : round.claim?.parts ?? []).map((part) => part.text)]);
  const rest = others.filter((part) => !known.has(part.text));
  if (!round.claim && rest.length) {
    return html`<div class="speaker"><${Face} who=${round.who} name="It" /><span dir="auto">${cutText(round.title, 160)}
        ${first.label && html` <b>${first.label}</b>`}</span></div><${Reasons} parts=${rest} />
      <h2 tabindex="-1" dir="auto">${cutText(first.text, 300)}</h2>`;
  }
  return html`${first?.text.length > 300 ? html`<${Text} part=${first} most=${900} />`
      : html`<h2 tabindex="-1" dir="auto"><${Marked} part=${first ?? { text: "…" }} /></h2>`}
    ${rest.map((part) => html`<${Text} part=${part} most=${400} />`)}`;
}

// ------------------------------------------------------------------------------------------------------ Guess, play

const isReached = (card) => card.mark !== "stopped" || Boolean(card.said);

const COVER = "Reason hidden on this card. At the end you can compare your guesses with a reason and without one.";

/** What a person who guesses has to know first: who “it” is, and what to do. */
const taskOf = ({ who }) => `“It” is ${who.shown || "a language model"}. It gave an answer and a reason, and then we
  tested it. On each card, guess what happened; then the card turns.`;

/** The cards of a run, guessed before they turn; those without the reason first. */
export function Guess({ stage, scene, name, leave }) {
  if (isGoing(scene) && !scene.cards.length) return html`<${Before} ...${{ stage, scene, leave }} />`;
  if (scene.by_person) return html`<${GuessAlone} ...${{ stage, scene, name, leave }} />`;
  const cards = scene.cards.filter((card) => isReached(card) && isPredictable(card));
  const all = cards.map((card) => ({
    id: card.id, title: scene.title, who: scene.who, claim: scene.claim, card, isReady: card.mark !== "waiting",
    isCovered: isCovered(scene.run, card.number), cover: COVER,
    below: scene.is_sealed && html`<${Panels} stage=${stage} scene=${scene} panels=${scene.panels} />`,
  }));
  const open = all.filter((one) => !one.isCovered), rounds = [...all.filter((one) => one.isCovered), ...open];
  const earlier = Object.fromEntries(cards.filter((card) => card.guess).map((card) => [card.id, card.guess]));
  const end = (guesses) => html`<${Ending} scene=${scene} name=${name} />
    <p class="words">${apart(rounds, guesses)}</p><p>${against(open.map((one) => one.card), guesses)}</p>
    ${scene.verdict?.bars.length > 0 && html`<${Bars} bars=${scene.verdict.bars} />`}
    <${Onward} does=${leave} words="See the full run" by="Esc" />`;
  const more = isGoing(scene) && html`<${Actions} stage=${stage} scene=${scene} />`;
  return html`<${Game} ...${{ stage, rounds, earlier, end, leave, more }} head=${scene.title} task=${taskOf(scene)}
    asks=${scene.one === "question" ? "What will it answer?" : "What happened?"} 
    tell=${(round, value) => stage.act("guess", round.id, value, round.isCovered)} />`;
}

/** The cards of a run in which nobody else predicts: each can be guessed while the model still writes its answer. What
 * cannot be used stays in its place, with the reason. */
function GuessAlone({ stage, scene, name, leave }) {
  const cards = scene.cards.filter((card) => (isReached(card) || card.guess) && !card.by_hand);
  const rounds = cards.map((card) => ({
    id: card.id, title: scene.title, who: scene.who, claim: scene.claim, isAlone: true,
    isReady: !scene.is_sealed || card.mark !== "waiting",
    // The guess is no expectation that the reason would have to meet.
    card: { ...asked(card, UNKNOWN), expects: [], outcome: nameOf(scene, card.mark) },
    calls: html`<${Calls} stage=${stage} scene=${scene} calls=${card.calls} />`,
  }));
  const earlier = Object.fromEntries(cards.filter((card) => card.guess).map((card) => [card.id, card.guess]));
  const end = (guesses) => {
    const [headline, line] = alone(rounds, guesses), tiles = tilesOf(rounds, guesses);
    return html`<h2 tabindex="-1" class="onward">${headline}</h2>
      <${Tiles} scene=${{ words: PREDICTED, cards: tiles }} only=${tiles} /><p>${line}</p>
      ${scene.who?.name && html`<p class="reveal"><${Face} who=${scene.who} name=${name} />
        <span>The model was ${revealed(scene.who)}.</span></p>`}
      <div class="options ways-on"><a class="plain primary" href="/stories">Next: what a real model did, as a story</a>
        <${Button} does=${leave} words="See the full run" by="Esc" /></div>`;
  };
  return html`<${Game} ...${{ stage, rounds, earlier, end, leave }} head=${scene.title} asks=${ASK.asks}
    tell=${(round, value) => stage.act("guess", round.id, value)} />`;
}

/** Before the first card: its answer as it is written, where no card will hide the reason. */
function Before({ stage, scene, leave }) {
  const [first] = (scene.by_person && scene.coming) || [];
  useKeys(stage, { Escape: leave });
  return html`<article class="game"><header><span dir="auto">${ASK.asks}</span>
      <${Button} does=${leave} words="Stop guessing" by="Esc" /></header>
    <div class="round"><div class="claim"><div class="speaker"><${Face} who=${scene.who} name="It" />
        <span dir="auto">${cutText(scene.title, 160)}</span></div>
      ${first ? html`<blockquote class="is-coming"><${Text} part=${{ text: first.text }} /></blockquote>`
        : html`<p class="soft">Waiting for its answer…</p>`}</div></div>
    <footer><${Actions} stage=${stage} scene=${scene} /></footer></article>`;
}

/** How many answers the reader predicted, and what so few cannot show. */
export function alone(rounds, guesses) {
  const known = rounds.filter(({ id, card }) => guesses[id] && card.said in card.options);
  const predicted = known.filter(({ id }) => guesses[id] !== UNKNOWN), n = predicted.length;
  const hits = predicted.filter(({ id, card }) => guesses[id] === card.said).length;
  const left = rounds.filter(({ id }) => guesses[id]).length - n;
  const others = left ? ` ${counted(left, "card")} ${left > 1 ? "are" : "is"} not scored.` : "";
  if (!n) return ["You made no prediction that can be scored.", others.trim()];
  const half = n % 2 ? `${(n - 1) / 2} or ${(n + 1) / 2}` : n / 2;
  const saying = (value) => predicted.filter(({ card }) => card.said === value).length;
  const [most] = Object.keys(predicted[0].card.options).sort((one, other) => saying(other) - saying(one));
  const same = saying(most) > n / 2 ? `, always answering ${wordOf(predicted[0].card, most)} gets ${saying(most)}` : "";
  return [`You predicted ${hits} of ${n} with its reason.`, `Guessing gets about ${half} of ${n}${same}. `
    + `${counted(n, "card")} cannot show whether the reason helped you.${others}`];
}

/** The reader with the reason and without it: what it was worth to them, where that can be said at all. */
export function apart(rounds, guesses) {
  const isOne = ({ id, card }) => guesses[id] && guesses[id] !== UNKNOWN && card.said in card.options;
  const predicted = rounds.filter(isOne);
  const share = (some) => [some.filter(({ id, card }) => guesses[id] === card.said).length, some.length];
  const [hits, n] = share(predicted.filter((one) => !one.isCovered));
  const [blind, of] = share(predicted.filter((one) => one.isCovered));
  if (!n) return of ? `You predicted ${blind} of ${of} without its reason.` : "";
  if (!of) return `You predicted ${hits} of ${n} with its reason.`;
  return `You predicted ${hits} of ${n} with its reason and ${blind} of ${of} without it.`
    + (n + of < 2 * LEAST * 4 ? " That is too few to say the reason helped." : "");
}

const inApp = {
  case: (one) => `/case?${new URLSearchParams({ run: one.run, ...(one.case ? { case: one.case } : {}) })}`,
  game: (pack, seed) => `${location.origin}/play?${new URLSearchParams({ pack })}#${encodeURIComponent(seed)}`,
};

/** By which words a card is found again in the list of all. */
function aboutOf({ kind, title, claim, card }) {
  const [of] = kind === "check" ? (claim?.parts ?? []).map((part) => part.text) : claim ? titleOf(card) : [];
  return of ?? title;
}

const OWN = { check: ["/check", "Now a text of your own"], plant: ["/plant", "Now a question of your own"] };

const newSeed = () => String(Math.floor(Math.random() * 1e6));

/** A card with the words of the answer that is no prediction. */
const asked = (card, open) =>
  open in card.options ? { ...card, options: { ...card.options, [open]: "The reason doesn't tell me" } } : card;

/** Ten cards of a pack. */
export function Play({ stage, pack, seed: given, others, guessed, isInline, isInApp }) {
  const [seed, sow] = useState(given || newSeed);
  const { kind, cards } = pack, { open, asks } = gameOf(kind), most = kind === "exam" ? cards.length : MOST_CARDS;
  const rounds = useMemo(() => drawn(cards, seed, most).map((place) => (
    { ...cards[place], card: asked(cards[place].card, open), id: String(place), place, isReady: true, kind, open }
  )), [pack, seed]);
  const again = () => { const next = newSeed(); sow(next); stage.act("seed", next); };
  const end = (guesses) =>
    html`<${Concluded} ...${{ pack, rounds, guesses, seed, again, others, guessed, isInApp }} />`;
  if (!rounds.length) return html`<p class="soft">This pack has no cards.</p>`;
  return html`<${Game} key=${seed} ...${{ stage, rounds, asks, end, isInline }} head=${pack.title} note=${picked(pack)}
    tell=${(round, value) => stage.act("play", round.place, value)} />`;
}

/** What happened on these cards, to be shared; who it was; and the ways on. */
function Concluded({ pack, rounds, guesses, seed, again, others, guessed, isInApp }) {
  const [way, onward] = OWN[pack.kind] ?? ["/ask", "Now a question of your own"];
  const own = rounds.map((one) => guesses[one.id]);
  const found = useMemo(() => concluded(pack.kind, rounds, own), [rounds, guesses]);
  const ofAll = () => (pack.as_it_came ? pooled(pack.kind, pack.cards, guessed).sentence : "");
  const together = useMemo(ofAll, [pack, guessed]);
  const link = isInApp ? inApp.game(pack.name, seed) : `The same cards: #${seed}`;
  const text = shared(pack.title, rounds.map((one) => ofGuess(one, guesses[one.id])), found, link);
  const names = [...new Map(rounds.filter((one) => one.who?.name).map((one) => [one.who.name, one.who])).values()];
  const tiles = tilesOf(rounds, guesses);
  return html`<div class="concluded"><div>
      <h2 tabindex="-1" class="onward">${found.model}</h2>
      ${(found.lead || found.sentence) && html`<p class="yours"><b>${found.lead}</b> ${found.sentence}</p>`}
      <${Tiles} scene=${{ words: marksOf(pack.kind), cards: tiles }} only=${tiles} />
      ${found.left > 0 && html`<p class="small">${counted(found.left, "card")}
        ${found.left > 1 ? " are" : " is"} not scored: the reason doesn't tell, or you made no prediction.</p>`}
      ${together && html`<p class="together">${together}</p>`}
    </div>${found.bars.length > 0 && html`<${Bars} bars=${found.bars} />`}</div>
    <div class="options ways-on"><button class="primary" onClick=${again}>Play again</button>
      ${isInApp && html`<a class="plain" href=${way}>${onward}</a>`}<${Share} text=${text} /></div>
    ${names.length > 0 && html`<p class="reveal">
      ${names.slice(0, 4).map((who) => html`<${Face} who=${who} name=${who.name} />`)}
      <span>${names.length > 1 ? "The models were" : "The model was"} ${names.map(revealed).join("; ")}.</span></p>`}
    <p>${gameOf(pack.kind).means}</p>
    ${others?.length > 0 && html`<nav class="other-games" aria-label="Other games"><span>Other games:</span>
      ${others.map(({ name, title }) => html`<a class="link" href=${`/play?pack=${name}`}>${title}</a>`)}
      <a class="link" href="/probe">Guess today’s function</a></nav>`}
    <details><summary>Every card, and how they were chosen</summary>
      <p>${pack.chosen}${pack.kind === "ask" ? ` ${readTwice(pack)}` : ""}</p>
      <ol class="played">${rounds.map((one) => html`<li><b dir="auto">${cutText(aboutOf(one), 160)}</b>
        <span>You predicted ${wordOf(one.card, guesses[one.id])}; ${whatCame(one)}.</span>
        ${isInApp && html`<a class="link" href=${inApp.case(one)}>See every prompt</a>`}</li>`)}</ol></details>`;
}

/** By whom it was read what the reasons imply, and what became of what they do not agree on. */
const readTwice = ({ annotated, differed, as_it_came: isAsItCame }) =>
  `Two readers judged independently what each reason implies, without seeing the answer. On
  ${differed.toLocaleString("en")} of ${annotated.toLocaleString("en")} they disagree: ${
    isAsItCame ? "those cards say so" : "those were left out"}.`;

/** The tiles as text, which stands there to be taken where a browser lets nothing be copied. */
function Share({ text }) {
  const [words, say] = useState("Copy my result"), shown = useRef(null);
  const copy = () => Promise.resolve().then(() => navigator.clipboard.writeText(text)).then(() => say("Copied"), () => {
    shown.current.select();
    say("Selected. Press Ctrl+C to copy.");
  });
  return html`<button class="plain" onClick=${copy}>${words}</button>
    <textarea class="tiles-as-text" aria-label="My result as text" readonly rows="4" ref=${shown} value=${text} />`;
}
