// How a figure looks: Python sends data and roles, look.json says what each role wears.
import { patch } from "./scene.js";

const wardrobe = fetch(new URL("look.json", import.meta.url)).then((answer) => answer.json());
let look;
let worn = {};  // read from the style sheet once a theme: asking costs a layout
let library;

function plotly() {
  library ??= python.answered
    .then(() => import("../vendor/plotly.min.js"))
    .then((module) => globalThis.Plotly ?? module.default);
  return library;
}

const sized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.data && target.offsetParent) globalThis.Plotly.Plots.resize(target).then(part);
  }
});

const variable = (name) => getComputedStyle(document.body).getPropertyValue(`--${name}`).trim();

// var(--d#) means --d1 for the first series, --d2 for the second.
function resolved(part, series) {
  const named = (_, name, own) => variable(own ? name + series : name);
  const inStrings = (_, leaf) => (typeof leaf === "string" ? leaf.replaceAll(/var\(--(\w+)(#?)\)/g, named) : leaf);
  return JSON.parse(JSON.stringify(part), inStrings);
}

function clothes(kind, role, series) {
  const name = [kind, role, series].join();
  worn[name] ??= resolved({ ...look[kind], ...look[`${kind} ${role}`] }, series);
  return worn[name];
}

const dressed = (thing, kind, role, series) => ({ ...clothes(kind, role, series), ...thing });

// What stays in gray of a setting that was left or kept, and its word.
function ghost(before, panel, name) {
  const axes = ({ layout: { xaxis, yaxis } }) => `${xaxis.title.text} ${yaxis.range}`;
  if (!before?.ghost || axes(before) !== axes(panel)) return [[], []];
  const [which, word] = before.ghost;
  const curve = ({ data }) => `${data[which]?.x} ${data[which]?.y}`;
  if (curve(before) === curve(panel)) return [[], []];
  return [[{ ...before.data[which], name, meta: { series: 8, role: "before" } }], [{ ...word, text: name }]];
}

// Words move, 3 pixels a step, until none lies on another and all are in their plot; beside a break those of the curves
// give way on a narrow one.
const STEPS = [...Array(40).keys()].flatMap((i) => [-3 * i, 3 * i]);
const box = (element) => element.getBoundingClientRect();
const apart = (a, b) => a.right <= b.left || a.left >= b.right || a.bottom <= b.top || a.top >= b.bottom;

function part(plot) {
  const room = box(plot.querySelector(".nsewdrag"));
  const { left, right } = box(plot);
  const crowded = right - left < 420 && plot.querySelector("[data-ring]");
  const taken = [];
  for (const word of plot.querySelectorAll(".annotation")) {
    const gives = crowded && plot.layout.annotations[word.dataset.index].name.startsWith("series");
    word.style.display = gives ? "none" : "";
    if (gives) continue;
    word.style.translate = "";
    const { left: from, right: to } = box(word);
    const aside = to > right ? right - to : from < left ? left - from : 0;
    const free = (by, across = 0, others = taken) => {
      word.style.translate = `${aside + across}px ${by}px`;
      const here = box(word);
      if (across && (here.left < left || here.right > right)) return false;
      return here.top >= room.top && here.bottom <= room.bottom && others.every((other) => apart(here, other));
    };
    const beside = (places) => STEPS.some((by) => free(by, places * (to - from + 4)));
    [0, -1, 1, -2, 2].some(beside) || STEPS.some((by) => free(by, 0, []));
    taken.push(box(word));
  }
}

// A break in the picture: the guilty mark at full strength, the others at a quarter, a ring.
function broken(data, at) {
  const faint = (mark) => {
    if (mark.type === "bar") return { ...mark, marker: { ...mark.marker, opacity: mark.x.map((x) => near(x, at)) } };
    if (mark.name === at.curve) return { ...mark, line: { ...mark.line, width: 3 }, opacity: 1 };
    return at.curve ? { ...mark, opacity: (mark.opacity ?? 1) / 4 } : mark;
  };
  const ring = { type: "scatter", mode: "markers", x: [at.x], y: [at.y], name: "" };
  return [...data.map(faint), dressed(ring, "scatter", "break", 1)];
}

const near = (x, at) => (x === at.x || (x - at.x) ** 2 < 0.25 ? 1 : 0.25);

// Its words, at the end of a leader.
function leader({ spot, words, left, down }) {
  const from = { ax: left ? -38 : 38, ay: down ? 34 : -34, xanchor: left ? "right" : "left" };
  return { name: "break", ...spot, text: words, showarrow: true, ...from };
}

// Draws a panel; `before` is the same panel of the setting that `name` tells of, and `at` where it broke.
export async function draw(plot, panel, before, name, at) {
  plot.setAttribute("role", panel.role ?? "img");
  if (panel.svg) {
    if (plot.data) globalThis.Plotly.purge(plot);
    return patch(plot, panel);
  }
  look ??= await wardrobe;
  const [left, said] = ghost(before, panel, name);
  const words = [...(at ? [leader(at)] : []), ...panel.layout.annotations, ...said];
  const layout = {
    ...panel.layout,
    template: { layout: clothes("layout") },
    shapes: panel.layout.shapes.map((shape) => dressed(shape, "shape", shape.name)),
    annotations: words.map((word) => dressed(word, "word", ...word.name.split("-"))),
  };
  const data = [...left, ...panel.data].map((trace) => dressed(trace, trace.type, trace.meta.role, trace.meta.series));
  const Plotly = await plotly();
  await Plotly.react(plot, at ? broken(data, at) : data, layout, { displayModeBar: false, responsive: false });
  for (const old of plot.querySelectorAll(":scope > :not(.plot-container)")) old.remove();
  plot.querySelector("[data-ring]")?.removeAttribute("data-ring");
  if (at) [...plot.querySelectorAll(".scatterlayer .trace")].at(-1).dataset.ring = at.words;
  part(plot);
  plot.setAttribute("aria-label", panel.alt);
  sized.observe(plot);
}

// Light and dark, and print.
const redraw = () => document.querySelectorAll("rl-widget, own-code").forEach((one) => one.redraw());
const changed = () => {
  worn = {};
  redraw();
};
new MutationObserver(changed).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
addEventListener("beforeprint", redraw);
