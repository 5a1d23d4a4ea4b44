// Python's half of a widget: one interpreter a visit, one generator a knob position, newest run wins. A worker with a
// name runs what readers bring, in a sandbox (sandbox.js).
const { base = new URL("../", import.meta.url).href, load = (url) => import(url) } = self.sandbox ?? {};
self.vendor = `${base}vendor/`;

let latest = 0;

async function started() {
  const modules = [`${vendor}pyodide/pyodide.mjs`, `${base}assets/snapshot.js`];
  const [{ loadPyodide }, { restored }] = await Promise.all(modules.map((url) => load(url)));
  const core = load(`${vendor}pyodide/pyodide.asm.mjs`);
  const plain = (error) => plainly(error, loadPyodide, core);
  const [python, how] = await restored(loadPyodide, core).then((python) => [python, "snapshot"], plain);
  const module = python.pyimport(`widgets.frame.${self.name || "host"}`);
  if (self.sandbox) module.alive = () => postMessage({ alive: true });  // between two frames
  postMessage({ ready: true, how });
  return module;
}

// Without a snapshot, or in an engine that it does not fit: three times as slow.
async function plainly(error, loadPyodide, core) {
  console.info(`Python starts without a snapshot: ${error.message}`);
  postMessage({ loaded: 0 });
  const archive = fetch(`${vendor}python.zip`).then((answer) => answer.arrayBuffer());
  const { default: createPyodideModule } = await core;
  const python = await loadPyodide({ packages: ["numpy"], indexURL: `${vendor}pyodide/`, createPyodideModule });
  python.unpackArchive(await archive, "zip");
  return [python, "plain"];
}

const host = started();
host.catch((error) => postMessage({ failed: error.message }));

onmessage = async ({ data }) => {
  if (data.table) return postMessage({ table: (await host).table(data.name, data.table) });
  latest = data.run;
  if (data.name) play(data);
};

const breath = () => new Promise((resume) => setTimeout(resume));  // newer positions get in here

async function play({ run, name, knobs }) {
  const frames = (await host).stream(name, knobs);
  try {
    await breath();
    while (run === latest) {
      const { value: frame, done } = frames.next();
      postMessage(done ? { run, done } : { run, frame });
      if (done) return;
      await breath();
    }
  } catch (error) {
    postMessage({ run, error: error.message });
  } finally {
    frames.destroy();
  }
}
