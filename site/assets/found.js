// Which breaks of a widget were found, a list of causes, and which of its challenges were met, a list of goals.
import { keep, kept } from "./page.js";

// Writes down one more, if there is one, and shows all: a rhombus with its setting, or with where to look for it.
export function found(widget, cause) {
  const key = `found:${widget.name}`;
  const known = Object.values(kept(key));
  if (cause && !known.includes(cause)) keep(key, [...known, cause]);
  const isKnown = ({ dataset }) => kept(key).includes?.(dataset.breaks);
  const marks = widget.$$("li[data-breaks]");
  for (const mark of marks) {
    const on = isKnown(mark);
    mark.className = on ? "on" : "";
    for (const preset of mark.querySelectorAll("button")) preset.hidden = !on;
  }
  const left = marks.filter((mark) => !isKnown(mark));
  marks.forEach((mark) => {  // said once of those that stand side by side
    const after = left[left.indexOf(mark) + 1];
    const { where } = mark.dataset;
    mark.lastElementChild.textContent = left.includes(mark) && after?.dataset.where !== where ? where : "";
  });
  const sought = widget.$(".sought");
  sought.textContent = left.length < marks.length ? sought.textContent.split(" ")[0] : sought.textContent;
  widget.$(".dare").hidden = left.length < marks.length;
  widget.$(".one").hidden = !left.length;
  const answer = document.querySelector("[data-answers]");  // of the question at the opening
  if (!answer || !known.concat(cause ?? []).includes(answer.dataset.answers)) return;
  [answer.hidden, answer.previousElementSibling.hidden] = [false, true];
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
  widget.$(".reached").textContent = `${got} of ${goals.length}`;
}
