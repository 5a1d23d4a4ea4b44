// Working offline: keeps where sw.js looks what this page's build runs on, never mixes two builds, and holds the button that keeps the whole book.
const [, base, build] = import.meta.url.match(/^(.*\/)(build-\w+)\//) ?? [], workers = build && navigator.serviceWorker, list = `${base}${build}/files.json`;
const live = document.querySelector('script[src="/-/reload.js"]');        // while the book is being written every page comes fresh
const sumOf = async (content) => [...new Uint8Array(await crypto.subtle.digest("SHA-256", content))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// Whether a file is kept as the list names it (a sign-in page of a train's network is not); it is fetched if not. A page is kept under its address, and has no sum where it may change.
async function kept(url, sum, onlyLook) {
  const ofBuild = url.startsWith(`${base}build-`), cache = await caches.open(`${ofBuild ? "files" : "pages"} ${base}`), key = ofBuild ? base + sum : url;
  const right = async (answer) => answer?.ok && (!sum || sum === (await sumOf(await answer.clone().arrayBuffer())));
  const here = await cache.match(key);
  if (here && (ofBuild || (await right(here)))) return true;
  const answer = !onlyLook && (await fetch(url, { priority: "low", cache: ofBuild ? "default" : "no-cache" }));
  if (!(await right(answer))) return false;
  await cache.put(key, new Response(await answer.blob()));
  return true;
}
const begun = () => workers.register(`${base}sw.js`);
// After a build not seen before, the pages kept from others are renewed, and the files of the last two builds stay.
async function settle() {
  await begun();
  for (const path of [location.href.slice(base.length).split(/[?#]/)[0], "", "offline.json", "sitemap.xml", "search/search_index.json"]) await kept(base + path);
  const files = await caches.open(`files ${base}`), pages = await caches.open(`pages ${base}`), isList = ({ url }) => url.endsWith("/files.json");
  const before = await files.match(list), sums = await (before ?? (await fetch(list))).json(), others = (await files.keys()).some(isList) ? await pages.keys() : [];
  const spared = document.documentElement.dataset.python === "plain" ? /^$/ : /\.(zip|whl)$/;       // archives are for a start without the snapshot
  for (const path in sums) if (!spared.test(path) && !(await kept(`${base}${build}/${path}`, sums[path]))) return false;
  if (before) return true;
  for (const { url } of others) await fetch(url, { cache: "no-cache" }).then(async (answer) => answer.ok && pages.put(url, new Response(await answer.blob())));
  await files.put(list, Response.json(sums));
  const keys = await files.keys(), last = keys.filter(isList).slice(-2);
  const needed = (await Promise.all(last.map(async (request) => Object.values(await (await files.match(request)).json())))).flat().map((sum) => base + sum);
  for (const key of keys) if (![...last.map(({ url }) => url), ...needed].includes(key.url)) await files.delete(key);
  return true;
}
const soon = () => setTimeout(() => settle().catch(() => {}), 3000);       // Python comes first; without storage the book reads as well as before
if (live) workers?.getRegistration(base).then((found) => found?.unregister());
else if (workers) document.querySelector("rl-widget") || workers.controller ? soon() : addEventListener("drawn", soon, { once: true });
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
    if (newest !== build) return location.reload();                        // this page is older than the book
    if (!onlyLook) { await begun(); navigator.storage?.persist?.(); }      // asks the browser not to clear it away
    const lane = async () => { for (let file; (file = todo.pop());) if (await kept(base + file[0], file[1], onlyLook).catch(() => false)) this.bar.value += file[2]; };
    await Promise.all([lane(), lane(), lane(), lane()]);
    const whole = this.bar.value === all && (onlyLook || (await settle()));
    this.button.hidden = whole;
    this.say(whole ? "Complete: every page and every figure works without a network." : onlyLook && !this.bar.value ? "" : `${(this.bar.value / 1e6).toFixed(1)} of ${(all / 1e6).toFixed(1)} MB are kept.${onlyLook ? "" : " Press again to go on."}`);
  }
});
