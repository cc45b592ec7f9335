"use strict";
const parts = [...document.querySelectorAll("[data-step]")];
const cases = [...document.querySelectorAll(".case")];
const last = Math.max(...parts.map((part) => Number(part.dataset.step)));
const [back, next, whole, place] = ["back", "next", "whole", "place"].map((id) => document.getElementById(id));
let at = null;

const holds = (one, step) => step >= Number(one.dataset.first) && step <= Number(one.dataset.last);

function begin() {
  // The case that is before the reader's eyes.
  const seen = cases.find((one) => one.getBoundingClientRect().bottom > 80) || cases[0];
  return Number(seen.dataset.first);
}

function go(to) {
  at = to === null ? null : Math.min(Math.max(to, 0), last);
  document.body.classList.toggle("replay", at !== null);
  for (const part of parts) part.hidden = at !== null && Number(part.dataset.step) > at;
  for (const one of cases) one.hidden = at !== null && !holds(one, at);
  const now = cases.find((one) => at !== null && holds(one, at));
  place.textContent = now ? `Step ${at - now.dataset.first + 1} of ${now.dataset.last - now.dataset.first + 1}` : "← → keys";
  next.textContent = now ? "Next ▶" : "Step by step ▶";
  back.disabled = at === null || at === 0;
  next.disabled = at === last;
  whole.hidden = at === null;
  if (now) [...parts].filter((part) => Number(part.dataset.step) === at).pop().scrollIntoView({ block: "nearest" });
}

const forward = () => go(at === null ? begin() : at + 1);
const backward = () => go(at === null ? null : at - 1);
const keys = {
  ArrowRight: forward,
  ArrowLeft: backward,
  Home: () => go(at === null ? null : Number(cases.find((one) => holds(one, at)).dataset.first)),
  End: () => go(at === null ? null : Number(cases.find((one) => holds(one, at)).dataset.last)),
  Escape: () => go(null),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
  if (at === null && event.key !== "ArrowRight") return;
  event.preventDefault();
  keys[event.key]();
});
next.addEventListener("click", forward);
back.addEventListener("click", backward);
whole.addEventListener("click", () => go(null));
window.addEventListener("beforeprint", () => go(null));
document.querySelector("nav").hidden = false;
go(null);
