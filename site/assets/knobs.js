// A widget's form: what its controls say, in Python's spelling, and how they look.
export const rungs = (input) => input.closest?.("[data-values]")?.dataset.values.split(" ");  // of a ladder's slider
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
  const words = (name) => knobOf(form, name).querySelector(".name").textContent;
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
  value &&= stop(control, value);
  const choices = choicesOf(control);
  const { min, max } = control;
  if (choices && !choices.includes(value)) {
    return `${name}=${value} (${exact(control) ? "a number within its ends" : `one of ${choices.join(", ")}`})`;
  }
  const within = value.trim() && +value >= +min && +value <= +max;
  if (!choices && !within) return `${name}=${value} (from ${min} to ${max})`;
  if (!choices && isWhole(control) && value % 1) return `${name}=${value} (a whole number)`;
  if (!choices) between(control);
  control.value = rungs(control) ? choices.indexOf(value) : value;
}

// A slider keeps what is typed between two of its steps, until it is moved; counts stay whole.
const isWhole = ({ dataset: { step } }) => step % 1 === 0;
export function between(range) {
  if (!isWhole(range)) range.step = "any";
}

// Back to its steps.
export function stepwise(range) {
  if (range.dataset.step) range.step = range.dataset.step;
}

// Shows only the knobs whose words hold what is typed; a heading goes with its last knob.
export function filter(form, text) {
  const wanted = text.trim().toLowerCase();
  for (const knob of form.querySelectorAll(".rest .knob")) {
    knob.hidden = !knob.textContent.toLowerCase().includes(wanted);
  }
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

const exact = (control) => control.closest?.(".knob").dataset.exact;

// A ladder that is exact stops at every number between its ends: returns it as it stands there.
export function stop(range, number) {
  const steps = rungs(range) ?? [];
  const known = steps.find((step) => +step === +number);
  const taken = exact(range) && +number > steps[0] && +number < steps.at(-1);
  if (known || !taken || (exact(range) === "whole" && +number % 1)) return known ?? number;
  const knob = range.closest(".knob");
  steps.push(`${+number}`);
  knob.dataset.values = steps.sort((a, b) => a - b).join(" ");
  range.max = steps.length - 1;
  range.parentNode.style.setProperty("--n", range.max);
  knob.querySelector(".notch").style.setProperty("--d", steps.indexOf(knob.dataset.default) / range.max);
  return `${+number}`;
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
