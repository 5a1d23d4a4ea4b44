// Replaces the formulas of the built pages by KaTeX's HTML and MathML, so that no page carries a formula compiler.
import fs from "node:fs";
import path from "node:path";
import katex from "katex";

const FORMULA = /<(span|div) class="arithmatex">\\([([])([\s\S]*?)\\[)\]]<\/\1>([.,:;?!)]*)/g;
const SHORT = 18; // signs of a formula that keeps the mark behind it on its line: unbroken it fits on a phone
const UNSEEN = /\\(?:[,;! ]|math\w+|text|boxed|hat|bar|tilde|t?frac|sqrt)|[{}_^]/g;
const signs = (tex) => tex.replace(UNSEEN, "").replace(/\\\w+/g, "x").length;
const BOX = '<div class="math-block" tabindex="0" role="group" aria-label="Formula">';
const plain = (text) => text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
const site = process.argv[2];
const pages = fs.readdirSync(site, { recursive: true }).filter((name) => name.endsWith(".html"));

for (const file of pages.map((name) => path.join(site, name))) {
  const before = fs.readFileSync(file, "utf8");
  const after = before.replace(FORMULA, (_, tag, kind, tex, mark) => {
    const displayMode = kind === "[";
    try {
      const html = katex.renderToString(plain(tex), { displayMode, throwOnError: true, strict: "error" });
      if (displayMode) return `${BOX}${html}</div>${mark}`;
      return mark && signs(plain(tex)) <= SHORT ? `<span class="unbroken">${html}${mark}</span>` : html + mark;
    } catch (error) {
      console.error(`${file}: ${error.message}\n  ${tex}`);
      process.exitCode = 1;
      return "";
    }
  });
  if (after !== before) fs.writeFileSync(file, after);
}
