// What a reader takes away of a widget: the figure as a picture with its setting in it, the run as one Python file.
import { draw } from "./figure.js";
import { moved } from "./knobs.js";

const SVG = "http://www.w3.org/2000/svg";
const [MARGIN, LINE, CAPTION] = [16, 18, 44];  // pixels: around all, of a line of words, over a panel

function save(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function put(parent, kind, attributes, text = "") {
  const element = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  parent.append(element);
  return element;
}

// Words in lines of at most `most` characters.
function lines(text, most) {
  const rows = [""];
  for (const word of text.split(" ")) {
    if (rows.at(-1).length + word.length < most) rows.push(`${rows.pop()} ${word}`.trim());
    else rows.push(word);
  }
  return rows;
}

// What a part of the page wears and a picture has no style sheet for.
const WORN = `
  align-items background-color border-bottom border-collapse border-left border-radius border-right border-top bottom
  box-sizing clip-path color column-gap cx cy display dominant-baseline fill fill-opacity flex flex-direction
  font-size font-style font-weight grid-column grid-row grid-template-columns grid-template-rows height justify-content
  left line-height margin opacity overflow padding paint-order position r right row-gap rx ry stroke stroke-dasharray
  stroke-linecap stroke-opacity stroke-width text-align text-anchor top transform transform-box transform-origin
  translate vertical-align visibility white-space width x y`.trim().split(/\s+/);

// A scene or a table, which Python has drawn as elements of the page, as it looks.
function worn(plot) {
  const copy = plot.cloneNode(true);
  const copies = [copy, ...copy.querySelectorAll("*")];
  [plot, ...plot.querySelectorAll("*")].forEach((part, i) => {
    const look = getComputedStyle(part);
    const value = (name) => look.getPropertyValue(name).replace(/url\("[^"]*#/, 'url("#');  // in the picture itself
    copies[i].style.cssText = WORN.map((name) => `${name}: ${value(name)}`).join("; ");
  });
  const frame = document.createElementNS(SVG, "svg");
  const around = put(frame, "foreignObject", { width: plot.clientWidth, height: plot.scrollHeight });
  frame.style.cssText = around.style.cssText = "overflow: visible; font-family: Source Sans 3, Arial, sans-serif";
  around.append(copy);
  return frame;
}

async function plotted(plot) {
  const { clientWidth: width, clientHeight: height } = plot;
  const drawn = await globalThis.Plotly.toImage(plot, { format: "svg", width, height });
  const whose = /font-family: [^;]*;/g;  // the page's own fonts are not where the picture goes
  const text = decodeURIComponent(drawn.slice(drawn.indexOf(",") + 1)).replaceAll(whose, "font-family: sans-serif;");
  return new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
}

// The panels in view beside one another, what stands over them, the setting below, and where all this comes from.
async function picture(widget) {
  const plots = widget.$$(".panels:not([hidden]) .plot");
  for (const plot of plots) if (!plot.data) await draw(plot, widget.shown.panels[plot.dataset.panel]);
  const look = getComputedStyle(widget.$(".stick"));
  const address = widget.$("[data-clipboard-text]").dataset.clipboardText;
  const width = plots.reduce((sum, plot) => sum + plot.clientWidth + MARGIN, MARGIN);
  const most = width / 6.6;
  const whole = document.createElementNS(SVG, "svg");
  const style = `font-family: sans-serif; font-size: 12px; fill: ${look.color}`;
  const ground = put(whole, "rect", { width, fill: getComputedStyle(document.body).backgroundColor });
  const words = put(whole, "g", { style });
  const hatch = document.querySelector(".k-defs pattern");
  if (hatch) put(whole, "defs", { stroke: getComputedStyle(hatch.firstChild).stroke }).append(hatch.cloneNode(true));
  let y = MARGIN;
  const say = (text, attributes) => put(words, "text", { x: MARGIN, y: (y += LINE), ...attributes }, text);
  for (const row of lines(widget.$("h3").textContent, most / 1.2)) say(row, { "font-weight": 600, "font-size": 15 });
  y += MARGIN / 2;
  let x = MARGIN;
  let deepest = 0;
  for (const plot of plots) {
    const { title, note } = widget.shown.panels[plot.dataset.panel];
    const [wide, high] = [plot.clientWidth, plot.scrollHeight];
    put(words, "text", { x, y: y + LINE, "font-weight": 600 }, title);
    const keys = [...plot.previousElementSibling.querySelectorAll(".key")];
    const fills = keys.map((key) => getComputedStyle(key, ":before").color);
    lines(note, wide / 6).slice(0, 2).forEach((row, i) => {
      const line = put(words, "text", { x, y: y + LINE * (1.8 + i * 0.75), "font-size": 11 });
      for (const part of row.split(/(▮)/)) put(line, "tspan", part === "▮" ? { fill: fills.shift() } : {}, part);
    });
    const panel = plot.data ? await plotted(plot) : worn(plot);
    panel.setAttribute("x", x);
    panel.setAttribute("y", y + CAPTION + LINE / 2);
    whole.append(panel);
    x += wide + MARGIN;
    if (high > deepest) deepest = high;
  }
  y += CAPTION + deepest + MARGIN;
  for (const row of lines(widget.figure.dataset.settings, most)) say(row);
  if (widget.code) for (const row of lines("Drawn with changed code, which the address carries.", most)) say(row);
  for (const row of lines(address.slice(0, address.indexOf("?")), most)) say(row, { "font-size": 11 });
  put(whole, "metadata", {}, address);
  ground.setAttribute("height", y + MARGIN);
  whole.setAttribute("viewBox", `0 0 ${width} ${y + MARGIN}`);
  whole.setAttribute("width", width);
  whole.setAttribute("height", y + MARGIN);
  return { text: new XMLSerializer().serializeToString(whole), width, height: y + MARGIN };
}

async function png({ text, width, height }, name) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((content) => save(content, name));
}

// The first lines of the file are a reader's: what the knobs say, and what was changed.
async function run(widget, { href }) {
  const answer = await fetch(href);
  if (!answer.ok) throw Error(answer.status);
  const first = { "SETTING = {}": `SETTING = ${JSON.stringify(Object.fromEntries(moved(widget.form)), null, 4)}` };
  if (widget.code) first['CHANGED = ""'] = `CHANGED = ${JSON.stringify(`\n\n${widget.code.source}`)}`;
  let text = await answer.text();
  for (const [line, own] of Object.entries(first)) text = text.replace(line, () => own);
  save(new Blob([text], { type: "text/x-python" }), `${widget.name}.py`);
}

// The lines that show the widget alone on another page, at its setting and as high as it is here.
function frame(widget) {
  const address = widget.$("[data-clipboard-text]").dataset.clipboardText.replace("?", "?embed=&");
  const escaped = address.slice(0, address.indexOf("#")).replaceAll("&", "&amp;");
  const title = widget.$("h3").textContent;
  return `<iframe src="${escaped}" title="${title}"\n  width="100%" height="${widget.offsetHeight}" `
    + `style="border: 0"></iframe>`;
}

export function offer(widget) {
  const fold = widget.$(".export");
  const embed = fold.querySelector(".frame");
  embed.onclick = () => (embed.dataset.clipboardText = frame(widget));  // before the theme copies it
  fold.querySelector(".svg").onclick = async () => {
    save(new Blob([(await picture(widget)).text], { type: "image/svg+xml" }), `${widget.name}.svg`);
  };
  fold.querySelector(".png").onclick = async () => png(await picture(widget), `${widget.name}.png`);
  fold.querySelector("[download]").onclick = (event) => {
    event.preventDefault();
    const failed = fold.querySelector(".failed");
    run(widget, event.currentTarget).then(() => (failed.hidden = true), () => (failed.hidden = false));
  };
}
