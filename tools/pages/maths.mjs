// Replaces the formulas of the built pages by KaTeX's HTML and MathML, so that no page carries a formula compiler.
import fs from "node:fs";
import path from "node:path";
import katex from "katex";

const FORMULA = /<(span|div) class="arithmatex">\\([([])([\s\S]*?)\\[)\]]<\/\1>/g;
const plain = (text) => text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
const site = process.argv[2];
const pages = fs.readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html"));

for (const file of pages.map((name) => path.join(site, name))) {
  const before = fs.readFileSync(file, "utf8");
  const after = before.replace(FORMULA, (_, tag, kind, tex) => {
    const displayMode = kind === "[";
    try {
      const html = katex.renderToString(plain(tex), { displayMode, throwOnError: true, strict: "error" });
      if (!displayMode) return html;
      return `<div class="math-block" tabindex="0" role="group" aria-label="Formula">${html}</div>`;
    } catch (error) {
      console.error(`${file}: ${error.message}\n  ${tex}`);
      process.exitCode = 1;
      return "";
    }
  });
  if (after !== before) fs.writeFileSync(file, after);
}
