// A worker for what readers bring. It is made in sandbox.htm and has its policy: no request. Its address is data:, an
// origin of its own: no storage. So the page hands it the book's files, and none once Python is ready.
const base = new URL("../", import.meta.url).href;
let policy;

async function file(url) {
  const answer = await fetch(url);
  return answer.ok && answer.arrayBuffer();
}

// The window of sandbox.htm; whatever else may have come in its place has no such policy.
const opened = () => new Promise((resolve, reject) => {
  const frame = document.createElement("iframe");
  const isRight = () => frame.contentDocument?.querySelector("meta[content^=\"default-src 'none'\"]");
  frame.onload = () => (isRight() ? resolve(frame.contentWindow) : reject(new Error("no policy")));
  frame.hidden = true;
  frame.src = `${base}assets/sandbox.htm`;
  document.documentElement.append(frame);
});

// Runs in the worker, before worker.js.
function prepare(base) {
  const headers = { "Content-Type": "application/wasm" };  // the only one that matters
  const get = (url) => new Promise((resolve, reject) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => (data ? resolve(new Response(data, { headers })) : reject(new Error(`no ${url}`)));
    postMessage(String(url), [port2]);
  });
  const load = async (url) => import(`data:text/javascript,${encodeURIComponent(await (await get(url)).text())}`);
  self.fetch = async (url) => (/^data:/.test(url) ? new Response() : get(url));  // data: is snapshot.js's empty file
  self.sandbox = { base, load };
}

export async function sandboxed(name) {
  policy ??= opened();
  policy.catch(() => (policy = undefined));
  const [{ Worker }, bytes] = await Promise.all([policy, file(`${base}assets/worker.js`)]);
  const script = `(${prepare})("${base}");${new TextDecoder().decode(bytes)}`;
  const worker = new Worker(`data:text/javascript,${encodeURIComponent(script)}`, { type: "module", name });
  let ready = false;
  worker.addEventListener("message", async (event) => {
    const { data, ports: [answer] } = event;
    ready ||= Boolean(data.ready);
    if (!answer) return;
    event.stopImmediatePropagation();
    const bytes = !ready && data.startsWith(base) && await file(data).catch(() => false);
    answer.postMessage(bytes, bytes ? [bytes] : []);
  });
  return worker;
}
