// Draws a scene of a running widget: what differs is set on the elements that are there, so that it moves. What has no
// keys, a table, is replaced.
const keyed = (root) => new Map([...root.querySelectorAll("[data-k]")].map((part) => [part.dataset.k, part]));
const words = (part) => (part.childElementCount ? part.querySelector(":scope > text") : part);

export function patch(plot, { svg, alt }) {
  const drawn = document.createElement("div");
  drawn.innerHTML = svg;
  plot.setAttribute("aria-label", alt);
  const [old, now] = [keyed(plot), keyed(drawn)];
  const alike = now.size && [...old.keys()].join() === [...now.keys()].join();
  if (!alike) return plot.replaceChildren(...drawn.childNodes);
  for (const [key, part] of now) {
    const there = old.get(key);
    for (const { name, value } of part.attributes) {
      if (there.getAttribute(name) !== value) there.setAttribute(name, value);
    }
    const [text, wanted] = [words(there), words(part)];
    if (text && text.textContent !== wanted.textContent) text.textContent = wanted.textContent;
  }
}
