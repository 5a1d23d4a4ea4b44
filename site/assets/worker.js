// Python's half of a widget: one interpreter a visit, one generator a knob position, newest run wins.
import { loadPyodide } from "../vendor/pyodide/pyodide.mjs";
import { complete, restored } from "./snapshot.js";

let latest = 0, loaded = 0, total;                  // bytes of the runtime's files, for the word beside the widget only

// The interpreter is compiled from the first moment, off this thread, while its scripts are still on their way; Pyodide gets it where it asks for it.
const plainFetch = fetch, engine = WebAssembly.compileStreaming(fetch(new URL("../vendor/pyodide/pyodide.asm.wasm", import.meta.url)));
engine.catch(() => {});                             // awaited where Pyodide asks
WebAssembly.instantiateStreaming = async (_, imports) => ({ module: await engine, instance: await WebAssembly.instantiate(await engine, imports) });

// The other files' bytes are counted as they pass, so that a slow network sees how far it is.
function count(bytes) {
  loaded += bytes;
  if (total) postMessage({ loaded, total });
}
self.fetch = async (address, ...how) => {
  if (String(address).endsWith(".wasm")) return new Response();
  const response = await plainFetch(address, ...how);
  if (!response.body) return response;
  const counted = response.body.pipeThrough(new TransformStream({ transform(chunk, out) { out.enqueue(chunk); count(chunk.byteLength); } }));
  return new Response(counted, { status: response.status, headers: response.headers });
};

const archive = plainFetch(new URL("../vendor/python.zip", import.meta.url)).then((answer) => answer.arrayBuffer());
let how = "snapshot", lacking;                     // lacking: the files that come after a snapshot's first answer
const host = restored(loadPyodide, (bytes) => (total = bytes), count).catch(plainly).then(async (python) => {
  self.fetch = plainFetch;
  const ours = async () => python.unpackArchive(await archive, "zip");
  if (how === "plain") await ours();
  else lacking = complete(python).then(ours).catch(() => {}).then(() => { lacking = undefined; });
  return python.pyimport("widgets.host");
});

// Without a snapshot, or in an engine that it does not fit: three times as slow, and otherwise the same.
function plainly(error) {
  console.info(`Python starts without a snapshot: ${error.message}`);
  [how, loaded, total] = ["plain", 0, 5.6e6];
  return loadPyodide({ packages: ["numpy"] });
}

onmessage = ({ data }) => {
  if (data.asked) return host.then(() => postMessage({ ready: true, how }), (error) => postMessage({ failed: error.message }));
  latest = data.run;
  if (data.name) play(data);
};

const breath = () => new Promise((resume) => setTimeout(resume));   // newer positions get in here

async function play({ run, name, knobs }) {
  const widgets = await host;
  await breath();
  if (run !== latest) return;
  const frames = widgets.stream(name, knobs);
  try {
    for (const frame of frames) {
      postMessage({ run, frame });
      await breath();
      if (run !== latest) return;
    }
    postMessage({ run, done: true });
  } catch (error) {
    if (!lacking) return postMessage({ run, error: error.message });
    await lacking;                                  // something came before its file: once more, with everything there
    play({ run, name, knobs });
  } finally {
    frames.destroy();
  }
}
