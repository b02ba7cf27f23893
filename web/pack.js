// node web/pack.js BUILD: build/web/index.html and its scripts, of the engine in build/wasm and what lies here. Classic
// scripts, since from a disk browsers load neither modules nor workers nor anything by fetch. lockstep.js draws the first
// picture, then loads the others.
"use strict";
const fs = require("fs"), path = require("path"), zlib = require("zlib"), {execFileSync} = require("child_process");
const build = process.argv[2], here = __dirname, out = path.join(build, "web");
const read = (name) => fs.readFileSync(path.join(here, name), "utf8");

// In this order: they share one scope.
const PARTS = ["program.js", "drawing.js", "timeline.js", "film.js", "course.js", "remedies.js", "page.js"];

const worker = fs.readFileSync(path.join(build, "wasm/engine.js"), "utf8") + "\n" + read("ask.js") + "\n" + read("worker.js");
const program = zlib.gzipSync(fs.readFileSync(path.join(build, "wasm/engine.wasm")), {level: 9}).toString("base64");
const scenarios = {};
for (const name of fs.readdirSync(path.join(here, "scenarios")).sort())
    scenarios[name.replace(/\.lua$/, "")] = read("scenarios/" + name);

// The first answer and the list of problems are there before the program has started: the native ones, which are the same.
const native = (...words) => execFileSync(path.join(build, "lockstep"), words).toString();
const first = {status: 0, err: "", out: native("run", "web/scenarios/gpt3.lua", "--json")};
const course = JSON.parse(native("lesson", "list", "--json")), glossary = JSON.parse(native("lesson", "words", "--json")).words;

fs.mkdirSync(out, {recursive: true});
fs.writeFileSync(path.join(out, "index.html"), read("page.html").replace("/* page.css */", () => read("page.css").trim()));
const data = {SCENARIOS: scenarios, FIRST: first, COURSE: {problems: course.problems, words: Object.fromEntries(glossary.map((row) => [row.word, row.what]))}};
const constants = (of) => Object.entries(of).map(([name, value]) => `const ${name} = ${JSON.stringify(value)};\n`).join("");
fs.writeFileSync(path.join(out, "lockstep.js"), "\"use strict\";\n" + constants(data) + "(() => {\n" + PARTS.map(read).join("\n") + "})();\n");
fs.writeFileSync(path.join(out, "engine.js"), constants({WORKER: worker, PROGRAM: program}));
fs.copyFileSync(path.join(here, "vendor/editor.js"), path.join(out, "editor.js"));
fs.writeFileSync(path.join(out, "LICENCES.txt"), read("vendor/LICENCES.txt"));
