// The page's half of working offline: it brings in the service worker, never mixes two builds, and holds the button that keeps the whole book.
const [, base, build] = import.meta.url.match(/^(.*\/)(build-\w+)\//) ?? [], workers = build && navigator.serviceWorker;
const live = document.querySelector('script[src="/-/reload.js"]');        // while the book is being written every page comes fresh
let registered;
const ask = (question) => (registered ??= workers.register(`${base}sw.js`)).then(() => workers.ready).then(({ active }) => new Promise((hear) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => hear(data);
  active.postMessage(question, [port2]);
}));
const settle = () => ask({ build, page: location.origin + location.pathname }).catch(() => {});    // without storage the book reads as well as before
if (live) workers?.getRegistration(base).then((found) => found?.unregister());
else if (workers?.controller) settle();
else if (workers) document.querySelector("rl-widget") ? setTimeout(settle, 3000) : addEventListener("drawn", () => setTimeout(settle, 3000), { once: true });   // Python comes first
// The theme swaps pages inside this one; a page of another build is loaded whole.
new MutationObserver(() => {
  const style = document.head.querySelector("link[href*='/assets/style.css']")?.href;
  if (build && style && !style.startsWith(base + build)) location.reload();
}).observe(document.head, { childList: true });
customElements.define("keep-offline", class extends HTMLElement {
  connectedCallback() {
    [this.button, this.bar, this.words] = this.children;
    if (live || !workers) return this.say(live ? "Not while the book is being written." : isSecureContext ? "This browser does not keep pages (a private window, perhaps)."
      : "Only over https, or from this computer, can a browser keep pages.");
    this.button.hidden = false;
    this.button.addEventListener("click", () => this.keep().catch(() => this.say("Nothing can be kept now: there is no network, or the browser gives no storage."))
      .then(() => (this.button.disabled = !(this.bar.hidden = true))));
    if (workers.controller) this.keep(true).catch(() => {});
  }
  say(words) { this.words.textContent = words; }
  async keep(onlyLook = false) {
    const { files, build: newest } = await (await fetch(`${base}offline.json`, { cache: "no-cache" })).json(), todo = [...files], all = files.reduce((sum, [, , size]) => sum + size, 0);
    [this.bar.max, this.bar.value, this.bar.hidden, this.button.disabled] = [all, 0, onlyLook, !onlyLook];
    if (!onlyLook) navigator.storage?.persist?.();                         // asks the browser not to clear it away
    const lane = async () => { for (let file; (file = todo.pop());) if (await ask({ url: base + file[0], sum: file[1], onlyLook })) this.bar.value += file[2]; };
    await Promise.all([lane(), lane(), lane(), lane()]);
    const whole = this.bar.value === all && (onlyLook || await ask({ build: newest, page: base }));
    this.button.hidden = whole;
    this.say(whole ? "Complete: every page and every figure works without a network." : onlyLook && !this.bar.value ? "" : `${(this.bar.value / 1e6).toFixed(1)} of ${(all / 1e6).toFixed(1)} MB are kept.${onlyLook ? "" : " Press again to go on."}`);
  }
});
