// Plays a scene: every position was drawn when the page was built; what differs is set on what is there.
const made = new WeakMap();

function set(part, kinds, key, next, was) {
  const [name, attribute] = key.split(".");
  if (attribute === "*") {
    for (const [i, kind] of [...next].entries()) {
      if (kind === was[i]) continue;
      const [css, words] = kinds[kind];
      part[name + i].setAttribute("class", css);
      if (words !== undefined) part[name + i].lastElementChild.textContent = words;
    }
  } else if (attribute === "text") part[name].textContent = next;
  else if (attribute === "style") part[name].style.cssText = next;
  else part[name].setAttribute(attribute, next);
}

function player(figure) {
  const one = (css) => figure.querySelector(css);
  const { kinds, base, frames, said, word, read } = JSON.parse(one("template").content.textContent);
  const part = Object.fromEntries([...figure.querySelectorAll("[data-k]")].map((one) => [one.dataset.k, one]));
  const [range, button, sentence, named] = ["[type=range]", "[data-play]", ".said", "output"].map(one);
  const at = (choice, moment) => Object.assign({}, base, ...frames[choice].slice(0, moment + 1));
  const holds = JSON.parse(figure.dataset.holds ?? "{}");
  const last = range ? +range.max : 0;
  let now = at(+figure.dataset.choice, +figure.dataset.moment), timer = 0, begun = false;

  function show() {
    const [choice, moment] = [+(one("[type=radio]:checked")?.value ?? 0), +(range?.value ?? 0)];
    const next = at(choice, moment);
    for (const key in next) if (next[key] !== now[key]) set(part, kinds, key, next[key], now[key]);
    now = next;
    Object.assign(figure.dataset, { choice, moment });
    if (sentence) sentence.textContent = said[choice][moment];
    if (!range) return;
    figure.style.setProperty("--at", moment / last);
    range.ariaValueText = word[choice][moment];
    if (named) named.textContent = word[choice][moment];
    if (read) one(".k-read").textContent = read[choice][moment];
  }

  function stop() {
    clearTimeout(timer);
    timer = 0;
    button?.setAttribute("aria-pressed", false);
    sentence?.setAttribute("role", "status");
  }

  function go() {
    if (timer && +range.value < last) range.value = +range.value + 1;
    show();
    if (timer && +range.value === last) return stop();
    timer = setTimeout(go, holds[range.value] ?? figure.dataset.ms);
  }

  // From the start the first time and where it has ended; the sentence is no live region while it plays.
  function play() {
    if (timer) return stop();
    if (!begun || +range.value === last) range.value = 0;
    begun = true;
    sentence?.removeAttribute("role");
    button.setAttribute("aria-pressed", true);
    go();
  }

  function move(by) {
    stop();
    range.value = +range.value + by;
    show();
  }

  return { play, move, show: () => (stop(), show()) };
}

function of(element) {
  const figure = element.closest?.("[data-scene]:has(> template)");
  if (figure && !made.has(figure)) made.set(figure, player(figure));
  return made.get(figure);
}

document.addEventListener("input", ({ target }) => of(target)?.show());
document.addEventListener("click", ({ target }) => target.closest("[data-play]") && of(target).play());
document.addEventListener("keydown", (event) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by || !event.target.matches("[data-play]")) return;
  event.preventDefault();
  of(event.target).move(by);
});

// After a reload Firefox brings back what was chosen, and not what was drawn of it.
addEventListener("pageshow", ({ persisted }) => {
  const all = persisted ? [] : document.querySelectorAll("[data-scene] [type=radio]");
  for (const one of all) one.checked = one.defaultChecked;
});
