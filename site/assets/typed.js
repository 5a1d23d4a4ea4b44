// A number that is typed beside a slider.
import { between, rungs, stop } from "./knobs.js";

// Takes it, or the nearest on offer; returns what the line below the slider says.
export function type(field) {
  const knob = field.closest(".knob");
  const range = knob.querySelector("[type=range]");
  const steps = rungs(range);
  const [low, high] = steps ? [steps[0], steps.at(-1)] : [range.min, range.max];
  const value = number(field.value);
  const within = value < +low ? +low : value > +high ? +high : value;
  const whole = knob.dataset.exact === "whole";
  if (Number.isNaN(value) || (whole && within % 1)) return `a ${whole ? "whole " : ""}number from ${low} to ${high}`;
  if (!steps) between(range);
  stop(range, within);
  range.value = steps ? rungs(range).indexOf(nearest(rungs(range), within)) : within;
  if (value !== within) return `from ${low} to ${high}`;
  const taken = rungs(range)?.[range.value] ?? range.value;
  return +taken === value ? "" : `${field.value.trim()} is not on offer, ${taken} is nearest`;
}

const nearest = (steps, value) => steps.toSorted((a, b) => (a - value) ** 2 - (b - value) ** 2)[0];

// What a reader may write: −3, 0,5, 1,024, 16k and 2M are numbers; nothing is none.
function number(text) {
  const grouped = /^\D?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(text.trim());
  const plain = text.trim().replace("−", "-").replaceAll(",", grouped ? "" : ".");
  return plain ? +plain.replace(/k$/i, "e3").replace(/M$/, "e6") : NaN;
}
