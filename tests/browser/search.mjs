// Asks the search worker of the built book, with the book's own index: node search.mjs WORKER INDEX QUERY…
// Prints, for each query, the pages in the order in which the box lists them.
import fs from "node:fs";
import vm from "node:vm";

const [worker, index, ...queries] = process.argv.slice(2);
const [SETUP, QUERY] = [0, 2];
let hear, answer;
const around = vm.createContext({
  console, addEventListener: (_, listener) => { hear = listener; }, postMessage: (message) => answer(message),
});
around.self = around;
vm.runInContext(fs.readFileSync(worker, "utf8"), around);

const ask = (type, data) => new Promise((done) => {
  answer = ({ data: said }) => done(said);
  hear({ data: { type, data } });
});

await ask(SETUP, { ...JSON.parse(fs.readFileSync(index, "utf8")), options: { suggest: false } });
for (const query of queries) {
  const { items } = await ask(QUERY, query);
  console.log(JSON.stringify(items.map(([first]) => first.location.split("#")[0].replace("/", ""))));
}
