// The pictures are files of ours. The page turns without being reloaded; in a tab of its own it is a link.
export default ({ data, parentElement, setTriggerValue }) => {
  const place = parentElement.querySelector(".doors");
  place.replaceChildren(...data.doors.map(({ path, title, verb, picture }) => {
    const door = document.createElement("a"), name = document.createElement("b");
    door.href = `/${path}`;
    door.innerHTML = picture;
    name.textContent = title;
    door.append(name, verb);
    door.onclick = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      setTriggerValue("chosen", path);
    };
    return door;
  }));
};
