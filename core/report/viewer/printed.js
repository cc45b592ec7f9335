// A picture as it will be printed, drawn by Plotly out of sight and shown as an image; its file goes to the page. A
// component of Streamlit. Labels are Plotly's, which takes no scripts from them.

const SVG = "http://www.w3.org/2000/svg";
let plotly;

/** Plotly's own script, fetched once, when a picture is first made. */
function loaded(address) {
  plotly ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(address, location.origin).href;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => { plotly = undefined; reject(new Error("The picture's program could not be loaded.")); };
    document.head.append(script);
  });
  return plotly;
}

/** Write each run of a label that mixes fonts as a text of its own at its place: few programs place runs after a
    change of font as browsers do. */
function flattened(text) {
  const image = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  const place = document.createElement("div");
  place.style.cssText = "position:absolute;left:-10000px;top:0";
  place.append(document.adoptNode(image));
  document.body.append(place);
  for (const label of image.querySelectorAll("text")) {
    const walk = document.createTreeWalker(label, NodeFilter.SHOW_TEXT);
    const runs = [];
    let at = 0;
    for (let run = walk.nextNode(); run; run = walk.nextNode()) {
      const words = run.data.replaceAll("\u200b", "");
      const indent = run.data.length - run.data.trimStart().length;
      if (words.trim()) runs.push([run.parentElement, words, at + indent]);
      at += run.data.length;
    }
    if (runs.length === 1 && runs[0][0] === label) { label.textContent = runs[0][1]; continue; }
    for (const [parent, words, first] of runs) {
      const look = getComputedStyle(parent), start = label.getStartPositionOfChar(first);
      const one = document.createElementNS(SVG, "text");
      one.textContent = words.trim();
      one.setAttribute("x", start.x);
      one.setAttribute("y", start.y);
      one.setAttribute("style", `font-family:${look.fontFamily};font-size:${look.fontSize};font-weight:` +
        `${look.fontWeight >= 600 ? "bold" : "normal"};font-style:${look.fontStyle};fill:${look.fill}`);
      if (label.hasAttribute("transform")) one.setAttribute("transform", label.getAttribute("transform"));
      label.before(one);
    }
    label.remove();
  }
  place.remove();
  return new XMLSerializer().serializeToString(image);
}

export default async ({ data, parentElement, setTriggerValue }) => {
  const place = parentElement.querySelector(".printed");
  if (place.made === data.id) return;
  place.made = data.id;
  try {
    const drawn = await loaded(data.plotly);
    const { width, height } = data;
    const figure = JSON.parse(data.figure);
    const image = await drawn.toImage(figure, { format: "svg", width, height });
    const text = flattened(decodeURIComponent(image.slice(image.indexOf(",") + 1)));
    let file = text;
    if (data.kind === "PNG") {
      file = await drawn.toImage(figure, { format: "png", width, height, scale: data.scale });
      file = file.slice(file.indexOf(",") + 1);
    }
    if (place.made !== data.id) return;
    const shown = Object.assign(document.createElement("img"), { alt: data.alt });
    shown.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
    shown.style.cssText = `width:${data.wide}cm;max-width:100%;background:white;border-radius:4px`;
    place.replaceChildren(shown);
    setTriggerValue("made", { id: data.id, file });
  } catch (error) {
    place.made = "";
    place.replaceChildren(`${error.message} Reload the page and try again.`);
  }
};
