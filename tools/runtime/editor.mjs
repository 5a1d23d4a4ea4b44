// The field for Python of site/assets/own.js: the packages of CodeMirror, which name one another as no browser can, put
// together for one use; tools/runtime/vendor.py makes site/vendor/editor.js of it.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import {
  bracketMatching, indentOnInput, indentUnit, StreamLanguage, syntaxHighlighting,
} from "@codemirror/language";
import { python } from "@codemirror/legacy-modes/mode/python";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

// An editor in place of a textarea, with its text, its name and its focus; `edited` hears of every change of the text,
// `run` of Ctrl-Enter (Cmd-Enter).
export function instead(area, edited, run) {
  const named = Object.fromEntries([...area.attributes].filter(({ name }) => name.startsWith("aria-"))
    .map(({ name, value }) => [name, value]));
  const focused = area === document.activeElement;
  const editor = new EditorView({
    doc: area.value,
    extensions: [
      lineNumbers(), EditorView.lineWrapping, highlightActiveLine(),
      history(), bracketMatching(), indentOnInput(), indentUnit.of("    "),
      StreamLanguage.define(python), syntaxHighlighting(classHighlighter),
      keymap.of([{ key: "Mod-Enter", run: () => run() ?? true }, indentWithTab, ...historyKeymap, ...defaultKeymap]),
      EditorView.contentAttributes.of(named),
      EditorView.updateListener.of(({ docChanged }) => docChanged && edited()),
    ],
  });
  area.replaceWith(editor.dom);
  if (focused) editor.focus();
  return {
    get value() {
      return editor.state.doc.toString();
    },
    set value(insert) {
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert } });
    },
    // puts the cursor, which shows its line, where the fault is
    at(line) {
      const { doc } = editor.state;
      if (line <= doc.lines) editor.dispatch({ selection: { anchor: doc.line(line).from } });
    },
  };
}
