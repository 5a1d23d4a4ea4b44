// What a widget says of a run: the state, the verdict, the numbers.

// The state with its words; of one that trains, a button, cost, and progress.
export function enter(widget, state, words, { button, cost = "", percent = 0, stale = false } = {}) {
  clearTimeout(widget.slow);
  widget.figure.dataset.state = state;
  widget.figure.toggleAttribute("data-stale", stale);
  widget.$(".state").textContent = words;
  widget.$("progress").value = percent;
  if (widget.trains && button) {
    widget.$(".go").textContent = button;
    if (cost) widget.$(".cost").value = cost;
  }
  const slow = () => widget.$(".state").replaceChildren("still computing");
  if (state === "running") widget.slow = setTimeout(slow, 3000);
}

// The one polite announcement, of a settled run: the first number (heard only), then the verdict.
export function say(widget, { heard = "", mark = "", sentence, back = "" }) {
  const said = [heard, mark, sentence];
  widget.$$("[role=status] > *").forEach((part, i) => part.replaceChildren(said[i]));
  widget.$(".steps").innerHTML = back;
  widget.$(".steps").hidden = true;
  widget.$(".back").hidden = !back;
}

// Readouts beside those before; options to copy; the sum of the result.
export function fill(widget, { answer, readouts, config, hash, said = "" }, before, word) {
  widget.$$("[data-answer] > *").forEach((part, i) => part.replaceChildren(answer[i]));
  widget.$$(".readouts > div").forEach((row, i) => {
    const { label, text, unit, state, over } = readouts[i];
    const was = before?.readouts[i].text;
    row.className = state;
    row.firstElementChild.textContent = label;
    const [value, u, said] = row.querySelectorAll("b, .u, .was");
    value.textContent = text;
    value.classList.toggle("long", text.length > 14);
    u.textContent = unit;
    said.textContent = over ?? (was && was !== text ? `${word} ${was}` : "");
    said.classList.toggle("long", said.textContent.length > 26);
  });
  widget.$(".over")?.replaceChildren(said);
  widget.$(".config").innerHTML = config;
  const preset = widget.$("[data-promise][aria-pressed=true]");  // what is promised of it was written at build
  const promise = widget.code ? "your code" : preset?.dataset.promise ?? "fingerprint";
  widget.$(".hash").textContent = `${promise}: ${hash}`;
}

export const measured = ({ text, unit }) => `${text} ${unit}`.trim();
