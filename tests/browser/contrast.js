// Every text on the page, also in shadow roots, whose contrast to what it stands on is below WCAG 2's: 4.5, or 3 for
// large letters.
() => {
  const pixel = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const parse = (colour) => {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = colour;
    pixel.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = pixel.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3]));
  const luminance = (colour) => {
    const [red, green, blue] = colour.map((v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const found = {};
  const parentOf = (one) => one.parentElement ?? one.getRootNode().host;
  function* texts(root) {
    const nodes = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    while (nodes.nextNode()) {
      if (nodes.currentNode.nodeType === Node.TEXT_NODE) yield nodes.currentNode;
      else if (nodes.currentNode.shadowRoot) yield* texts(nodes.currentNode.shadowRoot);
    }
  }
  for (const text of texts(document.querySelector('[data-testid="stApp"]'))) {
    const element = parentOf(text), words = text.textContent.trim();
    const box = element.getBoundingClientRect();
    // The value of a slider floats above it, and what is switched off may be faint.
    const left = element.closest("svg, style, [disabled], [aria-disabled=true], [data-testid=stSliderThumbValue]");
    if (!words || left || box.width < 2 || box.height < 2 || !element.checkVisibility({opacityProperty: true})) continue;
    let ground = [255, 255, 255], alpha = 1;
    const around = [];
    for (let one = element; one; one = parentOf(one)) around.unshift(getComputedStyle(one));
    for (const style of around) {
      ground = over(parse(style.backgroundColor), ground);
      alpha *= Number(style.opacity);
    }
    const style = getComputedStyle(element), size = parseFloat(style.fontSize), ink = parse(style.color);
    ink[3] *= alpha;
    const [dark, light] = [luminance(over(ink, ground)), luminance(ground)].sort((a, b) => a - b);
    const ratio = (light + 0.05) / (dark + 0.05);
    const needed = size >= 24 || (Number(style.fontWeight) >= 700 && size >= 18.66) ? 3 : 4.5;
    if (ratio < needed) found[words.slice(0, 60)] = ratio.toFixed(2);
  }
  return found;
}
