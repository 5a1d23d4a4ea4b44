// Makes the snapshot that site/assets/snapshot.js puts back: runs at build, in a worker of a headless Chromium, and posts to tools/runtime/snapshot.py.
import create from "/vendor/pyodide/pyodide.asm.mjs";
import { loadPyodide } from "/vendor/pyodide/pyodide.mjs";
import { link, NO_LIBRARY, OPTIONS } from "/assets/snapshot.js";

const post = (name, body) => fetch(`/made/${name}`, { method: "POST", body });
make().then(() => post("end", ""), (error) => post("end", String(error.stack)));

async function make() {
  const python = await loadPyodide({ ...OPTIONS, _makeSnapshot: true }), module = python._module;
  const record = { table: module.wasmTable.length, libraries: [] };
  module.placed = (path, allocate) => {
    const address = allocate();
    record.libraries.push({ path, address, slot: module.wasmTable.length, free: [...module.freeTableIndexes] });
    return address;
  };
  // Not by loadPackage: that leaves JavaScript objects in Python's hands, which a snapshot cannot hold.
  python.unpackArchive(await (await fetch("/numpy.whl")).arrayBuffer(), "wheel", { extractDir: python._api.sitePackages });
  python.unpackArchive(await (await fetch("/vendor/python.zip")).arrayBuffer(), "zip");
  python.runPython(await (await fetch("/imports.py")).text());
  clear(module);
  for (const library of record.libraries) {
    library.global = module.LDSO.loadedLibsByName[library.path].global;
    library.handles = Object.entries(module.LDSO.loadedLibsByHandle).filter(([, { name }]) => name === library.path).map(([handle]) => Number(handle));
  }
  Object.assign(record, { heap: module.HEAPU8.length, tableAfter: module.wasmTable.length, free: [...module.freeTableIndexes] });
  await post("record", JSON.stringify(record));
  await post("memory", python.makeMemorySnapshot());

  // A fresh instance with the libraries linked: what it has in common with the snapshot need not travel. Its environment is
  // another one, so that nothing counts as common that only a like environment made so.
  const compiled = await Promise.all(record.libraries.map(({ path }) => WebAssembly.compile(python.FS.readFile(path))));
  await new Promise((linked, failed) => loadPyodide({
    ...OPTIONS, env: { ...OPTIONS.env, LANG: "x".repeat(1000) }, stdLibURL: NO_LIBRARY, _loadSnapshot: new Uint8Array(16),
    async createPyodideModule(settings) {
      const fresh = await create(settings);
      link(fresh, record, compiled);
      linked(post("fresh", fresh.HEAPU8.slice()));
      return new Promise(() => {});
    },
  }).catch(failed));
}

// Free memory still holds what once was there: all of it is allocated once more, without growing, and zeroed.
function clear(module) {
  const held = [];
  module.memory.grow = () => { throw new RangeError("this is all there is"); };
  for (let size = 1 << 24; size >= 64; size >>= 1) {
    for (let at; (at = module._malloc(size) >>> 0); held.push(at)) module.HEAPU8.fill(0, at, at + size);
  }
  for (const at of held) module._free(at);
  delete module.memory.grow;
}
