// Which breaks of a widget were found, a list of causes, and which of its challenges were met, a list of goals.
import { keep, kept } from "./page.js";

// Writes down one more, if there is one, and shows all: a rhombus, a preset, a count.
export function found(widget, cause) {
  const key = `found:${widget.name}`;
  const known = Object.values(kept(key));
  if (cause && !known.includes(cause)) keep(key, [...known, cause]);
  const isKnown = ({ dataset }) => kept(key).includes?.(dataset.breaks);
  for (const preset of widget.$$(".presets [data-breaks]")) preset.hidden = !isKnown(preset);
  const on = widget.$("[data-promise][aria-pressed=true]");
  if (on) on.parentNode.scrollLeft = on.offsetLeft - 99;
  const marks = widget.$$("li[data-breaks]");
  for (const mark of marks) mark.className = isKnown(mark) ? "on" : "";
  const got = marks.filter(isKnown).length;
  widget.$(".count").textContent = `${marks.length} break${marks.length > 1 ? "s" : ""} to find · ${got} found`;
  widget.$(".one").hidden = got === marks.length;
}

// Writes down the goals that a run has `met`, and shows all.
export function reached(widget, met = []) {
  const goals = widget.$$("li[data-goal]");
  if (!goals.length) return;
  const key = `met:${widget.name}`;
  const known = Object.values(kept(key));
  const fresh = goals.map(({ dataset }) => dataset.goal).filter((goal, i) => met[i] && !known.includes(goal));
  if (fresh.length) keep(key, [...known, ...fresh]);
  const all = [...known, ...fresh];
  for (const goal of goals) {
    goal.className = all.includes(goal.dataset.goal) ? "met" : "";
    goal.lastChild.textContent = goal.className && " (met)";
  }
  const got = goals.filter(({ className }) => className).length;
  widget.$(".reached").textContent = `${got} of ${goals.length} met`;
}
