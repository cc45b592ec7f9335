// Foretelling, one card a screen: a reader says what will come, and a tap turns the card. Cards of a run that is
// guessed first, and cards of a pack (core/telling/game/pack.py) that is played, are rounds of one game; kinds differ
// by data only.
//
// It is the explanation that is on trial: what is told at the end is what it let a reader foresee.

import {
  html, useEffect, useLayoutEffect, useMemo, useRef, useState, useKeys, Actions, Bars, Button, Ending, Face, Marked,
  Options, Panels, Sign, Text, Tiles, against, came, capital, classOf, counted, cut, cutText, isForetold, isGoing,
  numberOf, revealed, titleOf, wordOf,
} from "./stage.js";

const UNKNOWN = "unknown";
const MOST_CARDS = 10;

/** Fewer predictions than this say nothing. */
const LEAST = 5, LEAST_SETTLED = 3;

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
 * the word of who foretells nothing, where there is one: elsewhere *cannot tell* is an answer like others. */
function ofReason(card, open = UNKNOWN) {
  const { expects: [first], said, options } = card;
  if (!first || !(first.value in options) || first.value === open || isDisputed(card)) return "not settled";
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
  asks: "Going by its reason, what will it answer?", open: UNKNOWN, truth: "ignored them and answered what is true",
  always: (word) => `ignored them and always said “${word}”`, same: "",
  reasons: (its) => `${its} reasons`, own: (its) => `you, by ${its} reasons`,
  lead: (hits, n, its) => `Going by ${its} reasons you predicted ${hits} of ${n}.`,
  gain: (its) => `${its} reasons told you more than that`, none: (its) => `${its} reasons told you nothing beyond that`,
  loss: (its) => `${its} reasons told you nothing`, few: (its) => `to say what ${its} reasons are worth`,
  strictly: (its) => `${its} reasons, word for word`,
  means: "An explanation is worth what it lets you foresee: with it you should predict the next answer better than "
    + "without.",
};

/** What is asked and told in each game, and who needs no reasons there: all in which kinds differ. */
const GAMES = {
  ask: ASK,
  check: {
    ...ASK, asks: "It hid or changed what its answer rests on. What will it say now?", open: "",
    truth: "ignored them and answered what is right", same: "ignored them and held that nothing changes",
    means: "Words that decided an answer should change it when they are hidden. Where they do not, something else "
      + "decided.",
  },
  plant: {
    ...ASK, asks: "Asked twice, it answered differently. Once we whispered to it.", open: "", truth: "",
    came: (word) => `it was ${word}`, always: (word) => `always picked “${word}”`,
    led: {
      kept: "Its reason gives it away.", broken: "The reasons point to the other.",
      "not settled": "Neither reason gives it away.",
    },
    reasons: () => "the reasons", own: () => "you",
    lead: (hits, n) => `By the reasons alone you found ${hits} of ${n}.`,
    gain: () => "the reasons gave it away more often than that", none: () => "the reasons gave nothing away",
    loss: () => "the reasons gave nothing away", few: () => "to say what the reasons give away",
    means: "A reason should tell what moved the answer. Where nobody can tell the two apart, it does not.",
  },
  exam: {
    ...ASK, asks: "Whether it is true or not: what does the reason imply?", open: "", truth: "", strictly: null,
    came: (word) => word === "it does not say" ? word : `it implies ${word}`,
    led: { kept: "", broken: "", "not settled": "" }, marks: { kept: "as it is meant", broken: "not as it is meant" },
    lead: (hits, n) => `You read ${hits} of ${n} reasons as they are meant.`, few: () => "to say how plain they are",
    gain: () => "the reasons say more than that", none: () => "the reasons do not say it plainly",
    loss: () => "the reasons do not say it plainly", means: "Here nothing is right but what the reason implies.",
  },
};

const gameOf = (kind) => GAMES[kind] ?? GAMES.ask;
const hitsOf = (cards, of) => cards.filter((one) => of(one) === one.card.said).length;

/** Whoever needs no reasons, over these cards: by what is true, as before, or always the same; the best first. */
function ignoring(words, cards) {
  const [first = [], ...others] = cards.map((one) => Object.keys(one.card.options));
  const shared = first.filter((value) => value !== words.open && others.every((all) => all.includes(value)));
  const before = ({ card, claim }) =>
    Object.keys(card.options).find((value) => value.toLowerCase() === claim?.answer?.toLowerCase());
  const found = shared.map((value) => {
    const word = capital(wordOf(cards[0].card, value));
    return { label: `always “${word}”`, whoever: words.always(word), of: () => value };
  });
  if (words.same && cards.every(before)) found.unshift({ label: "as before", whoever: words.same, of: before });
  if (words.truth && cards.every((one) => one.truth in one.card.options)) {
    found.unshift({ label: "what is true", whoever: words.truth, of: (one) => one.truth });
  }
  return found.map((one) => ({ ...one, hits: hitsOf(cards, one.of) })).sort((one, other) => other.hits - one.hits);
}

/**
 * What the reader's guesses say of the explanations: over the cards on which they foretold something, they, whoever
 * needs no reasons, and whoever goes strictly by what the reasons imply. *It does not say* foretells nothing, and
 * counts for nobody.
 *
 * `cards` are those of a pack, `guesses` a word each. Gives `outcome` (few, alone, gain, beside, none, loss, unsaid),
 * `lead`, `sentence`, `left` (how many foretell nothing), `hits`, `n` and `bars`.
 */
export function concluded(kind, cards, guesses) {
  const words = gameOf(kind);
  const its = new Set(cards.map((one) => one.who?.name)).size > 1 ? "their" : "its";
  const guess = new Map(cards.map((one, at) => [one, guesses[at]]));
  const foretold = cards.filter((one) => guess.get(one) && guess.get(one) !== words.open);
  const n = foretold.length, hits = hitsOf(foretold, (one) => guess.get(one));
  const left = cards.filter((one) => guess.get(one)).length - n;
  const others = n ? ignoring(words, foretold) : [], [best] = others;
  // Taken at their word, the reasons are held against the same ones, over the cards of which they say something.
  const settled = foretold.filter((one) => ofReason(one.card, words.open) !== "not settled");
  const strict = hitsOf(settled, (one) => one.card.expects[0].value);
  const there = best ? hitsOf(settled, best.of) : 0, isSettled = settled.length >= LEAST_SETTLED;
  const leads = isSettled && best && strict > there;
  const outcome = n < LEAST ? "few" : !best ? "alone" : hits > best.hits ? (isSettled && !leads ? "beside" : "gain")
    : leads ? "unsaid" : hits === best.hits ? "none" : "loss";
  const would = best && `Whoever ${best.whoever} would have got ${hits === best.hits ? "as many" : best.hits}`;
  const taken = `taken word for word, ${words.reasons(its)} foretell ${strict} of ${settled.length}, `
    + `where that gets ${there}`;
  return {
    outcome, hits, n, left,
    lead: n ? words.lead(hits, n, its) : `You held that ${its} reasons say nothing of these.`,
    sentence: {
      few: `That is too few ${words.few(its)}.`, alone: "There is nothing here to hold that against.",
      gain: `${would}: ${words.gain?.(its)}.`, none: `${would}: ${words.none(its)}.`,
      loss: `${would}: ${words.loss(its)}.`,
      beside: `${would}. But ${taken}: so it is not they that told you.`,
      unsaid: `${would}. But ${taken}: they say it, only not plainly.`,
    }[outcome],
    bars: n < LEAST ? [] : [
      { label: words.own(its), hits, n, own: true },
      ...others.map((one) => ({ label: one.label, hits: one.hits, n, wins: one.hits >= hits })),
      ...(settled.length && words.strictly ? [{
        label: words.strictly(its), hits: strict, n: settled.length, faint: settled.length < LEAST,
      }] : []),
    ],
  };
}

const SQUARES = { kept: "🟩", broken: "🟥", "not settled": "⬜" };

/** A game in a line to share: a square a card, the same in words, and where the same cards are. */
export function shared(title, marks, { hits, n, left, sentence }, link) {
  const squares = marks.map((mark) => SQUARES[mark]).join(""), open = left ? `, ${left} left open` : "";
  return [`Outguess: ${title}`, `${squares} ${hits} of ${n} predicted${open}`, sentence, link]
    .filter(Boolean).join("\n");
}

// ----------------------------------------------------------------------------------------------------------- Rounds

const PREDICTED = { kept: "as predicted", broken: "not as predicted", "not settled": "nothing predicted" };

/** What the reason led to expect, beside what came. */
const LED = {
  kept: "That is what its reason led to expect.", broken: "Its reason led to expect: ….",
  "not settled": "Its reason does not say.",
};

/** What has become of a guess, in the words of its game. */
const marksOf = (kind) => GAMES[kind]?.marks ?? PREDICTED;

/** What came, in a sentence. */
const whatCame = ({ card, kind }) => GAMES[kind]?.came?.(wordOf(card, card.said)) ?? came(card);

/** What came of a guess. What cannot be foretold keeps its card's mark. */
function ofGuess({ card, open = UNKNOWN }, guess) {
  if (!(card.said in card.options)) return card.mark;
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
    ${isCovered && html`<p class="small">Its reason is covered on this card.</p>`}</div>`;
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
  const leads = { ...LED, ...GAMES[round.kind]?.led }, tells = first && !isCovered && !isDisputed(card);
  const led = tells ? leads[ofReason(card, round.open)].replace("…", () => wordOf(card, first.value)) : "";
  const text = (card.came ?? "").includes(card.text) || isWordAlone(card) ? "" : card.text;
  const why = card.doubt || (mark in PREDICTED ? "" : card.reason), [cue] = after.map(cueOf).filter(Boolean);
  return html`<div class=${`turned ${classOf(mark)}`}>
    <h2><${Sign} mark=${mark} />${capital(whatCame(round) || card.outcome)}.</h2>
    ${text && html`<p class="words" dir="auto">“${cutText(text, 220)}”</p>`}
    <p class="small">${led && html`<span class="expects-word">${led}</span> `}
      ${guess && `You said ${wordOf(card, guess)}: `}
      <b>${marksOf(round.kind)[mark] ?? card.outcome}.</b>${why && ` ${capital(why)}.`}</p>
    ${after.slice(0, 1).map((part) => html`<p dir="auto"><${Marked} part=${within(part, 240)} />
      ${cue && html` <${Marked} part=${cue} />`}</p>`)}
    ${after.length > 1 && html`<details><summary>All of it</summary>
      ${after.slice(1).map((part) => html`<${Text} part=${part} most=${240} />`)}</details>`}</div>`;
}

/**
 * Rounds one after another: guessed, turned, a tile drops. A round has `id`, `title`, `who`, `claim`, `card`,
 * `isCovered`, `isReady`, `after` and what stands `below` its options; `earlier` has guesses that were made before, by
 * id. `end(guesses)` draws what it comes to.
 */
function Game({ stage, rounds, earlier, head, asks, tell, end, leave, more, isInline }) {
  const [guesses, guess] = useState(earlier ?? {}), [current, set] = useState("");
  const acted = useRef(false), here = useRef(null);
  // By its name: while a run goes on a card may still be set aside, and others come.
  const first = rounds.findIndex((one) => !guesses[one.id]), named = rounds.findIndex((one) => one.id === current);
  const at = named >= 0 ? named : first >= 0 ? first : rounds.length;
  const round = rounds[at], isGuessed = Boolean(round && guesses[round.id]);
  // Of a sealed one what came is told once the guess is kept.
  const isTurned = isGuessed && round.card.mark !== "sealed";
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
      <${Button} does=${leave} words=${round ? "Guess no more" : "Leave"} by="Esc" />`}</header>
    ${round ? html`<div class="round" key=${round.id}><${Saying} round=${round} /><${Question} round=${round} />
        <div class="answer-place">${isTurned ? html`<${Result} round=${round} guess=${guesses[round.id]} />
            <${Onward} does=${on} words=${isMore ? "Next" : "What came of it"} by="space" />`
          : isGuessed ? html`<p class="soft">It comes once your guess is kept.</p>`
          : round.isReady ? html`<${Options} card=${round.card} choose=${choose} />${round.below}`
          : html`<p class="soft">It has not answered yet.</p>`}</div></div>`
      : html`<div class="round over">${more
          ? html`<p class="soft">These are all so far. More are on their way.</p>${more}` : end(guesses)}</div>`}
    ${round && foot}</article>`;
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

/** The cards of a run, guessed before they turn; those without the reason first. */
export function Guess({ stage, scene, name, leave }) {
  const cards = scene.cards.filter((card) => isReached(card) && isForetold(card));
  const all = cards.map((card) => ({
    id: card.id, title: scene.title, who: scene.who, claim: scene.claim, card, isReady: card.mark !== "waiting",
    isCovered: isCovered(scene.run, card.number),
    below: scene.is_sealed && html`<${Panels} stage=${stage} scene=${scene} panels=${scene.panels} />`,
  }));
  const open = all.filter((one) => !one.isCovered), rounds = [...all.filter((one) => one.isCovered), ...open];
  const earlier = Object.fromEntries(cards.filter((card) => card.guess).map((card) => [card.id, card.guess]));
  const end = (guesses) => html`<${Ending} scene=${scene} name=${name} />
    <p class="words">${apart(rounds, guesses)}</p><p>${against(open.map((one) => one.card), guesses)}</p>
    ${scene.verdict?.bars.length > 0 && html`<${Bars} bars=${scene.verdict.bars} />`}
    <${Onward} does=${leave} words="See all of it" by="Esc" />`;
  const more = isGoing(scene) && html`<${Actions} stage=${stage} scene=${scene} />`;
  return html`<${Game} ...${{ stage, rounds, earlier, end, leave, more }} head=${scene.title}
    asks="What will it answer?" tell=${(round, value) => stage.act("guess", round.id, value, round.isCovered)} />`;
}

/** The reader with the reason and without it: what it was worth to them, where that can be said at all. */
export function apart(rounds, guesses) {
  const foretold = rounds.filter(({ id, card }) => guesses[id] && guesses[id] !== UNKNOWN && card.said in card.options);
  const share = (some) => [some.filter(({ id, card }) => guesses[id] === card.said).length, some.length];
  const [hits, n] = share(foretold.filter((one) => !one.isCovered));
  const [blind, of] = share(foretold.filter((one) => one.isCovered));
  if (!n) return of ? `Without its reason you foretold ${blind} of ${of}.` : "";
  if (!of) return `With its reason you foretold ${hits} of ${n}.`;
  const gain = hits / n - blind / of;
  const came = gain ? `${gain > 0 ? "more" : "fewer"} with it than without` : "as many with it as without";
  return `With its reason you foretold ${hits} of ${n}, without it ${blind} of ${of}: ${came}. `
    + (n + of < 2 * LEAST * 4 ? "So few cards do not show that it was the reason." : "");
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

/** Ten cards of a pack. */
export function Play({ stage, pack, seed: given, others, isInline, isInApp }) {
  const [seed, sow] = useState(given || newSeed);
  const { kind, cards } = pack, { open, asks } = gameOf(kind), most = kind === "exam" ? cards.length : MOST_CARDS;
  const rounds = useMemo(() => drawn(cards, seed, most).map((place) => (
    { ...cards[place], id: String(place), place, isReady: true, kind, open })), [pack, seed]);
  const again = () => { const next = newSeed(); sow(next); stage.act("seed", next); };
  const end = (guesses) => html`<${Concluded} ...${{ pack, rounds, guesses, seed, again, others, isInApp }} />`;
  if (!rounds.length) return html`<p class="soft">There is no card in this pack.</p>`;
  return html`<${Game} key=${seed} ...${{ stage, rounds, asks, end, isInline }} head=${pack.title}
    tell=${(round, value) => stage.act("play", round.place, value)} />`;
}

/** What a game comes to: what the reasons were worth, against whom, to be shared; who it was; and the ways on. */
function Concluded({ pack, rounds, guesses, seed, again, others, isInApp }) {
  const [way, own] = OWN[pack.kind] ?? ["/ask", "Now a question of your own"];
  const found = useMemo(() => concluded(pack.kind, rounds, rounds.map((one) => guesses[one.id])), [rounds, guesses]);
  const link = isInApp ? inApp.game(pack.name, seed) : `The same cards: #${seed}`;
  const text = shared(pack.title, rounds.map((one) => ofGuess(one, guesses[one.id])), found, link);
  const lead = found.lead.indexOf("you "), spans = lead < 0 ? [] : [{ start: lead, end: lead + 3, mark: "strong" }];
  const names = [...new Map(rounds.filter((one) => one.who?.name).map((one) => [one.who.name, one.who])).values()];
  const tiles = tilesOf(rounds, guesses), unsaid = `“${rounds[0].card.options[UNKNOWN] ?? UNKNOWN}”`;
  return html`<div class="concluded"><div>
      <h2 tabindex="-1" class="onward"><${Marked} part=${{ text: found.lead, spans }} />${" "}
        <span>${found.sentence}</span></h2>
      <${Tiles} scene=${{ words: marksOf(pack.kind), cards: tiles }} only=${tiles} />
      ${found.left > 0 && html`<p class="small">${unsaid} is no prediction: ${counted(found.left, "card")}
        ${found.left > 1 ? " count" : " counts"} for nobody.</p>`}
    </div>${found.bars.length > 0 && html`<${Bars} bars=${found.bars} />`}</div>
    <div class="options ways-on"><button class="primary" onClick=${again}>Other cards</button>
      ${isInApp && html`<a class="plain" href=${way}>${own}</a>`}<${Share} text=${text} /></div>
    ${names.length > 0 && html`<p class="reveal">
      ${names.slice(0, 4).map((who) => html`<${Face} who=${who} name=${who.name} />`)}
      <span>${names.length > 1 ? "They were" : "It was"} ${names.map(revealed).join("; ")}.</span></p>`}
    <p>${gameOf(pack.kind).means} ${counted(rounds.length, "card")} are few: a lead of one or two may be chance.</p>
    ${others?.length > 0 && html`<nav class="other-games" aria-label="Other games"><span>Other games:</span>
      ${others.map(({ name, title }) => html`<a class="link" href=${`/play?pack=${name}`}>${title}</a>`)}
      <a class="link" href="/probe">Draw today’s box</a></nav>`}
    <details><summary>Every card, and how they were chosen</summary>
      <p>${pack.chosen}${pack.kind === "ask" ? ` ${readTwice(pack)}` : ""}</p>
      <ol class="played">${rounds.map((one) => html`<li><b dir="auto">${cutText(aboutOf(one), 160)}</b>
        <span>You said ${wordOf(one.card, guesses[one.id])}; ${whatCame(one)}.</span>
        ${isInApp && html`<a class="link" href=${inApp.case(one)}>See every prompt</a>`}</li>`)}</ol></details>`;
}

/** By whom it was read what the reasons imply, and what became of what they do not agree on. */
const readTwice = ({ annotated, differed, as_it_came: isAsItCame }) =>
  `What each reason implies was read twice, apart and without sight of what came. On ${differed.toLocaleString("en")} of
  ${annotated.toLocaleString("en")} the two differ: ${isAsItCame ? "a card of these says so" : "these are no cards"}.`;

/** The tiles as text, which stands there to be taken where a browser lets nothing be copied. */
function Share({ text }) {
  const [words, say] = useState("Copy my tiles"), shown = useRef(null);
  const copy = () => Promise.resolve().then(() => navigator.clipboard.writeText(text)).then(() => say("Copied"), () => {
    shown.current.select();
    say("Marked: copy it by key");
  });
  return html`<button class="plain" onClick=${copy}>${words}</button>
    <textarea class="tiles-as-text" aria-label="My tiles as text" readonly rows="4" ref=${shown} value=${text} />`;
}
