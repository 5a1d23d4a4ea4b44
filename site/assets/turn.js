// Anything with data-knobs turns knobs: a preset, a way back, a link in the prose. From a link there is a way back.
const home = document.createElement("button");
Object.assign(home, { type: "button", className: "to-text", textContent: "↩ Back to the text" });
home.onclick = () => history.back();
let from, stood;  // the link that led here, and its place on the screen

document.addEventListener("click", (event) => {
  const turner = event.target.closest?.("[data-knobs]");
  if (!turner) return;
  const widget = document.querySelector("rl-widget");
  event.preventDefault();
  const isLink = turner.tagName === "A";
  if (isLink) {
    event.stopPropagation();  // the theme would swap the page on the first in-page link
    widget.form.reset();  // the prose holds from the default, wherever the reader was
    go(widget.figure, turner);
  }
  widget.turn(turner.dataset.knobs, isLink);
}, { capture: true });

// To the widget, unless its middle is in view already: one entry of the history, whose way back leads to the link.
function go(figure, link) {
  const box = figure.getBoundingClientRect(), middle = (box.top + box.bottom) / 2;
  if (middle >= 0 && middle <= innerHeight) return;
  from = link;
  stood = link.getBoundingClientRect().top;
  const place = { x: scrollX, y: scrollY };
  if (!home.isConnected) {
    history.replaceState({ ...history.state, ...place }, "");
    history.pushState(place, "", `#${figure.id}`);
  }
  figure.scrollIntoView({ block: box.height < innerHeight - 100 ? "center" : "start" });
  document.body.append(home);
}

addEventListener("popstate", (event) => {
  if (!home.isConnected) return;
  home.remove();
  if (!from.isConnected) return;  // another page
  event.stopImmediatePropagation();  // the theme would put the page anew, for its address has another query
  scrollBy(0, from.getBoundingClientRect().top - stood);
  from.focus({ preventScroll: true });
  document.querySelector("rl-widget").share();
}, { capture: true });
