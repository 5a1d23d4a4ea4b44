// What a page remembers, in this browser only: which lessons were begun or done; and the copy buttons of code blocks.
import { said } from "./widget.js";

const KEY = "lessons-v1", lesson = () => location.pathname.split("/").at(-2);
const kept = () => { try { return JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { return {}; } };
const remember = (mark) => { try { localStorage.setItem(KEY, JSON.stringify({ ...kept(), [lesson()]: mark })); } catch { /* nothing can be kept here */ } };

document.addEventListener("input", ({ target }) => target.closest("rl-widget") && !kept()[lesson()] && remember("half"));
document.addEventListener("toggle", ({ target }) => {
  if (target.matches("details.quiz[open]")) target.dataset.seen = true;
  if (target.matches(".quiz") && [...document.querySelectorAll(".quiz")].every((quiz) => quiz.dataset.seen)) {
    remember("full");
    document.querySelector("done-mark").show();
  }
}, { capture: true });
document.addEventListener("click", ({ target }) => target.matches(".src .copy") && said(target, navigator.clipboard.writeText(
  [...target.closest(".src").querySelectorAll("code:not(.hunk code), .l:not(.rem)")].map((part) => part.textContent).join("\n"))));

// The marks beside the lessons of the index: a ring, a half, a full dot, each with its name.
customElements.define("lesson-mark", class extends HTMLElement {
  connectedCallback() {
    const mark = kept()[this.getAttribute("name")] ?? "";
    this.className = `mark ${mark}`;
    this.ariaLabel = { full: "done", half: "begun" }[mark] ?? "not begun";
  }
});

// The same by hand, at the foot of a lesson, and back.
customElements.define("done-mark", class extends HTMLElement {
  connectedCallback() {
    const [button] = this.children;
    button.onclick = () => { remember(button.ariaPressed === "true" ? "half" : "full"); this.show(button); };
    button.hidden = false;
    this.show();
  }
  show(button = this.firstChild) {
    const mark = kept()[lesson()] ?? "";
    button.ariaPressed = mark === "full";
    button.firstChild.className = `mark ${mark}`;
  }
});
