// node tests/web/check.js BUILD FILE…: does the program in WebAssembly answer each scenario as the native one does?
"use strict";
const fs = require("fs"), path = require("path"), {spawnSync} = require("child_process");

const build = process.argv[2], scenarios = process.argv.slice(3);
const {start, ask} = require(path.resolve("web/ask.js"));
const factory = require(path.resolve(build, "wasm/engine.js"));
const engine = new WebAssembly.Module(fs.readFileSync(path.join(build, "wasm/engine.wasm")));

let same = 0, near = 0;

// What lies beside a scenario it may read.
function beside(file) {
    const files = {};
    (function walk(folder) {
        for (const entry of fs.readdirSync(folder, {withFileTypes: true})) {
            const name = path.join(folder, entry.name);
            if (entry.isDirectory()) walk(name);
            else files[name] = fs.readFileSync(name);
        }
    })(path.dirname(file));
    return files;
}

async function check(words, files) {
    const native = spawnSync(path.join(build, "lockstep"), words, {maxBuffer: 1 << 30});
    const web = ask(await start(factory, engine), words, files);
    if (native.status !== web.status || native.status === 2) return "exit status " + web.status + ", native " + native.status + "\n" + web.err;
    const lives = /\bfaults = |weeks_with_failures/.test(words[1] + fs.readFileSync(words[1])), of = (text) => lives ? text.replace(/"digest": "\w+"/g, "") : text;
    return difference(of(native.stdout + native.stderr.toString()), of(web.out + web.err), lives ? 1e-6 : 1e-12);
}

// The mathematics of two C libraries may differ in the last digit; digests are of whole ticks. Draws of
// a job's lives go through logarithms, so that an event may be a tick off there.
const NUMBER = /(-?\d+(?:\.\d+)?(?:e[-+]\d+)?)/;
function difference(want, got, tolerance) {
    if (want === got) {
        same++;
        return "";
    }
    const a = want.split(NUMBER), b = got.split(NUMBER);
    for (let i = 0; i < Math.max(a.length, b.length); i++) {
        const alike = i % 2 === 1 && Math.abs(a[i] - b[i]) <= tolerance * Math.abs(a[i]);
        if (a[i] !== b[i] && !alike)
            return "\n  native " + a.slice(i - 1, i + 2).join("").trim() + "\n  page   " + b.slice(i - 1, i + 2).join("").trim();
    }
    near++;
    return "";
}

(async () => {
    let passed = 0, failed = 0;
    for (const file of scenarios) {
        let why;
        try {
            why = await check(["run", file, "--json"], beside(file));
        } catch (error) {
            why = String(error.stack || error).split("\n").slice(0, 12).join("\n");
        }
        if (why) console.log("FAILED " + file + ": " + why);
        if (why) failed++;
        else passed++;
    }
    console.log("the same letters " + same + " times, near in the last digits " + near + " times");
    console.log(passed + " passed, " + failed + " failed");
    process.exit(failed ? 1 : 0);
})();
