// The service worker: what was once here works with the cable pulled. The files that pages run on lie below a folder named by its content, build-1f3a…/: an address
// there never means another file, so a kept one is not asked for again, and pages of two builds can be open at once. All else (pages, code, search) is asked of the
// network first. The lists of files and their sums are written by tools/offline.py.
const SCOPE = registration.scope, FILES = `files ${SCOPE}`, PAGES = `pages ${SCOPE}`, lists = {};
const inBuild = (url) => url.slice(SCOPE.length).match(/^(build-\w+)\/(.+)/) ?? [];
const listAt = (build) => `${SCOPE}${build}/files.json`;
const listOf = (build) => (lists[build] ??= caches.match(listAt(build)).then((kept) => kept ?? fetch(listAt(build))).then((answer) => answer.json()));
const sumOf = async (content) => [...new Uint8Array(await crypto.subtle.digest("SHA-256", content))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
addEventListener("install", skipWaiting);
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("message", (event) => {
  const { build, page, url, sum, onlyLook } = event.data, job = url ? kept(url, sum, onlyLook) : settle(build, page);
  event.waitUntil(job.catch(() => false).then((done) => event.ports[0].postMessage(done)));
});
addEventListener("fetch", (event) => {
  const url = event.request.url.split(/[?#]/)[0], [, build, path] = inBuild(url);
  if (event.request.method === "GET" && url.startsWith(SCOPE) && !url.includes("/-/")) event.respondWith(build ? file(event, build, path) : page(event, url));
});
async function file(event, build, path) {
  const sum = (await listOf(build).catch(() => ({})))[path], files = await caches.open(FILES);
  const answer = (sum && (await files.match(SCOPE + sum))) || (await fetch(event.request));
  if (sum && answer.url) event.waitUntil(put(files, SCOPE + sum, sum, answer.clone()));        // what we kept has no address of its own
  return answer;
}
async function page(event, url) {
  const pages = await caches.open(PAGES), lost = () => (event.request.mode === "navigate" ? notKept() : Response.error());
  const answer = await fetch(event.request).catch(async () => (await pages.match(url)) ?? lost());
  if (answer.url) event.waitUntil(put(pages, url, "", answer.clone()));
  return answer;
}
// Keeps an answer, unless its content is not what the list names (the sign-in page of a train's network, say); of its headers only the type.
async function put(cache, key, sum, answer) {
  const content = await answer.arrayBuffer(), good = answer.ok && (!sum || sum === (await sumOf(content)));
  if (good) await cache.put(key, new Response(content, { headers: { "Content-Type": answer.headers.get("Content-Type") } }));
  return good;
}
// Whether a file is kept as the list names it; it is fetched if not.
async function kept(url, sum, onlyLook) {
  const [build] = inBuild(url), cache = await caches.open(build ? FILES : PAGES), key = build ? SCOPE + sum : url, here = await cache.match(key);
  if (here && (build || sum === (await sumOf(await here.arrayBuffer())))) return true;
  return !onlyLook && put(cache, key, sum, await fetch(url, { priority: "low", cache: build ? "default" : "no-cache" }));
}
// Keeps a page, what every page asks for, and all they run on. After a build not seen before the other pages are renewed, and the files of the last two builds stay.
async function settle(build, page) {
  const files = await caches.open(FILES), pages = await caches.open(PAGES), renew = async (url) => put(pages, url, "", await fetch(url, { cache: "no-cache" }));
  for (const path of [page.slice(SCOPE.length), "", "offline.json", "sitemap.xml", "search/search_index.json"]) (await pages.match(SCOPE + path)) ?? (await renew(SCOPE + path));
  if (await files.match(listAt(build))) return true;
  const sums = await listOf(build);
  for (const path in sums) if (!(await kept(`${SCOPE}${build}/${path}`, sums[path]))) return false;
  const others = (await files.keys()).some(({ url }) => inBuild(url)[0]) ? await pages.keys() : [];
  await files.put(listAt(build), Response.json(sums));
  for (const { url } of others) await renew(url);
  const keys = (await files.keys()).map(({ url }) => url), last = keys.filter((url) => inBuild(url)[0]).slice(-2);
  const needed = (await Promise.all(last.map(async (url) => (await files.match(url)).json()))).flatMap(Object.values).map((sum) => SCOPE + sum);
  for (const url of keys) if (![...last, ...needed].includes(url)) await files.delete(url);
  return true;
}
const notKept = () => new Response(`<!doctype html><html lang="en" style="color-scheme: light dark"><meta name="viewport" content="width=device-width"><title>Not kept</title>
<body style="font: 1.1rem/1.6 serif; max-width: 34em; margin: 4em auto; padding: 0 1em"><h1>This page is not kept on this device</h1><p>There is no network now, and the page was
not opened while there was one. The pages that you did open work: <a href="${SCOPE}">go to the index</a>.`, { status: 503, headers: { "Content-Type": "text/html; charset=utf-8" } });
