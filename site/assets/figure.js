// How a figure looks: Python sends data and roles, look.json says what each role wears, in the style sheet's own variables.
const wardrobe = fetch(new URL("look.json", import.meta.url)).then((answer) => answer.json());
const sized = new ResizeObserver((entries) => entries.forEach(({ target }) => target.data && target.offsetParent && globalThis.Plotly.Plots.resize(target)));
const plotly = () => (plotly.loading ??= python.answered.then(() => import("../vendor/plotly.min.js")).then((module) => globalThis.Plotly ?? module.default));
let look, made = {};                                // read from the style sheet once a theme: asking costs a layout

const value = (name) => getComputedStyle(document.body).getPropertyValue(`--${name}`).trim();
const resolved = (part, series) => JSON.parse(JSON.stringify(part), (_, word) => word.replaceAll?.(/var\(--(\w+)(#?)\)/g, (_, name, own) => value(own ? name + series : name)) ?? word);
const clothes = (kind, role, series) => (made[[kind, role, series]] ??= resolved({ ...look[kind], ...look[`${kind} ${role}`] }, series));
const dressed = (thing, kind, role, series) => ({ ...clothes(kind, role, series), ...thing });

// Draws a panel; `before` is the panel of the setting just left, whose first curve stays in gray.
export async function draw(plot, panel, before) {
  look ??= await wardrobe;
  const first = before?.data.find((trace) => trace.mode === "lines" && trace.meta.role !== "band");
  const ghost = first && { ...first, name: "before", meta: { series: 8, role: "reference" } };
  const traces = [...(ghost ? [ghost] : []), ...panel.data].map((trace) => dressed(trace, trace.type, trace.meta.role, trace.meta.series));
  const shapes = panel.layout.shapes.map((shape) => dressed(shape, "shape", shape.name));
  const annotations = panel.layout.annotations.map((word) => dressed(word, "word", ...word.name.split("-")));
  const layout = { ...panel.layout, template: { layout: clothes("layout") }, shapes, annotations };
  await (await plotly()).react(plot, traces, layout, { displayModeBar: false, responsive: false });
  plot.querySelector(".still")?.remove();
  plot.setAttribute("aria-label", panel.alt);
  sized.observe(plot);
}

// The reader changes between light and dark, or prints.
const redraw = () => document.querySelector("rl-widget")?.redraw();
new MutationObserver(() => { made = {}; redraw(); }).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
addEventListener("beforeprint", redraw);
