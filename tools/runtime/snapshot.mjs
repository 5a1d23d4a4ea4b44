// Makes the snapshot that site/assets/snapshot.js puts back: runs at build, in a worker of a headless Chromium, and
// posts to tools/runtime/snapshot.py.
import create from "/vendor/pyodide/pyodide.asm.mjs";
import { loadPyodide } from "/vendor/pyodide/pyodide.mjs";
import { link, NO_LIBRARY, OPTIONS } from "/assets/snapshot.js";

const post = (name, body) => fetch(`/made/${name}`, { method: "POST", body });
make().then(() => post("end", ""), (error) => post("end", String(error.stack)));

async function make() {
  const python = await loadPyodide({ ...OPTIONS, _makeSnapshot: true });
  const module = python._module;
  const record = { table: module.wasmTable.length, libraries: [] };
  module.placed = (path, allocate) => {
    const address = allocate();
    record.libraries.push({ path, address, slot: module.wasmTable.length, free: [...module.freeTableIndexes] });
    return address;
  };
  // Not by loadPackage: that leaves JavaScript objects in Python's hands, which a snapshot cannot hold.
  const { sitePackages } = python._api;
  python.unpackArchive(await (await fetch("/numpy.whl")).arrayBuffer(), "wheel", { extractDir: sitePackages });
  python.unpackArchive(await (await fetch("/vendor/python.zip")).arrayBuffer(), "zip");
  python.runPython(await (await fetch("/imports.py")).text());
  clear(module);
  for (const library of record.libraries) {
    library.global = module.LDSO.loadedLibsByName[library.path].global;
    library.handles = handlesOf(library.path, module);
  }
  record.heap = module.HEAPU8.length;
  record.tableAfter = module.wasmTable.length;
  record.free = [...module.freeTableIndexes];
  await post("record", JSON.stringify(record));
  await post("memory", python.makeMemorySnapshot());

  const files = record.libraries.map(({ path }) => python.FS.readFile(path));
  const compiled = await Promise.all(files.map((file) => WebAssembly.compile(file)));
  await post("fresh", await freshMemory(record, compiled));
}

function handlesOf(path, module) {
  const all = Object.entries(module.LDSO.loadedLibsByHandle);
  return all.filter(([, { name }]) => name === path).map(([handle]) => Number(handle));
}

// The memory of a fresh instance with the libraries linked: what it has in common with the snapshot need not travel.
// Its environment is another one, so that nothing counts as common that only a like environment made so.
function freshMemory(record, compiled) {
  return new Promise((taken, failed) => loadPyodide({
    ...OPTIONS,
    env: { ...OPTIONS.env, LANG: "x".repeat(1000) },
    stdLibURL: NO_LIBRARY,
    _loadSnapshot: new Uint8Array(16),
    async createPyodideModule(settings) {
      const fresh = await create(settings);
      link(fresh, record, compiled);
      taken(fresh.HEAPU8.slice());
      return new Promise(() => {});                 // no interpreter is needed
    },
  }).catch(failed));
}

// Free memory still holds what once was there: all of it is allocated once more, without growing, and zeroed.
function clear(module) {
  const held = [];
  module.memory.grow = () => { throw new RangeError("this is all there is"); };
  for (let size = 1 << 24; size >= 64; size >>= 1) {
    let at = module._malloc(size) >>> 0;
    while (at) {
      module.HEAPU8.fill(0, at, at + size);
      held.push(at);
      at = module._malloc(size) >>> 0;
    }
  }
  for (const at of held) module._free(at);
  delete module.memory.grow;
}
