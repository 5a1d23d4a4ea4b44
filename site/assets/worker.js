// Python's half of a widget: one interpreter a visit, one generator a knob position, newest run wins. A worker with a
// name runs what readers bring, in a sandbox (sandbox.js): a module of widgets/frame/reader, then a page's widget.
const { base = new URL("../", import.meta.url).href, load = (url) => import(url) } = self.sandbox ?? {};
const named = self.name ? self.name.split(" ") : [];
self.vendor = `${base}vendor/`;

let latest = 0;

// What a page needs besides the snapshot (tools/runtime/page_parts.py): on its way before Python is there.
const parts = {};
const part = (name) => (parts[name] ??= fetch(`${vendor}parts/${name}.part`).then((answer) => answer.arrayBuffer()));
const unpacked = {};
let unpack;  // an archive, once Python is there; without the snapshot all of it is there

async function add(name) {
  if (!unpack) return;
  unpacked[name] ??= part(name).then((bytes) => unpack(bytes));
  try {
    await unpacked[name];
  } catch (error) {
    console.info(`${name}: ${error.message}`);
    delete parts[name];
    delete unpacked[name];  // to be tried again
    throw new Error("a part of the page did not arrive");
  }
}

async function started() {
  for (const name of named) part(name).catch(() => {});  // a failure counts where it is awaited, below
  const modules = [`${vendor}pyodide/pyodide.mjs`, `${base}assets/snapshot.js`];
  const [{ loadPyodide }, { restored }] = await Promise.all(modules.map((url) => load(url)));
  const core = load(`${vendor}pyodide/pyodide.asm.mjs`);
  const plain = (error) => plainly(error, loadPyodide, core);
  const [python, how] = await restored(loadPyodide, core).then((python) => [python, "snapshot"], plain);
  if (how === "snapshot") {
    unpack = (bytes) => {
      python.unpackArchive(bytes, "zip");
      python.runPython("import sys; sys.path_importer_cache.clear()");  // it says where no files were
    };
  }
  for (const name of named) await add(name);
  const module = python.pyimport(`widgets.frame.reader.${named[0] ?? "host"}`);
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

// The host, once it can run this widget. A sandbox had all at its start, and may ask for nothing more.
async function having(name) {
  if (self.sandbox) return host;
  part(name).catch(() => {});
  const found = await host;
  await add(name);
  return found;
}

onmessage = async ({ data }) => {
  if (data.expect) return having(data.expect).then((host) => host.widget(data.expect)).catch(() => {});
  if (data.table) return postMessage({ table: (await having(data.name)).table(data.name, data.table) });
  latest = data.run;
  if (data.name) play(data);
};

const breath = () => new Promise((resume) => setTimeout(resume));  // newer positions get in here

async function play({ run, name, knobs }) {
  const able = having(name);
  able.catch(() => {});
  await host;  // if it fails, the page is told so
  let frames;
  try {
    frames = (await able).stream(name, knobs);
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
    frames?.destroy();
  }
}
