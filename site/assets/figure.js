// How a figure looks: Python sends data and roles, look.json says what each role wears, in the style sheet's variables.
const wardrobe = fetch(new URL("look.json", import.meta.url)).then((answer) => answer.json());
let look;
let worn = {};                                      // read from the style sheet once a theme: asking costs a layout
let library;

function plotly() {
  library ??= python.answered
    .then(() => import("../vendor/plotly.min.js"))
    .then((module) => globalThis.Plotly ?? module.default);
  return library;
}

const sized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.data && target.offsetParent) globalThis.Plotly.Plots.resize(target);
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

// The first curve of the setting just left, which stays in gray; not every panel has one.
function ghost(before) {
  const curve = before?.data.find((trace) => trace.mode === "lines" && trace.meta.role !== "band");
  return curve ? [{ ...curve, name: "before", meta: { series: 8, role: "reference" } }] : [];
}

// Draws a panel; `before` is the same panel of the setting just left.
export async function draw(plot, panel, before) {
  look ??= await wardrobe;
  const traces = [...ghost(before), ...panel.data];
  const layout = {
    ...panel.layout,
    template: { layout: clothes("layout") },
    shapes: panel.layout.shapes.map((shape) => dressed(shape, "shape", shape.name)),
    annotations: panel.layout.annotations.map((word) => dressed(word, "word", ...word.name.split("-"))),
  };
  const data = traces.map((trace) => dressed(trace, trace.type, trace.meta.role, trace.meta.series));
  const Plotly = await plotly();
  await Plotly.react(plot, data, layout, { displayModeBar: false, responsive: false });
  plot.querySelector(".still")?.remove();
  plot.setAttribute("aria-label", panel.alt);
  sized.observe(plot);
}

// The reader changes between light and dark, or prints.
const redraw = () => document.querySelector("rl-widget")?.redraw();
const changed = () => {
  worn = {};
  redraw();
};
new MutationObserver(changed).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
addEventListener("beforeprint", redraw);
