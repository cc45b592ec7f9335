// The address says which cards are drawn, so that a link gives the same ones. In an app guesses are told to it, and where
// that fails nobody is kept from playing; a file on a disk keeps none.
const { pack, others, guessed, isInApp } = JSON.parse(document.querySelector("script[type='application/json']").textContent);
const sayer = isInApp ? new Sayer() : null;
const style = new CSSStyleSheet();
style.replaceSync(document.getElementById("stage-style").content.textContent);
const root = document.querySelector("main").attachShadow({ mode: "open" });
root.adoptedStyleSheets = [style];

const inAddress = () => { try { return decodeURIComponent(location.hash.slice(1, 60)); } catch { return ""; } };
const toAddress = (seed) => { try { history.replaceState(null, "", `#${encodeURIComponent(seed)}`); } catch { /* it may not be set */ } };
const does = { play: (place, value) => sayer?.say(played(pack, place, value)), seed: toAddress };

let seed = inAddress() || newSeed();
toAddress(seed);
const options = () => ({ mode: "play", library, game: { pack, seed, others, guessed, isInApp }, act: (name, on, value) => does[name]?.(on, value) });
let stage = mount(root, options());
addEventListener("hashchange", () => {
  if (!inAddress() || inAddress() === seed) return;
  seed = inAddress();
  stage.unmount();
  stage = mount(root, options());
});
