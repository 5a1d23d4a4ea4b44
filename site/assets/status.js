// What a widget says of a run beside its curves: the state, the verdict, the numbers. Nothing is decided here.

// The state with its words; a widget that trains also has a button, what the run took, and how far it is.
export function enter(widget, state, words, { button, cost = "", percent = 0, stale = false } = {}) {
  clearTimeout(widget.slow);
  widget.figure.dataset.state = state;
  widget.figure.toggleAttribute("data-stale", stale);
  widget.$(".state").textContent = words;
  widget.$("progress").value = percent;
  if (widget.trains && button) {
    widget.$(".go").textContent = button;
    widget.$(".run output").value = cost;
  }
  if (state === "running") widget.slow = setTimeout(still, 3000, widget);
}

function still(widget) {
  widget.$(".state").textContent = "still computing";
}

// The one polite announcement, made when a run has settled: the first number (heard only), then the verdict.
export function say(widget, { heard = "", mark = "", sentence }) {
  const [first, second, third] = widget.$$("[role=status] > *");
  first.textContent = heard;
  second.textContent = mark;
  third.textContent = sentence;
}

// What a plot shows, in the words of the run that is drawn: π_old becomes a subscript, as where the page was built.
export function caption(plot, { title, note }) {
  const text = document.createElement("span");
  text.append(...subscripted(note));
  plot.closest(".panel").querySelector(".cap").replaceChildren(...subscripted(title), " ", text);
}

function subscripted(text) {
  return text.split(/(?<=[^ _])_([^ ]+)/).map((part, i) => {
    if (i % 2 === 0) return part;
    return Object.assign(document.createElement("sub"), { textContent: part });
  });
}

// The readouts of a frame, each beside what it was in the frame before; what is watched; the sum of the result.
export function fill(widget, { readouts, watched, hash }, before) {
  widget.$$(".readouts > div").forEach((row, i) => {
    const { text, state } = readouts[i];
    const was = before?.readouts[i].text;
    row.className = state;
    row.querySelector("b").textContent = text;
    row.querySelector(".was").textContent = was && was !== text ? `was ${was}` : "";
  });
  widget.$(".brk code").textContent = watched.label;
  widget.$(".brk output").value = measured(watched);
  const preset = widget.$(".presets [aria-pressed=true]");      // what is promised of it was written at build
  widget.$(".hash").textContent = `${preset?.dataset.promise ?? "fingerprint"}: ${hash}`;
}

export const measured = ({ text, unit }) => `${text} ${unit}`.trim();
