// How a figure looks: Python sends data and roles, this file gives them the page's colours, dashes and type.
import { answered } from "./python.js";

const DASH = ["solid", "6px,3px", "2px,3px", "9px,3px,2px,3px"], MARK = ["circle", "square", "diamond", "triangle-up", "x", "cross", "star", "pentagon"];
let palette = {}, look;                             // read from the style sheet once a theme: asking costs a layout
const colour = (name) => (palette[name] ??= getComputedStyle(document.body).getPropertyValue(`--${name}`).trim());
const plotly = () => (plotly.loading ??= answered.then(() => import("../vendor/plotly.min.js")).then((module) => globalThis.Plotly ?? module.default));
const sized = new ResizeObserver((entries) => entries.forEach(({ target }) => target.data && target.offsetParent && globalThis.Plotly.Plots.resize(target)));

const axis = () => ({ gridcolor: colour("rule"), gridwidth: 1, zeroline: false, showline: true, linecolor: colour("edge"), linewidth: 1, ticks: "outside", ticklen: 4, tickcolor: colour("edge"),
  tickfont: { size: 12.5, color: colour("ink2") }, title: { font: { size: 13, color: colour("ink2") }, standoff: 6 }, nticks: 6, fixedrange: true, exponentformat: "power", minexponent: 3 });
const template = () => (look ??= { layout: { font: { family: colour("sans"), size: 13, color: colour("ink") }, paper_bgcolor: "transparent", plot_bgcolor: "transparent", margin: { l: 44, r: 14, t: 10, b: 38 },
  showlegend: false, hovermode: "closest", dragmode: false, hoverlabel: { bgcolor: colour("paper"), bordercolor: colour("edge"), font: { family: colour("sans"), size: 13, color: colour("ink") } },
  xaxis: { ...axis(), showgrid: false }, yaxis: axis() } });

function line(series, role) {
  const dash = DASH[(series - 1) % 4];
  return { seed: { color: colour(`d${series}`), width: 1.25 }, exact: { color: colour("ink2"), width: 1, dash: "2px,3px" }, reference: { color: colour("d8"), width: 1.5 },
    band: { width: 0 } }[role] ?? { color: colour(`d${series}`), width: 2.25, dash };
}

function dressed(trace) {
  const { series = 1, role = "" } = trace.meta ?? {}, own = colour(`d${series}`);
  if (trace.type === "bar") {
    const ground = { free: { color: "transparent", line: { color: colour("edge"), width: 1 } }, waste: { color: colour("paper"), line: { color: own, width: 1 }, pattern: { shape: "/", fgcolor: own, size: 6, solidity: 0.35 } } }[role];
    return { textposition: "auto", cliponaxis: false, ...trace, opacity: role === "histogram" ? 0.7 : 1, marker: ground ?? { color: own }, hovertemplate: "%{x}: %{y:.3g}<extra>%{fullData.name}</extra>" };
  }
  if (trace.type === "heatmap") {
    const steps = role === "diverging" ? 9 : 7;
    return { ...trace, showscale: false, xgap: 1, ygap: 1, colorscale: [...Array(steps).keys()].map((i) => [i / (steps - 1), colour(`${role === "diverging" ? "v" : "q"}${i + 1}`)]), hovertemplate: trace.hovertext ? "%{hovertext}<extra></extra>" : "%{x}, %{y}: %{z:.3g}<extra></extra>" };
  }
  const marker = role === "here" ? { size: 11, color: colour("paper"), line: { color: colour("touch"), width: 3 } } : { size: 6, color: own, symbol: MARK[series - 1] };
  const { shape } = trace.line ?? {};
  return { ...trace, line: { ...line(series, role), ...(shape && { shape }) }, marker, opacity: role === "seed" ? 0.55 : 1, ...(role === "band" && { fillcolor: `${own}2e`, hoverinfo: "skip" }),
    ...(role !== "band" && { hovertemplate: "%{y:.3g}<extra>%{fullData.name}</extra>" }) };
}

const shaped = (shape) => ({ ...shape, ...{ threshold: { line: { color: colour("warn"), width: 1.25, dash: "5px,3px" } }, beyond: { fillcolor: colour("warn"), opacity: 0.09, line: { width: 0 }, layer: "below" },
  region: { fillcolor: colour("edge"), opacity: 0.12, line: { width: 0 }, layer: "below" } }[shape.name] });
const worded = (word) => ({ ...word, font: { size: 12.5, color: word.name === "threshold" ? colour("warn") : word.name.startsWith("series-") && word.name !== "series-0" ? colour(`t${word.name.slice(7)}`) : colour("ink2") } });

// Draws a panel; `before` is the panel of the setting just left, whose first curve stays in grey.
export async function draw(plot, panel, before) {
  const first = before?.data.find((trace) => trace.mode === "lines" && trace.meta?.role !== "band");
  const ghost = first && { ...first, name: "before", meta: { series: 8, role: "reference" } };
  const { shapes, annotations, ...layout } = panel.layout;
  await (await plotly()).react(plot, [...(ghost ? [ghost] : []), ...panel.data].map(dressed), { ...layout, template: template(), shapes: shapes.map(shaped), annotations: annotations.map(worded) }, { displayModeBar: false, responsive: false });
  plot.querySelector(".still")?.remove();
  plot.setAttribute("aria-label", panel.alt);
  sized.observe(plot);
}

// Calls `redraw` whenever the reader changes between light and dark, and before a print; returns how to end it.
export function follow(redraw) {
  const theme = new MutationObserver(() => { palette = {}; look = undefined; redraw(); });
  theme.observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  addEventListener("beforeprint", redraw);
  return () => { theme.disconnect(); removeEventListener("beforeprint", redraw); };
}
