// The service worker: what was once here works with the cable pulled. The files that pages run on lie below a folder named by its content, build-1f3a…/: an address
// there never means another file, and offline.js keeps each under its sum, for all builds that have it. All else (pages, code, search) is asked of the network first.
const SCOPE = registration.scope, lists = {};
const listOf = (build) => (lists[build] ??= caches.match(`${SCOPE}${build}/files.json`).then((kept) => kept ?? fetch(`${SCOPE}${build}/files.json`)).then((list) => list.json()));
addEventListener("install", skipWaiting);
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const url = event.request.url.split(/[?#]/)[0], [, build, path] = url.slice(SCOPE.length).match(/^(build-\w+)\/(.+)/) ?? [];
  if (event.request.method === "GET" && url.startsWith(SCOPE) && !url.includes("/-/")) event.respondWith(build ? file(event, build, path) : page(event, url));
});
async function file({ request }, build, path) {
  const sum = (await listOf(build).catch(() => { delete lists[build]; return {}; }))[path];
  return (sum && (await caches.match(SCOPE + sum))) || fetch(request);
}
async function page(event, url) {
  const pages = await caches.open(`pages ${SCOPE}`), answer = await fetch(event.request).catch(() => pages.match(url));
  if (answer?.ok && answer.url) event.waitUntil(answer.clone().blob().then((content) => pages.put(url, new Response(content))));
  return answer ?? (event.request.mode === "navigate" ? notKept() : Response.error());
}
const notKept = () => new Response(`<!doctype html><html lang="en" style="color-scheme: light dark"><meta name="viewport" content="width=device-width"><title>Not kept</title>
<body style="font: 1.1rem/1.6 serif; max-width: 34em; margin: 4em auto; padding: 0 1em"><h1>This page is not kept on this device</h1><p>There is no network now, and the page was
not opened while there was one. The pages that you did open work: <a href="${SCOPE}">go to the index</a>.`, { status: 503, headers: { "Content-Type": "text/html; charset=utf-8" } });
