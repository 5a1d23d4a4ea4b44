// A widget's form: what its controls say, in Python's spelling, and how they look.
const rungs = (input) => input.closest?.("[data-values]")?.dataset.values.split(" ");  // of a ladder's slider
// A field for a text holds in data-value the one in force, as Python wrote it.
const valueOf = (input) => input.dataset?.value ?? unread(input);
export const unread = (input) => (input.ariaInvalid ? valueOf(input) : rungs(input)?.[input.value] ?? input.value);
const knobOf = (form, name) => form.querySelector(`[data-knob=${name}]`);

export function knobs(form, value = valueOf) {
  const names = [...new FormData(form).keys()];
  return Object.fromEntries(names.map((name) => [name, value(form.elements.namedItem(name))]));
}

export function moved(form) {
  return Object.entries(knobs(form)).filter(([name, value]) => value !== knobOf(form, name).dataset.default);
}

export function spoken(form) {
  const words = (name) => knobOf(form, name).querySelector(":is(label, legend)").textContent;
  const said = Object.entries(knobs(form)).filter(([, value]) => value && value.length < 99);
  return said.map(([name, value]) => `${words(name)} ${value}`).join(", ");
}

// Sets what is on offer and returns what is not: [words].
export const set = (form, wanted) => wanted.map(([name, value]) => put(form, name, value)).filter(Boolean);

// Sets one knob, or returns why it does not.
function put(form, name, value) {
  const control = form.elements.namedItem(name);  // not elements[name]: the address may say __proto__, a knob length
  const ofJob = form.dataset.job?.split(" ").includes(name);
  if (!control?.name && !control?.length) return !ofJob && `${name} (no such knob)`;
  if (control.type === "textarea") return fresh(control, value);
  const choices = choicesOf(control);
  const { min, max } = control;
  if (choices && !choices.includes(value)) return `${name}=${value} (one of ${choices.join(", ")})`;
  const within = value.trim() && +value >= +min && +value <= +max;
  if (!choices && !within) return `${name}=${value} (from ${min} to ${max})`;
  control.value = rungs(control) ? choices.indexOf(value) : value;
}

// What a control offers one by one: rungs, options, radio buttons; a slider nothing.
function choicesOf(control) {
  if (rungs(control)) return rungs(control);
  if (control.type === "range") return undefined;
  return [...(control.options ?? control)].map((option) => option.value);
}

// A text that Python has not seen.
export function fresh(area, text) {
  area.value = text;
  area.ariaInvalid = null;
  area.nextElementSibling.textContent = "";
  if (!text.trim()) area.dataset.value = area.value = "";
}

// What Python found in the texts sent, {knob: {value, said}}; returns those that it refuses.
export function brought(form, found, sent) {
  const refused = [];
  for (const [name, { value, said }] of Object.entries(found)) {
    const area = form.elements.namedItem(name);
    const hint = area.nextElementSibling;
    if (area.value !== sent[name]) continue;  // another stands there by now, or one that was refused before
    if (area.value !== value || !hint.textContent) hint.textContent = said;
    if (value === null) {
      area.ariaInvalid = "true";
      refused.push(`${name} (${said.replace(/\.$/, "")})`);
    } else area.dataset.value = area.value = value;
  }
  return refused;
}

// Takes the nearest on offer to a typed value; returns what the line below the slider says.
export function type(field) {
  const range = field.closest(".knob").querySelector("[type=range]");
  const steps = rungs(range);
  const [low, high] = steps ? [steps[0], steps.at(-1)] : [range.min, range.max];
  const value = number(field.value);
  if (Number.isNaN(value)) return `a number from ${low} to ${high}`;
  range.value = steps ? steps.indexOf(nearest(steps, value)) : value;
  if (value < +low || value > +high) return `from ${low} to ${high}`;
  return steps && +steps[range.value] !== value ? `nearest on offer: ${steps[range.value]}` : "";
}

const nearest = (steps, value) => steps.toSorted((a, b) => (a - value) ** 2 - (b - value) ** 2)[0];

// What a reader may write: −3, 0,5, 16k and 2M are numbers; nothing is none.
function number(text) {
  const digits = text.trim().replace("−", "-").replace(",", ".").replace(/k$/i, "e3").replace(/M$/, "e6");
  return digits ? +digits : NaN;
}

// Every label after a move; `hint` is what to say below the field `hinted`.
export function label(form, hinted, hint = "") {
  for (const area of form.querySelectorAll("textarea")) if (!area.value.trim()) fresh(area, "");
  for (const [name, value] of Object.entries(knobs(form))) {
    const knob = knobOf(form, name);
    const range = knob.querySelector("[type=range]");
    knob.classList.toggle("moved", value !== knob.dataset.default);
    if (!range) continue;
    const field = knob.querySelector("[type=text]");
    const words = field === hinted ? hint : "";
    const line = knob.querySelector(".hint");
    line.textContent = words;
    line.hidden = !words;
    field.value = value;
    field.toggleAttribute("aria-invalid", Boolean(words));
    range.style.setProperty("--p", `${(100 * (range.value - range.min)) / (range.max - range.min)}%`);
    range.ariaValueText = `${value} ${field.nextSibling.textContent}`.trim();
  }
}
