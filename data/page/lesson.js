// A lesson, one step at a time. The clock begins with the first step and goes on when the page is reloaded; without
// scripts, and on paper, all steps stand below each other.
const steps = [...document.querySelectorAll(".step")], { lesson, minutes } = document.body.dataset;
const find = (id) => document.getElementById(id), key = `lesson ${lesson}`, LONGEST = 4 * 3600_000;
const lengths = steps.map((step) => Number(step.dataset.minutes));
const kept = () => { try { return Number(sessionStorage.getItem(key)); } catch { return 0; } };
const keep = (time) => { try { sessionStorage.setItem(key, time); } catch { /* it may not be kept */ } };

let began = Date.now() - kept() < LONGEST ? kept() : 0, at = 0;
const plural = (n) => `${n} ${n === 1 ? "minute" : "minutes"}`;
const placeInAddress = () => Math.min(Math.max(Number.parseInt(location.hash.slice(1), 10) || 0, 0), steps.length - 1);

function tick() {
  const due = lengths.slice(0, at + 1).reduce((sum, one) => sum + one, 0);
  const used = began ? Math.floor((Date.now() - began) / 60_000) : 0, late = used - due;
  find("clock").textContent = !at ? `${plural(Number(minutes))} in all`
    : `${used} of ${plural(Number(minutes))} used · ${late > 0 ? `${plural(late)} late` : `this step ends at minute ${due}`}`;
  find("clock").classList.toggle("late", at > 0 && late > 0);
}

function show(to, isMoved = true) {
  at = Math.min(Math.max(to, 0), steps.length - 1);
  if (at && !began) keep(began = Date.now());
  steps.forEach((step, place) => { step.hidden = place !== at; });
  find("back").disabled = !at;
  find("next").disabled = at === steps.length - 1;
  find("next").textContent = at ? "Next" : began ? "Go on" : "Start";
  find("restart").hidden = !began;
  history.replaceState(null, "", at ? `#${at}` : location.pathname);
  tick();
  if (isMoved) {
    scrollTo(0, 0);
    steps[at].querySelector("h1").focus({ preventScroll: true });
  }
}

find("back").onclick = () => show(at - 1);
find("next").onclick = () => show(at + 1);
find("restart").onclick = () => { keep(began = Date.now()); tick(); };
addEventListener("hashchange", () => show(placeInAddress()));
addEventListener("keydown", (event) => {
  const by = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
  if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  show(at + by);
});
setInterval(tick, 1000);
document.querySelector("footer").hidden = false;
show(placeInAddress(), false);
