// What a page remembers, in this browser only: which lessons were begun or done.
const KEY = "lessons-v1";
const lesson = () => location.pathname.split("/").at(-2);

function marks() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

function remember(mark) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...marks(), [lesson()]: mark }));
  } catch { /* nothing can be kept here */ }
  for (const shown of document.querySelectorAll("lesson-mark")) shown.draw();
}

document.addEventListener("input", ({ target }) => {
  if (target.closest("rl-widget form") && !marks()[lesson()]) remember("half");
});

document.addEventListener("toggle", ({ target }) => {
  if (target.matches("details.quiz[open]")) target.dataset.seen = true;
  const questions = [...document.querySelectorAll(".quiz")];
  if (target.matches(".quiz") && questions.every((quiz) => quiz.dataset.seen)) remember("full");
}, { capture: true });

// A ring, a half or a full dot: beside each lesson's name on the index, and in the button at the foot of a lesson.
customElements.define("lesson-mark", class extends HTMLElement {
  connectedCallback() {
    this.draw();
  }

  draw() {
    const mark = marks()[this.getAttribute("name")] ?? "";
    const button = this.closest(".done");
    this.className = `mark ${mark}`;
    if (!button) {
      this.ariaLabel = { full: "done", half: "begun" }[mark] ?? "not begun";
      return;
    }
    button.hidden = false;
    button.ariaPressed = mark === "full";
    button.onclick = () => remember(mark === "full" ? "half" : "full");
  }
});
