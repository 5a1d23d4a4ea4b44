// A widget's form: what its controls say, in Python's spelling, and how they look when they have moved.
const rungs = (input) => input.closest?.("[data-values]")?.dataset.values.split(" ");        // a ladder's slider counts its rungs
const valueOf = (input) => rungs(input)?.[input.value] ?? input.value;
const number = (text) => (text.trim() ? +text.trim().replace("−", "-").replace(",", ".").replace(/k$/i, "e3").replace(/M$/, "e6") : NaN);
const ends = (range) => (rungs(range) ? [rungs(range)[0], rungs(range).at(-1)] : [range.min, range.max]);

export const knobs = (form) => Object.fromEntries([...new FormData(form).keys()].map((name) => [name, valueOf(form.elements.namedItem(name))]));
export const moved = (form) => Object.entries(knobs(form)).filter(([name, value]) => value !== form.querySelector(`[data-knob=${name}]`).dataset.default);
export const spoken = (form) => Object.entries(knobs(form)).map(([name, value]) => `${form.querySelector(`[data-knob=${name}] :is(label, legend)`).textContent} ${value}`).join(", ");

// Sets what is on offer and returns a sentence for what is not.
export function set(form, wanted) {
  const refused = wanted.map(([name, value]) => {
    const control = form.elements.namedItem(name);     // not elements[name]: the address may say __proto__, and a knob may be called length
    if (!control?.name && !control?.length) return `${name} (no such knob)`;
    const list = rungs(control), offered = list ?? [...(control.type === "range" ? [] : control.options ?? control)].map((option) => option.value);
    if (offered.length ? !offered.includes(value) : !(value.trim() && +value >= +control.min && +value <= +control.max))
      return `${name}=${value} (${offered.length ? `one of ${offered.join(", ")}` : `from ${control.min} to ${control.max}`})`;
    control.value = list ? list.indexOf(value) : value;
  });
  return refused.some(Boolean) ? `Left out of the address: ${refused.filter(Boolean).join("; ")}.` : "";
}

// A value typed beside a slider: the nearest on offer is taken; returns what the line below the slider should say.
export function type(field) {
  const range = field.closest(".knob").querySelector("[type=range]"), value = number(field.value), [low, high] = ends(range), list = rungs(range);
  if (Number.isNaN(value)) return `a number from ${low} to ${high}`;
  range.value = list ? list.indexOf(list.toSorted((a, b) => (a - value) ** 2 - (b - value) ** 2)[0]) : value;
  return value < +low || value > +high ? `from ${low} to ${high}` : "";
}

// Every label after a move; `hints` is what to say below which field.
export function label(form, hinted, hint = "") {
  const now = knobs(form);
  for (const knob of form.querySelectorAll(".knob")) {
    const value = now[knob.dataset.knob], range = knob.querySelector("[type=range]"), field = knob.querySelector("[type=text]"), words = field === hinted ? hint : "";
    knob.classList.toggle("moved", value !== knob.dataset.default);
    if (!range) continue;
    field.value = value;
    field.toggleAttribute("aria-invalid", !!words);
    Object.assign(knob.querySelector(".hint"), { textContent: words, hidden: !words });
    range.style.setProperty("--p", `${(100 * (range.value - range.min)) / (range.max - range.min)}%`);
    range.ariaValueText = `${value} ${field.nextSibling.textContent}`.trim();
  }
}
