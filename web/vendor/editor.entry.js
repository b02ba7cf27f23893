// What of CodeMirror the page's editor needs. Bundled once: web/vendor/README.md.
export {EditorState, StateEffect, StateField, Compartment} from "@codemirror/state";
export {EditorView, keymap, lineNumbers, highlightActiveLine, highlightActiveLineGutter, drawSelection, Decoration} from "@codemirror/view";
export {defaultKeymap, history, historyKeymap, indentWithTab} from "@codemirror/commands";
export {StreamLanguage, HighlightStyle, syntaxHighlighting, indentUnit, bracketMatching} from "@codemirror/language";
export {autocompletion, completionKeymap} from "@codemirror/autocomplete";
export {setDiagnostics, lintGutter} from "@codemirror/lint";
export {tags} from "@lezer/highlight";
export {lua} from "@codemirror/legacy-modes/mode/lua";
