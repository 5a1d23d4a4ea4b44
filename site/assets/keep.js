// The button on the front page that keeps the whole book.
import { base, begin, beingWritten, build, isKept, keep, settle, workers } from "./store.js";

const LANES = 4;  // fetches at a time
const MB = (bytes) => (bytes / 1e6).toFixed(1);

// Why nothing can be kept here: a sentence of the page.
function hindrance() {
  if (beingWritten) return "written";
  if (workers) return "";
  return isSecureContext ? "window" : "http";
}

customElements.define("keep-offline", class extends HTMLElement {
  connectedCallback() {
    [this.button, this.bar, this.words] = this.children;
    if (hindrance()) return this.say(this.dataset[hindrance()]);
    this.button.hidden = false;
    this.button.addEventListener("click", () => this.press());
    if (workers.controller) this.look().catch(() => {});
  }

  say(words) {
    this.words.textContent = words;
  }

  async press() {
    try {
      await this.keepAll();
    } catch {
      this.say(this.dataset.not);
    }
    this.bar.hidden = true;
    this.button.disabled = false;
  }

  async keepAll() {
    const files = await this.listed();
    if (!files) return;
    this.bar.hidden = false;
    this.button.disabled = true;
    await begin();
    navigator.storage?.persist?.();  // asks the browser not to clear it away
    await this.each(files, keep);
    this.conclude(this.isFull() && (await settle()), `${this.kept()} ${this.dataset.more}`);
  }

  async look() {
    const files = await this.listed();
    if (!files) return;
    await this.each(files, isKept);
    this.conclude(this.isFull(), this.bar.value ? this.kept() : "");
  }

  // Every file with its sum and size; nothing if this page is an older build's, and is loaded again.
  async listed() {
    const answer = await fetch(`${base}offline.json`, { cache: "no-cache" });
    const { files, build: newest } = await answer.json();
    this.bar.max = files.reduce((sum, [, , size]) => sum + size, 0);
    this.bar.value = 0;
    if (newest === build) return files;
    location.reload();
  }

  // The bar grows by each file for which `done` comes true.
  async each(files, done) {
    const todo = [...files];
    const lane = async () => {
      while (todo.length) {
        const [path, sum, size] = todo.pop();
        if (await done(base + path, sum).catch(() => false)) this.bar.value += size;
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }

  isFull() {
    return this.bar.value === this.bar.max;
  }

  kept() {
    return `${MB(this.bar.value)} of ${MB(this.bar.max)} MB are kept.`;
  }

  conclude(whole, otherwise) {
    this.button.hidden = whole;
    this.say(whole ? this.dataset.whole : otherwise);
  }
});
