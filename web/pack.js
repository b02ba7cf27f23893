// node web/pack.js BUILD: build/web/index.html and lockstep.js, of the engine in build/wasm and what lies here. One classic
// script, since from a disk browsers load neither modules nor workers nor anything by fetch.
"use strict";
const fs = require("fs"), path = require("path"), zlib = require("zlib"), {execFileSync} = require("child_process");
const build = process.argv[2], here = __dirname, out = path.join(build, "web");
const read = (name) => fs.readFileSync(path.join(here, name), "utf8");

const worker = fs.readFileSync(path.join(build, "wasm/engine.js"), "utf8") + "\n" + read("ask.js") + "\n" + read("worker.js");
const program = zlib.gzipSync(fs.readFileSync(path.join(build, "wasm/engine.wasm")), {level: 9}).toString("base64");
const scenarios = {};
for (const name of fs.readdirSync(path.join(here, "scenarios")).sort())
    scenarios[name.replace(/\.lua$/, "")] = read("scenarios/" + name);

// The first answer is there before the program has started: the native one, which is the same.
const first = {status: 0, err: "", out: execFileSync(path.join(build, "lockstep"), ["run", path.join(here, "scenarios/gpt3.lua"), "--json"]).toString()};

fs.mkdirSync(out, {recursive: true});
fs.writeFileSync(path.join(out, "index.html"), read("page.html").replace("/* page.css */", () => read("page.css").trim()));
fs.writeFileSync(path.join(out, "lockstep.js"), read("vendor/editor.js") +
    "\nconst SCENARIOS = " + JSON.stringify(scenarios) + ";\nconst FIRST = " + JSON.stringify(first) + ";\nconst WORKER = " + JSON.stringify(worker) +
    ";\nconst PROGRAM = \"" + program + "\";\n" + read("page.js"));
fs.writeFileSync(path.join(out, "LICENCES.txt"), read("vendor/LICENCES.txt"));
