// On the front page: what this browser keeps of a reader, saved as a file, loaded from one, erased.
import { keep, kept } from "./page.js";

const BOOK = "rl-post-training";
const KINDS = {  // of what is kept: how it is told from anything else, and what becomes of two of it
  "lessons-v1": { is: (value) => texts(Object.values(value)), both: (here, there) => ({ ...there, ...here }) },
  "(found|met):\\w+": { is: (value) => Array.isArray(value) && texts(value), both: union },
  "broke:\\w+": { is: (value) => texts(Object.values(value)), both: (here, there) => ({ ...there, ...here }) },
  "job-v1": { is: (value) => texts(Object.values(value)), both: (here) => here },
  "own:[\\w-]+": { is: ({ source }) => texts([source]), both: (here) => here },
  "sort:[\\w.]+": { is: (value) => texts(Object.values(value).flat()), both: (here, there) => ({ ...there, ...here }) },
  "note:\\w+": { is: ({ text, title }) => texts([text, title]), both: (here) => here },
};
const texts = (values) => values.every((value) => typeof value === "string");
const counted = (n, one, more) => (n ? [`${n} ${n > 1 ? more : one}`] : []);

function union(here, there) {
  return [...new Set([...here, ...there])];
}

const kind = (key) => KINDS[Object.keys(KINDS).find((one) => RegExp(`^${one}$`).test(key))];

function all() {
  try {
    return Object.fromEntries(Object.keys(localStorage).filter(kind).map((key) => [key, kept(key)]));
  } catch {
    return {};
  }
}

function said(things) {
  const of = (start) => Object.entries(things).filter(([key]) => key.startsWith(start)).map(([, value]) => value);
  const marks = of("lessons-v1").flatMap(Object.values).filter(Boolean);
  return [
    ...counted(marks.length, "lesson answered or marked", "lessons answered or marked"),
    ...counted(of("found:").flat().length, "break", "breaks"),
    ...counted(of("met:").flat().length, "challenge", "challenges"),
    ...counted(of("job-v1").length, "job", "jobs"),
    ...counted(of("own:").length, "changed function", "changed functions"),
    ...counted(of("sort:").length, "exercise begun", "exercises begun"),
    ...counted(of("note:").length, "note", "notes"),
  ].join(", ");
}

// The parts of a file that can be kept; nothing if it is another book's.
async function read(file) {
  const { book, ...things } = JSON.parse(await file.text());
  const fits = Object.entries(things)
    .filter(([key, value]) => kind(key) && value instanceof Object && kind(key).is(value));
  return book === BOOK && fits.length ? Object.fromEntries(fits) : undefined;
}

customElements.define("reader-progress", class extends HTMLElement {
  connectedCallback() {
    this.innerHTML = `<button type="button">Save as a file</button><label class="button">Load a file<input type="file"
      accept=".json,application/json"></label><button type="button">Erase</button><output></output>`;
    [this.save, , this.erase, this.words] = this.children;
    this.file = this.querySelector("input");
    this.save.onclick = () => this.download();
    this.file.onchange = () => this.load();
    this.erase.onclick = () => this.clear();
    this.show();
  }

  show(before = this.dataset.kept) {
    const things = said(all());
    document.querySelector(".counts").hidden = !things;
    this.save.disabled = this.erase.disabled = !things;
    this.erase.textContent = "Erase";
    this.words.textContent = things ? `${before}${things}.` : this.dataset.none;
  }

  download() {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify({ book: BOOK, ...all() }, null, 1)]));
    link.download = `${BOOK}-progress.json`;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  async load() {
    const things = await read(this.file.files[0]).catch(() => {});
    this.file.value = "";
    if (!things) return this.words.textContent = this.dataset.foreign;
    const here = all();
    for (const key of Object.keys(things)) {
      keep(key, key in here ? kind(key).both(here[key], things[key]) : things[key]);
    }
    this.show(this.dataset.loaded);
  }

  clear() {
    if (this.erase.textContent === "Erase") {
      this.words.textContent = this.dataset.sure;
      return this.erase.textContent = "Erase all";
    }
    for (const key of Object.keys(all())) localStorage.removeItem(key);
    keep("lessons-v1", {});
    localStorage.removeItem("lessons-v1");
    this.show();
    this.words.textContent = this.dataset.erased;
  }
});
