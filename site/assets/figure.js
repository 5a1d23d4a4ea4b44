// How a figure looks: Python sends data and roles, look.json says what each role wears.
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
  const across = ({ layout }) => layout.xaxis.title.text;
  if (!before?.ghost || across(before) !== across(panel)) return [[], []];
  const [which, word] = before.ghost;
  return [[{ ...before.data[which], name, meta: { series: 8, role: "before" } }], [{ ...word, text: name }]];
}

// Words move up or down, 3 pixels a step, until none lies on another and all are inside their plot.
const STEPS = [...Array(40).keys()].flatMap((i) => [-3 * i, 3 * i]);
const box = (element) => element.getBoundingClientRect();
const apart = (a, b) => a.right <= b.left || a.left >= b.right || a.bottom <= b.top || a.top >= b.bottom;

function part(plot) {
  const room = box(plot.querySelector(".nsewdrag"));
  const taken = [];
  for (const word of plot.querySelectorAll(".annotation")) {
    const free = (by, others = taken) => {
      word.style.translate = `0 ${by}px`;
      const here = box(word);
      return here.top >= room.top && here.bottom <= room.bottom && others.every((other) => apart(here, other));
    };
    STEPS.some((by) => free(by)) || STEPS.some((by) => free(by, []));
    taken.push(box(word));
  }
}

// Draws a panel; `before` is the same panel of the setting that `name` tells of.
export async function draw(plot, panel, before, name) {
  look ??= await wardrobe;
  const [left, said] = ghost(before, panel, name);
  const words = [...panel.layout.annotations, ...said];
  const layout = {
    ...panel.layout,
    template: { layout: clothes("layout") },
    shapes: panel.layout.shapes.map((shape) => dressed(shape, "shape", shape.name)),
    annotations: words.map((word) => dressed(word, "word", ...word.name.split("-"))),
  };
  const data = [...left, ...panel.data].map((trace) => dressed(trace, trace.type, trace.meta.role, trace.meta.series));
  const Plotly = await plotly();
  await Plotly.react(plot, data, layout, { displayModeBar: false, responsive: false });
  plot.querySelector(".still")?.remove();
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
