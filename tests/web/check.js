// node tests/web/check.js BUILD FILE…: does the program in WebAssembly answer each scenario as the native one does, byte
// by byte?
"use strict";
const fs = require("fs"), path = require("path"), {spawnSync} = require("child_process");

const build = process.argv[2], scenarios = process.argv.slice(3);
const ask = require(path.resolve("web/ask.js"));
const factory = require(path.resolve(build, "wasm/engine.js"));
const engine = new WebAssembly.Module(fs.readFileSync(path.join(build, "wasm/engine.wasm")));

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
    const web = await ask(factory, engine, words, files);
    if (native.status !== web.status) return "exit status " + web.status + ", native " + native.status + "\n" + web.err;
    const want = native.stdout.toString();
    if (want === web.out) return "";
    let at = 0;
    while (want[at] === web.out[at]) at++;
    return "differs at byte " + at + ":\n  native " + want.substr(at, 80).split("\n")[0] + "\n  page   " +
        web.out.substr(at, 80).split("\n")[0];
}

(async () => {
    let passed = 0, failed = 0;
    for (const file of scenarios) {
        let why;
        try {
            why = await check(["run", file, "--json", "-j", "1"], beside(file));
        } catch (error) {
            why = String(error.stack || error).split("\n").slice(0, 12).join("\n");
        }
        if (why) console.log("FAILED " + file + ": " + why);
        if (why) failed++;
        else passed++;
    }
    console.log(passed + " passed, " + failed + " failed");
    process.exit(failed ? 1 : 0);
})();
