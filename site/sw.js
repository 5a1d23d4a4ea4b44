// The service worker: what was once here works with the cable pulled. Below build-1f3a…/ an address never means another
// file; store.js keeps each under its sum. All else (pages, code, search) is asked of the network first.
const SCOPE = registration.scope;
const lists = {};

addEventListener("install", skipWaiting);
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const [url] = event.request.url.split(/[?#]/);
  const isOurs = url.startsWith(SCOPE) && !url.includes("/-/") && !event.request.url.endsWith("#keep");
  if (event.request.method !== "GET" || !isOurs) return;
  const [, build, path] = url.slice(SCOPE.length).match(/^(build-\w+)\/(.+)/) ?? [];
  event.respondWith(build ? file(event.request, build, path) : page(event, url));
});

async function file(request, build, path) {
  const sum = (await sumsOf(build))[path];
  return (sum && (await caches.match(SCOPE + sum))) || fetch(request);
}

// The list of a build's files; an empty one if it cannot be had now.
async function sumsOf(build) {
  lists[build] ??= listOf(`${SCOPE}${build}/files.json`);
  try {
    return await lists[build];
  } catch {
    delete lists[build];
    return {};
  }
}

async function listOf(url) {
  const answer = (await caches.match(url)) ?? (await fetch(url));
  return answer.json();
}

async function page(event, url) {
  const pages = await caches.open(`pages ${SCOPE}`);
  const answer = await fetch(event.request).catch(() => pages.match(url));
  if (answer?.ok && answer.url) event.waitUntil(renew(pages, url, answer.clone()));
  return answer ?? (event.request.mode === "navigate" ? notKept() : Response.error());
}

async function renew(pages, url, answer) {
  await pages.put(url, new Response(await answer.blob()));
}

const notKept = () => new Response(`<!doctype html>
<html lang="en" style="color-scheme: light dark; font: 1.1rem/1.6 serif; margin: 2em">
<meta name="viewport" content="width=device-width">
<title>Not kept</title>
<h1>This page is not kept on this device</h1>
<p>There is no network now. The pages that you opened before work:
<a href="${SCOPE}">go to the index</a>.`, { status: 503, headers: { "Content-Type": "text/html; charset=utf-8" } });
