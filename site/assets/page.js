// What a page remembers, in this browser only: lessons done, breaks found, where to go on.
const KEY = "lessons-v1";
const DRAWN = "lesson-mark, lesson-count, lesson-next, lesson-breaks";
export const lesson = () => location.pathname.split("/").at(-2);

export function kept(key) {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? {};
  } catch {
    return {};
  }
}

// How many breaks of a widget were found, or challenges "met".
export const found = (widget, kind = "found") => Object.keys(kept(`${kind}:${widget}`)).length;

// By hand ("full"), or by its questions and, where the page has a widget, a break.
function done(name, widget) {
  const mark = kept(KEY)[name];
  return mark === "full" || Boolean(mark && (!widget || found(widget)));
}

export function keep(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch { /* nothing can be kept here */ }
  for (const shown of document.querySelectorAll(DRAWN)) shown.draw();
}

const remember = (mark) => keep(KEY, { ...kept(KEY), [lesson()]: mark });

function answered({ target }) {
  if (!target.matches?.("[data-quiz] input")) return;
  target.closest(".quiz").dataset.seen = true;
  const all = [...document.querySelectorAll(".quiz")].every((quiz) => quiz.dataset.seen);
  if (all && !kept(KEY)[lesson()]) remember("answered");
}
document.addEventListener("change", answered);

function define(name, draw) {
  customElements.define(name, class extends HTMLElement {
    draw = draw;

    connectedCallback() {
      this.draw();
    }
  });
}

function progress(mark) {
  const [name, widget] = [mark.getAttribute("name"), mark.getAttribute("widget")];
  if (done(name, widget)) return "full";
  return kept(KEY)[name] || found(widget) ? "half" : "";
}

// A ring, half a dot once it is begun, a dot: in the rail, on cards, in a lesson's button.
define("lesson-mark", function () {
  const mark = progress(this);
  const button = this.closest(".done");
  this.className = `mark ${mark}`;
  if (!button) {
    this.role = "img";
    this.ariaLabel = { full: "done", half: "begun" }[mark] ?? "not begun";
    return;
  }
  button.hidden = false;
  button.ariaPressed = mark === "full";
  button.onclick = () => remember(mark === "full" ? "" : "full");
});

// "3 of 9": lessons done, of those named; breaks found or challenges met, of the widgets named.
define("lesson-count", function () {
  const of = (kind) => this.getAttribute(kind)?.split(" ") ?? [];
  const [names, widgets] = [of("names"), of("widgets")];
  const count = names.length ? names.filter((name, i) => done(name, widgets[i])).length
    : widgets.reduce((sum, widget) => sum + found(widget, this.getAttribute("kept") ?? "found"), 0);
  this.textContent = `${count} of ${this.getAttribute("of")}`;
});

// On a card: the breaks that were found, by their names.
define("lesson-breaks", function () {
  const names = Object.values(kept(`found:${this.getAttribute("widget")}`));
  for (const one of this.children) one.classList.toggle("found", names.includes(one.textContent));
});

// The link to the last lesson begun, or the one after it if that is done.
define("lesson-next", function () {
  const marks = [...document.querySelectorAll(".md-nav lesson-mark")];
  const last = marks.findLastIndex(progress);
  const to = marks[last + (last >= 0 && progress(marks[last]) === "full")]?.closest("a");
  this.hidden = !to;
  if (to) this.innerHTML = `<a href="${to.href}">Continue with ${to.textContent.trim()}</a>`;
});

// The button of the contents by keyboard: it opens them at the pages beside this one, and Escape leads back to it.
const contents = () => document.querySelector("label[for=__drawer][role]");
const LINKS = [".md-nav__item--section.md-nav__item--active > nav a[href]", "a[href]:not(.md-logo)"];

function turned({ target }) {
  if (target.id === "__drawer") contents().ariaExpanded = target.checked;
}
document.addEventListener("change", turned);

document.addEventListener("keydown", (event) => {
  const drawer = document.getElementById("__drawer");
  const opens = event.target === contents() && ["Enter", " "].includes(event.key);
  if (!opens && !(event.key === "Escape" && drawer?.checked)) return;
  event.preventDefault();
  event.stopPropagation();  // the theme would turn it once more
  drawer.click();
  const links = LINKS.flatMap((which) => [...document.querySelectorAll(`.md-sidebar--primary ${which}`)]);
  (drawer.checked ? links.find((link) => link.checkVisibility()) : contents()).focus();
});
