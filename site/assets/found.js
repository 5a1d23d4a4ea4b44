// Which breaks of a widget were found, a list of causes, and which of its challenges were met, a list of goals.
import { keep, kept } from "./page.js";

// Writes down the `cause` of a run at a reader's `own` setting and the goals that it has `met`, if any, and shows all.
export function show(widget, { cause, own, met }) {
  found(widget, cause, own);
  reached(widget, met);
}

// A rhombus is named by its cause; in its list are the reader's own setting and the presets that break by it.
function found(widget, cause, own) {
  const key = `found:${widget.name}`, where = `broke:${widget.name}`;
  const known = Object.values(kept(key));
  if (cause && !known.includes(cause)) {
    keep(key, [...known, cause]);
    keep(where, { ...kept(where), [cause]: own });
    known.push(cause);
  }
  const settings = kept(where);
  const marks = widget.$$("li[data-breaks]");
  const named = (one) => marks.find((mark) => mark.dataset.breaks === one);
  marks.push(...known.filter((one) => settings[one] && !named(one)).map((one) => further(marks, one)));
  const newest = cause || known.findLast(named);
  for (const mark of marks) {
    const { breaks } = mark.dataset;
    mark.className = breaks === newest ? "on newest" : known.includes(breaks) ? "on" : "";
    mark.querySelector(".cause").hidden = !known.includes(breaks);
    again(mark, settings[breaks]);
  }
  const left = marks.filter((mark) => !mark.matches(".on"));
  marks.forEach((mark) => {  // said once of those that stand side by side
    const after = left[left.indexOf(mark) + 1];
    const { where: place } = mark.dataset;
    mark.lastElementChild.textContent = left.includes(mark) && after?.dataset.where !== place ? place : "";
  });
  widget.$(".sought .count").textContent = `${marks.length - left.length} of ${marks.length}`;
  widget.$(".dare").hidden = left.length < marks.length;
  widget.$(".one").hidden = !left.length;
}

// A break that no preset shows.
function further(marks, cause) {
  const mark = marks[0].cloneNode(true);
  const [button, list] = mark.children;
  mark.dataset.breaks = list.ariaLabel = button.title = button.firstElementChild.textContent = cause;
  button.setAttribute("popovertarget", list.id += `-${marks.length}`);
  list.firstElementChild.textContent = cause;
  for (const preset of mark.querySelectorAll("[data-promise], .presetwise")) preset.remove();
  marks[0].parentNode.append(mark);
  return mark;
}

// The way back to the setting that was the reader's, where it is no preset.
function again(mark, query) {
  const button = mark.querySelector("[data-own]");
  const mine = new URLSearchParams(query);
  const isMine = ([name, value]) => mine.get(name) === value;
  const same = (preset) => [...new URLSearchParams(preset.dataset.knobs)].every(isMine);
  button.hidden = !query || [...mark.querySelectorAll("[data-promise]")].some(same);
  if (query) button.dataset.knobs = query;
}

// Writes down the goals that a run has `met`, and shows all.
function reached(widget, met) {
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
