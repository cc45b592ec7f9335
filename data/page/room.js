// A class: the wall and a phone draw the picture that the server sends whenever the class moves on. What a screen may
// not show yet is not in its picture.
({ html, render, useState, useEffect, useLayoutEffect, useMemo, useRef } = library);

const isWall = document.body.dataset.screen === "wall";
const screenName = isWall ? "wall" : "phone";
const style = new CSSStyleSheet();
style.replaceSync(document.getElementById("stage-style").content.textContent);
const shadow = document.querySelector("main").attachShadow({ mode: "open" });
shadow.adoptedStyleSheets = [style];
const place = document.createElement("div");
place.className = "stage";
shadow.append(place);

/** Whether this browser has joined that class: a stream is opened only then. */
const hasJoined = (code) => { try { return localStorage.getItem("class") === code; } catch { return false; } };
const keepJoined = (code) => { try { localStorage.setItem("class", code); } catch { /* it may not be kept */ } };

const LETTERS = /[^A-Z]/g;
const codeInAddress = () => location.hash.slice(1).toUpperCase().replace(LETTERS, "").slice(0, 4);
const keepCode = (code) => history.replaceState(null, "", `${location.pathname}#${code}`);
const percent = (share) => `${Math.round(100 * share)}\u202f%`;
const people = (n) => (n === 1 ? "1 person" : `${n} people`);

/** What the server answers, as JSON; `why` where it refuses or cannot be reached. */
async function fetched(path, body) {
  const sent = body && { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  try {
    const reply = await fetch(path, { cache: "no-store", ...sent });
    return { status: reply.status, ...(await reply.json()) };
  } catch {
    return { status: 0, why: "The connection is lost. Trying again…" };
  }
}

/** The picture of a room, kept up to date; `fault` says why there is none, and `isLost` that it may be old. It is asked
 * for again with another `turn`. */
function usePicture(code, turn = 0) {
  const [picture, set] = useState(null), [fault, say] = useState(""), [isLost, lose] = useState(false);
  useEffect(() => {
    if (!code) return undefined;
    let source = null, waiting = 0, isGone = false;
    const retry = () => { clearTimeout(waiting); waiting = setTimeout(open, 1500 + 1500 * Math.random()); };
    const take = (now) => { set(now); say(""); lose(false); };
    const open = () => {
      clearTimeout(waiting);
      source?.close();
      source = new EventSource(`/room/events/${screenName}/${code}`);
      source.onmessage = ({ data }) => take(JSON.parse(data));
      source.onerror = async () => {
        lose(true);
        source.close();
        const { status, why, ...now } = await fetched(`/room/now/${screenName}/${code}`);
        if (isGone) return;
        if (status === 200) take(now);
        if ([403, 404].includes(status)) { set(null); say(why); } else retry();
      };
    };
    // A phone that slept may hold a connection that is dead.
    const wake = () => { if (document.visibilityState === "visible") open(); };
    document.addEventListener("visibilitychange", wake);
    addEventListener("online", open);
    open();
    return () => {
      isGone = true;
      clearTimeout(waiting);
      source?.close();
      document.removeEventListener("visibilitychange", wake);
      removeEventListener("online", open);
    };
  }, [code, turn]);
  return { picture, set, fault, isLost };
}

// ------------------------------------------------------------------------------------------------------------ Cards

/** What people do in a room of each kind. */
const TASKS = {
  ask: "It answered a question and gave a reason. Predict how it answers the next question.",
  check: "It said which words decide its answer. We hid them. Predict what it says now.",
  plant: "We asked it twice and once slipped in a hint. Tell from its reasons which time that was.",
  probe: "It studied a function and wrote code for it. Predict whether the code is right.",
  sketch: "A function is hidden. You see some of its points. Draw its curve with a finger.",
  exam: "Say what follows from the reason, whether or not it is true.",
};
const roomTask = ({ kind, it }) => `${!["sketch", "exam"].includes(kind) ? `“It” is ${it}. ` : ""}${TASKS[kind]}`;
const SEES = {
  none: "You don't see its reason on this card. Others do, so the class finds out what the reason is worth.",
  arguments: "Instead of its reason you see the best argument for its answer and against it. It wrote both.",
};

const asksOf = ({ kind, arm }) =>
  (arm === "reason" || kind !== "ask" ? gameOf(kind).asks : "What will it answer next?");

/** A revealed card: what happened, in its own words, and whether its reason led there. */
function Revealed({ round, vote }) {
  const { card, kind, isCovered, after } = round, open = gameOf(kind).open;
  const isTold = !isCovered && card.expects.length > 0, of = isTold ? ofReason(card, open) : "not settled";
  const text = (card.came ?? "").includes(card.text) || isWordAlone(card) ? "" : card.text;
  const right = vote === card.said, mark = vote ? (right ? "kept" : "broken") : of;
  const pointed = isTold && of !== "not settled" && kind === "ask"
    ? `Its own reason pointed to ${wordOf(card, card.expects[0].value)}.` : "";
  return html`<div class=${`turned ${classOf(mark)}`}><h2>${capital(whatCame({ card, kind }))}.</h2>
    ${text && html`<p class="words" dir="auto">“${cutText(text, 220)}”</p>`}
    ${vote !== undefined && html`<p><b>${vote ? (right ? "You were right." : "You were wrong.")
      : "You did not vote on this card."}</b> ${isTold && gameOf(kind).led[of]} ${pointed}</p>`}
    ${after.slice(0, 1).map((part) => html`<p dir="auto"><${Marked} part=${within(part, 240)} /></p>`)}</div>`;
}

const RATINGS = [1, 2, 3, 4, 5];
const meanOf = (ratings) => {
  const n = sumOf(ratings);
  return n ? ratings.reduce((sum, one, at) => sum + one * RATINGS[at], 0) / n : 0;
};

/** How many found an explanation how convincing; `of` is whether it led to the answer. */
function Ratings({ ratings, of }) {
  const all = sumOf(ratings), most = Math.max(...ratings);
  const end = { broken: ", and it misled.", kept: ", and it predicted the answer." }[of] ?? ".";
  return all > 0 && html`<div><ul class="ratings" aria-label="How convincing its explanation was, before the reveal">
      ${ratings.map((n, at) => html`<li><span class="many">${n}</span><i style=${{ height: `${(100 * n) / most}%` }}></i>
        <span>${RATINGS[at]}</span></li>`)}</ul>
    <p class="fine">${people(all)} rated how convincing it is: ${meanOf(ratings).toFixed(1)} of 5 on average${end}</p></div>`;
}

/** How convincing the explanations were that misled, beside those that did not. */
const Convincing = ({ rows }) => rows.length > 0 && html`<div class="convincing">
  <h2>How convincing were its explanations?</h2>
  <ul class="votes">${rows.map(({ label, mean, n }) => html`<li><span>${label.replace("Explanations", "Those")} <small>(n = ${n})</small></span>
    <span class="track"><i class="with" style=${{ width: `${20 * mean}%` }}></i></span>
    <span class="count">${mean.toFixed(1)} of 5</span></li>`)}</ul>
  <p class="fine">Rated before the reveal, ${sumOf(rows.map(({ ratings }) => ratings))} ratings. An explanation
    counts once. So few cannot show whether convincing explanations are the good ones.</p></div>`;

/** The bars of a score, of which the class's own come first. */
const Score = ({ score }) => html`<ul class="votes">${score.map((row) => html`<li>
  <span class=${row.is_class ? "happened" : ""}>${row.label}</span>
  <span class="track"><i class=${row.is_class ? "with" : ""} style=${{ width: `${100 * row.share}%` }}></i></span>
  <span class="count">${percent(row.share)}</span></li>`)}</ul>`;

// ------------------------------------------------------------------------------------------------------------ Phone

function Join({ fault, join }) {
  const [code, type] = useState(codeInAddress()), [name, call] = useState(""), [isBusy, wait] = useState(false);
  const send = async (event) => {
    event.preventDefault();
    wait(true);
    await join(code, name);
    wait(false);
  };
  return html`<form onSubmit=${send}><h1>Join a class</h1>
    <label>Code on the screen<input class="code" value=${code} maxlength="4" autocomplete="off" autocapitalize="characters"
      spellcheck=${false} required onInput=${(event) => {
        event.target.value = event.target.value.toUpperCase().replace(LETTERS, "");
        type(event.target.value);
      }} /></label>
    <label>Nickname, if you like<input value=${name} maxlength="24" autocomplete="off"
      onInput=${(event) => call(event.target.value)} /></label>
    ${fault && html`<p class="fault" role="alert">${fault}</p>`}
    <div class="options"><button class="primary" disabled=${isBusy}>Join</button></div>
    <p class="fine small">No account is needed. The screen may show your nickname, but never who voted for what.</p></form>`;
}

function Phone() {
  const [code, enter] = useState(hasJoined(codeInAddress()) ? codeInAddress() : ""), [wrong, say] = useState("");
  const [turn, take] = useState(0), { picture, set, fault, isLost } = usePicture(code, turn);
  const join = async (typed, nickname) => {
    const { status, why, ...now } = await fetched("/room/join", { code: typed, nickname });
    if (status !== 200) return say(why);
    say("");
    keepCode(now.code);
    keepJoined(now.code);
    set(now);
    enter(now.code);
    return take(turn + 1);
  };
  /** Sends the vote or the rating on this card; it is shown at once, and taken back where it was refused. */
  const sends = (what, path) => async (value) => {
    const before = picture[what];
    set({ ...picture, [what]: value });
    const { status, why } = await fetched(path, { code: picture.code, place: picture.place, value });
    if (status === 200) return say("");
    say(why);
    return set((now) => (now.place === picture.place ? { ...now, [what]: before } : now));
  };
  const does = {
    vote: sends("vote", "/room/vote"), rate: sends("rating", "/room/rate"), draw: sends("sketch", "/room/sketch"),
  };
  const isIn = picture !== null;
  return html`<div class="room phone"><header><b>${isIn ? picture.code : "Explain Yourself"}</b>
      <span>${isIn && picture.place >= 0 && picture.phase !== "over" && `${picture.place + 1} of ${picture.of}`}</span></header>
    ${isIn ? html`<${OnPhone} ...${{ picture, ...does }} />` : html`<${Join} fault=${wrong || fault} join=${join} />`}
    <footer role="status">${isIn && (wrong || (isLost && "The connection is lost. Trying again…"))}</footer></div>`;
}

/** The chart of a function: what it shows is `data`, and `send` takes the values of a curve that was drawn on it. */
function Chart({ data, ys, send }) {
  const root = useRef(null), pad = useRef(null);
  useLayoutEffect(() => {
    pad.current ??= Object.assign(new Drawing(root.current), { ys });
    pad.current.take({ data, setTriggerValue: (_, drawn) => send(drawn) });
  });
  return html`<div class="draw" ref=${root}></div>`;
}

/** What a chart shows of a card: its points, and `more`. */
const chartOf = ({ points, x_ends, drawn_on: y_ends, many }, more) => ({
  run: "", points, calls: points.length, left: 0, points_of_a_curve: many, x_ends, y_ends, is_over: false, ...more,
});
const inUnits = (ys, { drawn_on: [low, high], top }) => ys.map((y) => low + ((high - low) * y) / top);
const inShares = (ys, { drawn_on: [low, high], top }) =>
  ys.map((y) => Math.min(top, Math.max(0, Math.round((top * (y - low)) / (high - low)))));
const curvesOf = (plot) => plot.curves.map((one) => (one.kind === "claim" ? { ...one, kind: "reader" } : one));
const CLOSE = "Close means within 10 % of the function's height on most of a part.";

/** A card on which the function is drawn, on a phone. */
function Sketching({ picture: { phase, place: at, round, sketch, sketch_hits: hits, can_rate: canRate, rating }, draw, rate }) {
  const { plot } = round, isOpen = phase === "voting", isTurned = phase === "revealed";
  const own = sketch && inUnits(sketch, plot), [low, high] = plot.x_ends;
  const line = { kind: "claim", label: "You", y: own, x: own?.map((_, at) => low + ((high - low) * at) / (plot.many - 1)) };
  const curves = [...curvesOf(plot), ...(own ? [line] : [])];
  // It begins as a level line below the points, which are not joined for them.
  const level = plot.drawn_on.reduce((low, high) => low + (high - low) / 8), ys = own ?? Array(plot.many).fill(level);
  const data = chartOf(plot, isOpen ? {} : { is_over: true, curves, y_ends: plot.y_ends });
  return html`<div>${isOpen && !own && html`<p class="fine small">${TASKS.sketch}</p>`}<${Saying} round=${round} />
    <h2>${!isTurned ? "Draw the function." : own ? `You are close on ${hits} of ${plot.parts} parts.` : "You drew no curve."}</h2>
    <${Chart} key=${at} ...${{ data, ys, send: (ys) => draw(inShares(ys, plot)) }} />
    <p role="status" class=${isTurned ? "fine small" : ""}>${isTurned ? CLOSE
      : isOpen ? own && "Your curve is in. You can still change it." : "Look at the screen."}</p>
    ${canRate && html`<${Rate} ...${{ rating, rate }} />`}</div>`;
}

/** Five buttons, from 1 to 5. */
function Rate({ rating, rate }) {
  return html`<div class="rate" role="group" aria-label="How convincing is its explanation, from 1 to 5?">
    <p class="fine small">How convincing is its explanation? You may skip this.</p>
    <div>${RATINGS.map((value) => html`<button key=${value} aria-pressed=${rating === value}
      onClick=${() => rate(value)}>${value}</button>`)}</div>
    <p class="ends"><span>1: not at all</span><span>5: very</span></p></div>`;
}

function OnPhone({ picture, vote, rate, draw }) {
  const { phase, round, kind, nickname } = picture;
  if (phase === "lobby") {
    return html`<div><h1 dir="auto">You are in${nickname ? html`, <bdi>${nickname}</bdi>` : ""}.</h1>
      <p>Look at the screen: it starts soon.</p><p class="fine">${roomTask(picture)}</p></div>`;
  }
  if (phase === "over") {
    const drawn = picture.drawn.map(([hits, parts]) => `Your curve was close on ${hits} of ${parts} parts.`).at(-1);
    return html`<div><h1>${picture.n ? `You predicted ${picture.hits} of ${picture.n} correctly.` : drawn ?? "The class is over."}</h1>
      <p>The screen shows how the class did.</p>${picture.models.length > 0
        && html`<p class="fine">The model was ${picture.models.map(revealed).join("; ")}.</p>`}</div>`;
  }
  if (round.plot) return html`<${Sketching} ...${{ picture, draw, rate }} />`;
  if (phase === "revealed") return html`<div><${Saying} round=${round} /><${ReasonsTold} round=${round} />
    <p class="fine" dir="auto">${inShort(round)}</p>
    <${Revealed} round=${round} vote=${picture.vote} />
    ${picture.rating > 0 && html`<p class="fine small">You gave its explanation ${picture.rating} of 5.</p>`}</div>`;
  const word = picture.vote && round.card.options[picture.vote], isOpen = phase === "voting";
  return html`<div>${picture.is_first && isOpen && !word && html`<p class="fine small">${roomTask(picture)}</p>`}
    ${SEES[picture.arm] && isOpen && !word && html`<p class="fine small">${SEES[picture.arm]}</p>`}
    <${Saying} round=${round} /><p class="fine small">${asksOf(picture)}</p>
    <${Question} round=${round} />
    ${isOpen ? html`<${Options} card=${round.card} chosen=${picture.vote} choose=${vote} />` : ""}
    <p role="status">${isOpen ? word && html`You said <b>${word}</b>. You can still change it.`
      : html`${word ? html`You said <b>${word}</b>.` : "You did not vote."} Look at the screen.`}</p>
    ${picture.can_rate && html`<${Rate} ...${{ rating: picture.rating, rate }} />`}</div>`;
}

// ------------------------------------------------------------------------------------------------------------- Wall

const BUTTONS = { lobby: "Start", voting: "Close the vote", closed: "Reveal", revealed: "Next card" };
const SECONDS = 30;

function Wall() {
  const [code, enter] = useState(codeInAddress()), [trouble, say] = useState("");
  const { picture, set, fault, isLost } = usePicture(code);
  const [areHidden, hide] = useState(false), [left, count] = useState(0), shown = useFit(picture);
  const from = new URLSearchParams(location.search);
  const open = async (again) => {
    const wanted = again ? picture : { run: from.get("run") ?? "", pack: from.get("pack") ?? "" };
    const { status, why, code: made } = await fetched("/room/open", { run: wanted.run, pack: wanted.pack, again });
    if (status !== 200) return say(why);
    keepCode(made);
    set(null);
    return enter(made);
  };
  const go = async (to = "next") => {
    if (!picture || picture.phase === "over") return;
    count(0);
    const { code: of, phase, place: at } = picture;
    const { status, why, ...now } = await fetched("/room/go", { code: of, phase, place: at, to });
    if (status === 200) set(now);
    say(status === 200 ? "" : why);
  };
  const letIn = async () => {
    const { status, why, ...now } = await fetched("/room/let-in", { code: picture.code });
    if (status === 200) set(now);
    say(status === 200 ? "" : why);
  };
  useEffect(() => { if (!code) open(false); }, []);
  // Before the page is painted: a key that is pressed as soon as a button is there means that button.
  useLayoutEffect(() => {
    const press = (event) => {
      if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("a")) return;
      const does = { " ": go, ArrowRight: go, h: () => hide(!areHidden), t: () => count(SECONDS) }[event.key];
      if (!does) return;
      event.preventDefault();
      does();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  useEffect(() => {
    if (!left || picture?.phase !== "voting") return undefined;
    const timer = setTimeout(() => (left === 1 ? go() : count(left - 1)), 1000);
    return () => clearTimeout(timer);
  }, [left, picture?.phase]);
  if (!picture) {
    return html`<div class="room wall"><header><b>Explain Yourself</b></header>
      <div class="lobby"><h1>${trouble || fault ? "This class cannot be shown." : "Opening the class…"}</h1></div>
      <footer><span class="fault" role="alert">${trouble || fault}</span></footer></div>`;
  }
  const { phase, place: at, of, joined, address } = picture, isLast = phase === "revealed" && at + 1 === of;
  const words = isLast ? "Show the result" : BUTTONS[phase];
  return html`<div class="room wall">
    <header><span>${phase === "lobby" ? html`<b>Explain Yourself</b>` : html`<b>${picture.code}</b> · ${address}`}</span>
      <span>${phase === "lobby" ? picture.title : phase === "over" ? "Result" : `Card ${at + 1} of ${of}`}</span></header>
    <div class="shown" ref=${shown}>${phase === "lobby" ? html`<${Lobby} ...${{ picture, areHidden, letIn }} />`
      : phase === "over" ? html`<${ClassResult} picture=${picture} />` : html`<${OnWall} ...${{ picture, left }} />`}</div>
    <footer><span role="status">${trouble || (isLost && "The connection is lost. Trying again…")
        || (phase === "revealed" ? soFar(picture.score) : phase === "over" ? summary(picture) : `${joined} joined`)}</span>
      <div class="options">
        ${picture.offer && !["lobby", "over"].includes(phase)
          && html`<button onClick=${letIn}>Let phones in at ${picture.offer}</button>`}
        ${phase === "lobby" && html`<button onClick=${() => hide(!areHidden)}>${areHidden ? "Show names" : "Hide names"}
          <kbd>H</kbd></button>`}
        ${phase === "voting" && !left && html`<button onClick=${() => count(SECONDS)}>${SECONDS} seconds<kbd>T</kbd></button>`}
        ${phase === "revealed" && !isLast && html`<button onClick=${() => go("end")}>End here</button>`}
        ${phase === "over" ? html`<a class="plain" href=${`/room/kept/${picture.code}.html`}>Save as a page</a>
            <a class="plain" href=${`/room/kept/${picture.code}.csv`}>Save as CSV</a>
            <button class="primary" onClick=${() => open(true)}>New class</button>`
          : html`<button class="primary" onClick=${() => go()}>${words}<kbd>space</kbd></button>`}</div></footer></div>`;
}

/** Where phones join; where they cannot yet, the question whether to let them in. */
function Where({ picture: { address, is_reached: isReached, offer }, letIn }) {
  if (isReached) return html`<p class="where">On your phone: <b>${address}</b></p>`;
  if (!offer) {
    return html`<p class="where">Only this computer reaches <b>${address}</b>. Connect it to the network that the phones are
      in, or start the app with make serve (docs/host.md).</p>`;
  }
  return html`<div><p class="where">Phones on this network will reach the class page at <b>${offer}</b>, and nothing else of
      this computer. Open it?</p>
    <div class="options"><button class="primary" onClick=${letIn}>Open it for phones</button></div></div>`;
}

function Lobby({ picture, areHidden, letIn }) {
  const { code, names, unnamed, qr, kind, joined, is_reached: isReached } = picture;
  const head = { plant: "Find the hint.", sketch: "Draw the hidden function.", probe: "Is its code right?", exam: "What follows from the reason?" }[kind];
  return html`<div class="lobby"><div><h1>${head ?? "Predict what the model will say."}</h1>
      <${Where} ...${{ picture, letIn }} />
      <p class="code" aria-label=${`Code ${[...code].join(" ")}`}>${code}</p>
      ${!areHidden && joined > 0 && html`<ul class="people" aria-label="Joined">
        ${names.map((name) => html`<li dir="auto">${name}</li>`)}${unnamed > 0 && html`<li>+ ${unnamed}</li>`}</ul>`}</div>
    ${isReached && html`<svg class="qr" viewBox=${`0 0 ${qr.size} ${qr.size}`} role="img" aria-label="QR code to join" shape-rendering="crispEdges">
      <path d=${qr.path} fill="#111" /></svg>`}</div>`;
}

/** A card on which the function is drawn: its points, and once it is revealed all curves, never whose. */
function Sketches({ picture: { phase, round, voted, joined, sketches = [], hits, score, ratings }, left }) {
  const { plot } = round, isTurned = phase === "revealed";
  const mine = { kind: "sketch", label: "Your curves", x: [], y: [] };
  const curves = isTurned ? [...curvesOf(plot), ...(sketches.length ? [mine] : [])] : [];
  const data = chartOf(plot, {
    is_over: true, curves, y_ends: plot.y_ends, sketches: sketches.map((ys) => inUnits(ys, plot)),
  });
  const mean = hits?.length && sumOf(hits) / hits.length;
  const side = isTurned ? html`<${Score} score=${score} /><${Ratings} ratings=${ratings} />`
    : html`${!round.claim && html`<h1>Draw the function on your phone.</h1>`}
      <${Voted} ...${{ voted, joined, left, phase, did: "drawn a curve" }} />`;
  return html`<div class="two sketched"><div><${Saying} round=${round} />${side}</div>
    <div>${isTurned && html`<h1>${hits.length ? `You are close on ${mean.toFixed(1)} of ${plot.parts} parts.`
      : "Nobody drew a curve."}</h1>`}<${Chart} data=${data} />${isTurned && html`<p class="fine">${CLOSE}</p>`}</div></div>`;
}

/** How many have voted, and how long they still can. */
const Voted = ({ voted, joined, left, phase, did }) => html`<p class="voted" role="status">${voted} of ${joined}
  <small>${`have ${did}${phase === "closed" ? ". The vote is closed." : left ? ` · ${left} s left` : ""}`}</small></p>`;

/** Makes what stands on the wall as much smaller as it must be to fit on the screen; on a phone it scrolls. */
function useFit(picture) {
  const root = useRef(null);
  useLayoutEffect(() => {
    const fit = () => {
      for (const zoom of root.current ? [1, 0.92, 0.84, 0.76, 0.68, 0.6] : []) {
        root.current.style.zoom = zoom;
        if (innerWidth <= 900 || document.documentElement.scrollHeight <= innerHeight) return;
      }
    };
    fit();
    addEventListener("resize", fit);
    return () => removeEventListener("resize", fit);
  }, [picture]);
  return root;
}

function OnWall({ picture, left }) {
  const { phase, round, voted, joined, has_arms: hasArms, kind, arms } = picture;
  if (round.plot) return html`<${Sketches} ...${{ picture, left }} />`;
  const card = { ...round, cover: phase === "revealed" ? "Its reason comes later: other cards share it."
    : arms > 2 ? "A third of you see its reason on your phones, and a third two opposing arguments."
    : "Half of you see its reason on your phones." };
  const isOut = !round.isCovered && round.card.expects?.length > 0;
  const of = isOut ? ofReason(round.card, gameOf(kind).open) : "";
  if (phase === "revealed") {
    return html`<div class="two"><div><${Saying} round=${card} /><${ReasonsTold} round=${round} />
        <p class="fine" dir="auto">${cutText(inShort(round), 220)}</p><${Revealed} round=${round} /></div>
      <div><h1>${(of && gameOf(kind).led[of]) || capital(`${whatCame({ card: round.card, kind })}.`)}</h1>
        <${Votes} ...${{ picture, of }} /><${Ratings} ratings=${picture.ratings} of=${of} /></div></div>`;
  }
  const asks = html`<p class="fine">${hasArms ? "What will it answer next?" : gameOf(kind).asks}</p>`;
  const question = html`<${Question} round=${round} />`;
  return html`<div class="two"><div class=${round.claim ? "" : "asked"}><${Saying} round=${card} />${asks}
      ${!round.claim && question}</div>
    <div class="asked">${round.claim && question}
      <${Voted} ...${{ voted, joined, left, phase, did: "voted" }} /></div></div>`;
}

/** What a revealed card asked, in a line, without what stands in the claim. */
function inShort({ title, claim, card }) {
  const known = new Set([title, ...(claim?.parts ?? []).map((part) => part.text)]);
  const rest = claim ? card.parts.slice(1).filter((part) => part.text && !known.has(part.text)) : [];
  return [card.parts[0]?.text, ...rest.map((part) => (part.label ? `${part.label}: ${part.text}` : part.text))].join(" / ");
}

/** The reasons that were to be told apart on a revealed card. */
function ReasonsTold({ round: { claim, card } }) {
  const parts = claim ? [] : card.parts.slice(1);
  return parts.length > 0 && html`<${Reasons} parts=${parts} />`;
}

const KEYS = [["with", "saw its reason"], ["", "did not see it"], ["sides", "saw for and against"]];
const sumOf = (some) => some.reduce((sum, one) => sum + one, 0);

/** The votes on a revealed card, of those who saw its reason and of those who did not; never who. */
function Votes({ picture: { counts, round: { card }, has_arms: hasArms, arms }, of }) {
  const all = sumOf(Object.values(counts).flat());
  const [implied] = card.expects, went = counts[implied?.value]?.[0], saw = Object.values(counts).reduce((n, [one]) => n + one, 0);
  const who = `${people(saw)}${hasArms ? " who saw its reason" : ""}`;
  const wentBy = `${went} of ${who} followed it${of === "broken" && went ? " and were misled" : ""}.`;
  const bar = (n, name) => html`<i class=${name} style=${{ width: `${(100 * n) / (all || 1)}%` }}></i>`;
  return html`<div><ul class="votes">${Object.entries(counts).map(([value, some]) => html`<li>
      <span class=${value === card.said ? "happened" : ""}>${card.options[value]}${value === card.said && " ✓"}</span>
      <span class="track">${some.map((n, at) => n > 0 && bar(n, KEYS[at][0]))}</span><span class="count">${sumOf(some)}</span></li>`)}</ul>
    ${hasArms && html`<p class="key">${KEYS.slice(0, arms).map(([look, words]) => html`<span class=${look}>${words}</span>`)}</p>`}
    ${["kept", "broken"].includes(of) && saw > 0 && html`<p class="fine">${wentBy}</p>`}</div>`;
}

const inLine = (label) => `${label[0].toLowerCase()}${label.slice(1)}`.replace(/^you, /, "");
const soFar = (score) => score.length > 0
  && `So far: ${score.map(({ label, share }) => `${inLine(label)} ${percent(share)}`).join(" · ")}`;
const summary = ({ joined, score }) => `${people(joined)} · ${sumOf(score.map(({ votes }) => votes))} votes`;

/** What the score says, in a sentence. A difference of less than a twentieth is none. */
function headline([own, blind], kind) {
  if (!own) return "Nobody voted.";
  if (kind === "sketch") return `Your curves were close on ${percent(own.share)} of the range.`;
  if (!blind?.is_class) return `You predicted ${percent(own.share)} correctly.`;
  if (own.n === 1) return "Only one card counts: too few to compare.";
  const gain = own.share - blind.share;
  if (Math.abs(gain) < 0.05) return "Its reasons made no difference on these cards.";
  return gain > 0 ? "Its reasons helped you on these cards." : "On these cards its reasons misled you.";
}

function ClassResult({ picture: { score, chosen, models, kind, convincing } }) {
  const n = score[0]?.n ?? 0;
  return html`<div class="two"><div><h1>${headline(score, kind)}</h1>
      <p>${n > 0 && `${n} ${n === 1 ? "card counts" : "cards count"} here, the same ${n === 1 ? "one" : "ones"} for every bar.`}
        ${" "}${gameOf(kind === "sketch" ? "probe" : kind).means}</p>
      ${score.filter((row) => row.is_class).length > 2 && html`<p class="fine">For and against: instead of its reason some of you
        saw two opposing arguments, which it wrote itself.</p>`}
      <p class="fine">${chosen} So few cards show how it feels to rely on a reason. They do not measure the model.</p>
      ${models.length > 0 && html`<p class="fine">The model was ${models.map(revealed).join("; ")}.</p>`}</div>
    <div><${Score} score=${score} /><${Convincing} rows=${convincing} /></div></div>`;
}

render(html`<${isWall ? Wall : Phone} />`, place);
addEventListener("hashchange", () => location.reload());
