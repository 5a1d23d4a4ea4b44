// Anything with data-knobs turns knobs: a preset, a way back, a link in the prose.
document.addEventListener("click", (event) => {
  const turner = event.target.closest?.("[data-knobs]");
  if (!turner) return;
  const widget = document.querySelector("rl-widget");
  event.preventDefault();
  if (turner.tagName === "A") {
    event.stopPropagation();  // the theme would swap the page on the first in-page link
    widget.form.reset();  // the prose holds from the default, wherever the reader was
    bringIntoView(widget.figure);
  }
  widget.turn(turner.dataset.knobs);
}, { capture: true });

// Unless its middle is in view already.
function bringIntoView(figure) {
  const { top, bottom } = figure.getBoundingClientRect();
  const middle = (top + bottom) / 2;
  if (middle < 0 || middle > innerHeight) figure.scrollIntoView({ block: "center" });
}
