// Each case stands on a stage of its own, as long as it is to be seen: keys are one stage's at a time.
const mounted = new Map();
const style = new CSSStyleSheet();
style.replaceSync(document.getElementById("stage-style").content.textContent);

function show(section) {
  const { scene, calls } = JSON.parse(section.querySelector("script[type='application/json']").textContent);
  const place = section.querySelector(".on-stage");
  // In a root of its own, so that neither the page's style nor the stage's reaches into the other.
  const root = place.shadowRoot ?? place.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [style];
  mounted.set(section, mount(root, { mode: "read", scenes: [scene], library, evidence: { calls } }));
}

function hide(section) {
  mounted.get(section)?.unmount();
  mounted.delete(section);
}

for (const section of document.querySelectorAll(".case")) {
  const folded = section.closest("main details:not(.case details)");
  if (!folded || folded.open) show(section);
  folded?.addEventListener("toggle", () => {
    if (!folded.open) return hide(section);
    for (const other of [...mounted.keys()]) if (other !== section) other.closest("details").open = false;
    if (!mounted.has(section)) show(section);
  });
}
