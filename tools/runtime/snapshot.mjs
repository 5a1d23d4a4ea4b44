// Runs the Python on standard input in Pyodide with numpy and our modules: node snapshot.mjs NUMPY_WHEEL FOLDER WHAT.
// With "survey" the folder gets what it returns, modules.json, and the file that it writes, compiled. With "snapshot"
// it gets what site/assets/snapshot.js puts back: record.json, memory and fresh.
import fs from "node:fs";
import { fileURLToPath } from "node:url";
import { link, OPTIONS } from "../../site/assets/snapshot.js";
import create from "../../site/vendor/pyodide/pyodide.asm.mjs";
import { loadPyodide } from "../../site/vendor/pyodide/pyodide.mjs";

const [wheel, folder, what] = process.argv.slice(2);
const VENDOR = fileURLToPath(new URL("../../site/vendor/", import.meta.url));
const HERE = { ...OPTIONS, indexURL: `${VENDOR}pyodide/` };
const NO_LIBRARY = fileURLToPath(import.meta.url);  // any file in place of the standard library, which is not read
process.argv.splice(1, Infinity, "./this.program");  // as in a browser: it lies in the memory, and is no path

({ survey, snapshot })[what]().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});

async function survey() {
  const python = await loadPyodide(HERE);
  const modules = run(python);
  fs.writeFileSync(`${folder}/modules.json`, modules);
  fs.writeFileSync(`${folder}/compiled`, python.FS.readFile("compiled"));
}

// Not by loadPackage: that leaves JavaScript objects in Python's hands, which a snapshot cannot hold.
function run(python) {
  const { sitePackages } = python._api;
  python.unpackArchive(new Uint8Array(fs.readFileSync(wheel)), "wheel", { extractDir: sitePackages });
  python.unpackArchive(new Uint8Array(fs.readFileSync(`${VENDOR}python.zip`)), "zip");
  return python.runPython(fs.readFileSync(0, "utf8"));
}

async function snapshot() {
  const python = await loadPyodide({ ...HERE, _makeSnapshot: true });
  const module = python._module;
  const record = { table: module.wasmTable.length, libraries: [] };
  module.placed = (path, allocate) => {
    const address = allocate();
    record.libraries.push({ path, address, slot: module.wasmTable.length, free: [...module.freeTableIndexes] });
    return address;
  };
  run(python);
  clear(module);
  for (const library of record.libraries) {
    library.global = module.LDSO.loadedLibsByName[library.path].global;
    library.handles = handlesOf(library.path, module);
  }
  record.heap = module.HEAPU8.length;
  record.tableAfter = module.wasmTable.length;
  record.free = [...module.freeTableIndexes];
  fs.writeFileSync(`${folder}/record.json`, JSON.stringify(record));
  fs.writeFileSync(`${folder}/memory`, python.makeMemorySnapshot());

  const files = record.libraries.map(({ path }) => python.FS.readFile(path));
  const compiled = await Promise.all(files.map((file) => WebAssembly.compile(file)));
  fs.writeFileSync(`${folder}/fresh`, await freshMemory(record, compiled));
}

function handlesOf(path, module) {
  const all = Object.entries(module.LDSO.loadedLibsByHandle);
  return all.filter(([, { name }]) => name === path).map(([handle]) => Number(handle));
}

// The memory of a fresh instance with the libraries linked: what it has in common with the snapshot need not travel.
// Its environment is another one, so that nothing counts as common that only a like environment made so.
function freshMemory(record, compiled) {
  return new Promise((taken, failed) => loadPyodide({
    ...HERE,
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
