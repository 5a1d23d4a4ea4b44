// A note in the reader's own words, kept in this browser and saved with all others as one Markdown file.
import { keep, kept } from "./page.js";

const ENOUGH = 40;  // words, after which the list of what a note contains opens
const counted = (many, noun) => `${many} ${noun}${many === 1 ? "" : "s"}`;
const words = (text) => text.split(/\s+/).filter(Boolean).length;

customElements.define("lab-note", class extends HTMLElement {
  connectedCallback() {
    this.key = `note:${this.getAttribute("name")}`;
    [this.field, this.out] = [this.querySelector("textarea"), this.querySelector("output")];
    this.boxes = [...this.querySelectorAll("[type=checkbox]")];
    const { text = "", ticked = [] } = kept(this.key);
    this.field.value = text;
    this.boxes.forEach((box, i) => box.checked = ticked.includes(`${i}`));
    this.querySelector(".model").hidden = true;
    this.addEventListener("input", () => this.write());
    const save = this.querySelector(".save");
    save.hidden = false;
    save.onclick = () => this.save();
    this.show();
  }

  write() {
    const ticked = this.boxes.flatMap(({ checked }, i) => (checked ? [`${i}`] : []));
    keep(this.key, { text: this.field.value, title: this.dataset.title, ticked });
    this.show();
  }

  show() {
    const many = words(this.field.value);
    this.out.textContent = many ? `${counted(many, "word")}, kept in this browser.` : "";
    if (many < ENOUGH) return;
    this.querySelector(".model").hidden = false;
    if (!this.opened) this.querySelector(".holds").open = true;
    this.opened = true;
  }

  // One file with every note of the Lab, in the order of its pages, and the goals that were met.
  save() {
    const names = Object.keys(localStorage).filter((key) => key.startsWith("note:")).sort();
    const notes = names.map(kept).filter(({ text }) => text?.trim());
    const goals = Object.keys(localStorage).filter((key) => key.startsWith("met:lab")).sort()
      .flatMap((key) => Object.values(kept(key))).map((goal) => `- ${goal}`);
    const written = notes.map(({ title, text }) => `## ${title}\n\n${text.trim()}`);
    const parts = ["# The Measurement Lab: my notes", ...written];
    if (goals.length) parts.push(`## Goals reached\n\n${goals.join("\n")}`);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${parts.join("\n\n")}\n`], { type: "text/markdown" }));
    link.download = "measurement-lab-notes.md";
    link.click();
    URL.revokeObjectURL(link.href);
    this.out.textContent = notes.length ? `${counted(notes.length, "note")} saved.` : "There is no note yet.";
  }
});
