// Cards that are links. The page turns without being reloaded; in a tab of its own each is a link. Pictures are files of
// ours; everything else is text.
export default ({ data, parentElement, setTriggerValue }) => {
  const place = parentElement.querySelector("nav");
  place.className = data.kind;
  place.ariaLabel = data.label;
  place.replaceChildren(...data.cards.map(({ to, lines, picture }) => {
    const card = document.createElement("a");
    card.href = to;
    card.innerHTML = picture;
    card.append(...lines.map(([tag, text]) =>
      Object.assign(document.createElement(tag), { textContent: text, dir: "auto" })));
    card.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      setTriggerValue("chosen", to);
    };
    return card;
  }));
};
