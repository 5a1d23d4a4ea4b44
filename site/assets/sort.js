// Cases that readers judge: each wrong answer gets the hint that belongs to it, and the third one gets the answer.
import { keep, kept } from "./page.js";

const TRIES = 3;
const NEAR = 0.0005;  // two typed numbers are the same

// "17/30", "17 of 30", "56.7 %" as a number; a percentage stays one.
function number(text) {
  const [, over, under] = /^\s*([-−]?[\d.,]+)\s*(?:(?:\/|of)\s*([\d.,]+)\s*)?%?\s*$/.exec(text) ?? [];
  if (over === undefined) return NaN;
  const [top, low] = [over.replace("−", "-"), under ?? "1"].map((digits) => +digits.replace(",", "."));
  return top / low;
}

const near = (a, b) => a - b < NEAR && b - a < NEAR;
const without = (text) => text.replace(/\s+/g, " ").trim();

customElements.define("sort-cases", class extends HTMLElement {
  connectedCallback() {
    this.cases = JSON.parse(this.querySelector("template").content.textContent);
    this.items = [...this.querySelectorAll("ol > li")];
    this.key = `sort:${this.getAttribute("name")}`;
    this.given = kept(this.key);
    this.items.forEach((item, i) => this.prepare(item, i));
    this.count();
  }

  prepare(item, i) {
    const [trays, form, answer] = [".trays", ".typed", "details"].map((css) => item.querySelector(css));
    (trays ?? form).hidden = false;
    trays?.addEventListener("click", ({ target }) => target.matches("button") && this.judge(i, target.textContent));
    form?.addEventListener("submit", (event) => {
      event.preventDefault();
      this.judge(i, form.elements[0].value);
    });
    answer.addEventListener("toggle", () => answer.open && this.look(i));
    this.draw(i);
  }

  // Nothing is judged again once its answer is known, and no wrong answer costs two tries.
  judge(i, answer) {
    const given = this.given[i] ?? [];
    if (this.state(i) || given.includes(without(answer))) return;
    if (!answer) return this.say(i, "Give an answer first.");
    if (this.items[i].querySelector("input") && Number.isNaN(number(answer))) {
      return this.say(i, "Type a number, such as 12, 12/30 or 40 %.");
    }
    this.remember(i, [...given, without(answer)]);
  }

  look(i) {
    if (!this.state(i)) this.remember(i, [...(this.given[i] ?? []), ""]);
  }

  remember(i, answers) {
    this.given = { ...this.given, [i]: answers };
    keep(this.key, this.given);
    this.draw(i);
    this.count();
    if (this.state(i)) this.move(i + 1);
  }

  // The scene that belongs to the cases, to the moment after so many of them.
  move(moment) {
    const range = document.querySelector(`[data-scene="${this.dataset.figure}"] [type=range]`);
    if (!range) return;
    range.value = moment;
    range.dispatchEvent(new Event("input", { bubbles: true }));
  }

  isRight(i, answer) {
    const { right, within } = this.cases[i];
    return right.includes(answer) || within.some(([low, high]) => number(answer) >= low && number(answer) <= high);
  }

  // "met" within two attempts, "seen" once the answer was shown, "" before.
  state(i) {
    const given = this.given[i] ?? [];
    const at = given.findIndex((answer) => this.isRight(i, answer));
    if (at >= 0 && at < TRIES - 1 && !given.slice(0, at).includes("")) return "met";
    return at >= 0 || given.includes("") || given.length >= TRIES ? "seen" : "";
  }

  hint(i, given) {
    const { hints, pointed } = this.cases[i];
    if (given.length > 1) return pointed;
    const same = Object.keys(hints).find((one) => one === given[0] || (one && near(number(one), number(given[0]))));
    return hints[same ?? ""];
  }

  draw(i) {
    const [item, given, state] = [this.items[i], this.given[i] ?? [], this.state(i)];
    const { right, why } = this.cases[i];
    item.dataset.state = state;
    const field = item.querySelector("input, select");
    if (field && given.at(-1)) field.value = given.at(-1);
    if (field?.matches("input")) field.readOnly = Boolean(state);  // disabled, it would lose the focus
    else if (field) field.disabled = Boolean(state);
    for (const button of item.querySelectorAll(".trays button")) {
      const chosen = given.includes(button.textContent);
      button.ariaPressed = chosen;
      button.dataset.is = state && button.textContent === right[0] ? "right" : chosen ? "tried" : "";
    }
    if (!given.length) return;
    if (state) item.querySelector("details").hidden = true;
    if (this.isRight(i, given.at(-1))) return this.say(i, why, "Right.");
    if (state) return this.say(i, why, `The answer is “${right[0]}”.`);
    const again = "Not this one either. One more try, which no longer counts.";
    this.say(i, this.hint(i, given), given.length > 1 ? again : "Not this one.");
  }

  say(i, sentence, verdict = "") {
    const place = this.items[i].querySelector(".came");
    const bold = document.createElement("b");
    bold.textContent = verdict;
    place.replaceChildren(...(verdict ? [bold, " "] : []), sentence);
  }

  count() {
    const states = this.items.map((_, i) => this.state(i));
    if ("turn" in this.dataset) this.items.forEach((item, i) => item.hidden = i > 0 && !states[i - 1] && !states[i]);
    const of = (kind) => states.filter((state) => state === kind).length;
    const [met, seen, { goal, need, must, told }] = [of("met"), of("seen"), this.dataset];
    const needed = must.split(" ").filter(Boolean).every((i) => states[i] === "met");
    const reached = met >= +need && needed;
    const parts = [`${met} of ${states.length} found`, ...(seen ? [`${seen} shown`] : [])];
    const end = states.every(Boolean) ? ` ${told}` : "";
    const said = `${reached ? "Goal reached" : "Goal"}: ${goal}. ${parts.join(", ")}.${end}`;
    this.querySelector(".score").textContent = said;
    this.classList.toggle("met", reached);
    const goals = `met:${this.getAttribute("widget")}`;
    if (!reached || Object.values(kept(goals)).includes(goal)) return;
    keep(goals, [...Object.values(kept(goals)), goal]);
  }
});
