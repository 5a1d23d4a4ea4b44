// Takes from a worker what leads out of it: network, storage, workers, and what makes code of a text, for that could
// import from anywhere. Whatever is not known to be harmless goes.
const HARMLESS = new RegExp(`^(${[
  "Object|Boolean|String|Symbol|Number|BigInt|Date|Promise|RegExp|Proxy|Reflect|JSON|Math|Intl|Atomics|globalThis|self",
  "console|performance|crypto|WebAssembly|TextDecoder|TextEncoder|DataView|FinalizationRegistry|Weak\\w+|Map|Set",
  "ArrayBuffer|\\w*(Array|Error)|parse(Int|Float)|is[FN]\\w+|postMessage|onmessage",
].join("|")})$`);

export function strip(python) {
  python.unregisterJsModule("js");
  delete python._api.tests;  // holds Function
  const none = () => {};
  none.prototype = Function.prototype;  // what Pyodide asks it for
  for (const kind of [none, async () => {}, function* () {}, async function* () {}]) {
    Object.defineProperty(Object.getPrototypeOf(kind), "constructor", { value: none });
  }
  for (let owner = self; owner !== Object.prototype; owner = Object.getPrototypeOf(owner)) {
    for (const name of Object.getOwnPropertyNames(owner)) {
      if (!HARMLESS.test(name)) Reflect.deleteProperty(owner, name);
    }
  }
  self.Function = none;
}
