// What a page remembers, in this browser only: which lessons were begun or done.
const KEY = "lessons-v1", lesson = () => location.pathname.split("/").at(-2);
const kept = () => { try { return JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { return {}; } };
function remember(mark) {
  try { localStorage.setItem(KEY, JSON.stringify({ ...kept(), [lesson()]: mark })); } catch { /* nothing can be kept here */ }
  for (const shown of document.querySelectorAll("lesson-mark")) shown.draw();
}

document.querySelector(".md-dialog")?.setAttribute("role", "status");      // where the theme says that something was copied
document.addEventListener("input", ({ target }) => target.closest("rl-widget form") && !kept()[lesson()] && remember("half"));
document.addEventListener("toggle", ({ target }) => {
  if (target.matches("details.quiz[open]")) target.dataset.seen = true;
  if (target.matches(".quiz") && [...document.querySelectorAll(".quiz")].every((quiz) => quiz.dataset.seen)) remember("full");
}, { capture: true });

// A ring, a half or a full dot: beside each lesson of the index with its name, and in the button at the foot of a lesson.
customElements.define("lesson-mark", class extends HTMLElement {
  connectedCallback() { this.draw(); }
  draw() {
    const mark = kept()[this.getAttribute("name")] ?? "", button = this.closest(".done");
    this.className = `mark ${mark}`;
    if (button) Object.assign(button, { hidden: false, ariaPressed: mark === "full", onclick: () => remember(mark === "full" ? "half" : "full") });
    else this.ariaLabel = { full: "done", half: "begun" }[mark] ?? "not begun";
  }
});
