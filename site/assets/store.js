// What this browser keeps for sw.js: files of a build under their sums, pages under their addresses.
export const [, base, build] = import.meta.url.match(/^(.*\/)(build-\w+)\//) ?? [];
export const workers = build && navigator.serviceWorker;
export const beingWritten = Boolean(document.querySelector('script[src="/-/reload.js"]'));  // all pages come fresh

const list = `${base}${build}/files.json`;
const past = (url) => `${url}#keep`;  // what sw.js leaves alone: Firefox calls it a fault when a page is left meanwhile
const isList = ({ url }) => url.endsWith("/files.json");
const ofBuild = (url) => url.startsWith(`${base}build-`);
const filesKept = () => caches.open(`files ${base}`);
const pagesKept = () => caches.open(`pages ${base}`);
const placeOf = async (url, sum) => (ofBuild(url) ? [await filesKept(), base + sum] : [await pagesKept(), url]);

async function sumOf(content) {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Whether an answer is what the list names (a train's sign-in page is not). A page that may change has no sum.
async function isRight(answer, sum) {
  return answer?.ok && (!sum || sum === (await sumOf(await answer.clone().arrayBuffer())));
}

export async function isKept(url, sum) {
  const [cache, key] = await placeOf(url, sum);
  const here = await cache.match(key);
  return Boolean(here && (ofBuild(url) || (await isRight(here, sum))));
}

// Keeps a file unless it is kept; says whether it is now.
export async function keep(url, sum) {
  if (await isKept(url, sum)) return true;
  const answer = await fetch(past(url), { priority: "low", cache: ofBuild(url) ? "default" : "no-cache" });
  if (!(await isRight(answer, sum))) return false;
  const [cache, key] = await placeOf(url, sum);
  await cache.put(key, new Response(await answer.blob()));
  return true;
}

export const begin = () => workers.register(`${base}sw.js`);

// Keeps this page and all that its build runs on; says whether it could. After a new build the pages kept from others
// are renewed, and the files of the last two builds stay.
export async function settle() {
  await begin();
  const here = location.href.slice(base.length).split(/[?#]/)[0];
  for (const path of [here, "", "offline.json", "sitemap.xml"]) await keep(base + path);
  const book = await (await caches.match(`${base}offline.json`)).json();
  const [index] = book.files.find(([path]) => /^search.*\.json$/.test(path));  // each generator has a place for it
  await keep(base + index);

  const files = await filesKept();
  const pages = await pagesKept();
  const before = await files.match(list);
  const sums = await (before ?? (await fetch(list))).json();
  const isAnother = (request) => isList(request) && request.url !== list;  // two of these may run at once
  const old = (await files.keys()).some(isAnother) ? await pages.keys() : [];
  for (const path of Object.keys(sums).filter(isNeeded)) {
    if (!(await keep(`${base}${build}/${path}`, sums[path]))) return false;
  }
  if (before) return true;
  for (const { url } of old) await renew(pages, url);
  await files.put(list, Response.json(sums));
  await clear(files);
  return true;
}

// Archives are for a start without the snapshot.
function isNeeded(path) {
  return document.documentElement.dataset.python === "plain" || !/\.(zip|whl)$/.test(path);
}

async function renew(pages, url) {
  const answer = await fetch(past(url), { cache: "no-cache" });
  if (answer.ok) await pages.put(url, new Response(await answer.blob()));
}

async function clear(files) {
  const keys = await files.keys();
  const lists = keys.filter(isList).slice(-2);
  const needed = new Set(lists.map(({ url }) => url));
  for (const request of lists) {
    const sums = await (await files.match(request)).json();
    for (const sum of Object.values(sums)) needed.add(base + sum);
  }
  for (const key of keys) {
    if (!needed.has(key.url)) await files.delete(key);
  }
}
