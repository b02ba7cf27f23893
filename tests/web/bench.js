// node tests/web/bench.js BUILD CHROMIUM: how long the page takes, in JSON lines; times in ms, [least, median, 90th of 100].
// Each opening has a browser with an empty profile of its own; `slowed` is how many times slower than here the processor
// is made, as on a weak laptop.
"use strict";
const fs = require("fs"), os = require("os"), path = require("path"), zlib = require("zlib"), {spawnSync} = require("child_process");
const [build, program] = process.argv.slice(2), page = "file://" + path.resolve(build, "web/index.html");
const {start, ask} = require(path.resolve("web/ask.js"));
process.setMaxListeners(0); // each instance listens

const say = (what, of) => console.log(JSON.stringify({bench: what, ...of}));
const sorted = (list) => [...list].sort((a, b) => a - b);
const spread = (list) => [0, list.length >> 1, Math.floor(0.9 * list.length)].map((i) => Math.round(10 * sorted(list)[i]) / 10);

// When it is on the screen: a frame has been drawn since it came.
const WATCH = `(() => {
    const seen = {}, things = {picture: "#breakdown .stack i", curve: "#curve svg", editor: ".cm-content"};
    window.seen = seen;
    const mark = (name) => seen[name] === undefined && (seen[name] = 0, requestAnimationFrame(() => setTimeout(() => seen[name] = performance.now(), 0)));
    new MutationObserver(() => {
        for (const name of Object.keys(things)) if (document.querySelector(things[name])) mark(name);
        if (/answered/.test((document.getElementById("state") || {}).textContent)) mark("answer");
    }).observe(document, {childList: true, subtree: true});
})()`;

// From the slider's event to the frame that shows the answer; one move after another, or each once nothing moves any more.
const MOVE = `async (id, values, rest) => {
    const slider = document.getElementById(id), times = [];
    for (const value of values) {
        const begin = performance.now();
        const shown = new Promise((done) => new MutationObserver((all, observer) => (observer.disconnect(),
            requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin), 0)))).observe(document.getElementById("facts"), {childList: true}));
        slider.value = value;
        slider.dispatchEvent(new Event("input"));
        times.push(await shown);
        await new Promise((done) => setTimeout(done, rest));
    }
    return times;
}`;

const homes = fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-bench-"));
async function browse(slowed, act) {
    const browser = await require("./chromium.js")(program, fs.mkdtempSync(path.join(homes, "of-")));
    const look = await browser.open(1280, "light", page, {first: WATCH, slowed});
    while (!await look("['picture', 'answer', 'curve', 'editor'].every((name) => seen[name] > 0)")) await new Promise((done) => setTimeout(done, 100));
    await act(look);
    await browser.close();
}

async function opening(slowed) {
    const times = {picture: [], answer: [], editor: [], curve: []};
    for (let i = 0; i < 7; i++) await browse(slowed, async (look) => {
        const seen = await look("seen");
        for (const name of Object.keys(times)) times[name].push(seen[name]);
    });
    say("opening the page, until there is", {slowed, ...Object.fromEntries(Object.entries(times).map(([name, list]) => [name, spread(list)]))});
}

async function sliders(slowed) {
    await browse(slowed, async (look) => {
        const move = (id, values, rest) => look(`(${MOVE})("${id}", ${JSON.stringify(values)}, ${rest})`), twenty = [...Array(20).keys()];
        await move("s-gpus", [9, 10, 11, 10, 9, 10], 50);
        say("a slider's answer, GPT-3 on 1,024 GPUs", {slowed, dragged: spread(await move("s-fabric", twenty.map((i) => i % 7), 20)), alone: spread(await move("s-batch", twenty.map((i) => 5 + i % 6), 1200))});
    });
}

// Processor time in ms that a command of the native program takes.
function native(words) {
    const timed = spawnSync("bash", ["-c", "TIMEFORMAT='%3U %3S'; time \"$@\" >/dev/null 2>&1", "bash", path.join(build, "lockstep"), ...words]);
    return timed.stderr.toString().split(" ").reduce((sum, part) => sum + 1000 * Number(part), 0);
}

// The program itself, on what takes long; with the start of its process, and of its instance in the memory of the one
// before, as the page has it. Both in turns, by the processor's time, since
// others use it too.
async function engine() {
    const factory = require(path.resolve(build, "wasm/engine.js")), module = new WebAssembly.Module(fs.readFileSync(path.join(build, "wasm/engine.wasm")));
    const job = ["--model", "gpt3-175b", "--node", "dgx-a100", "--tp", "8", "--pp", "16", "--global-batch", "1536", "--recompute", "full"];
    for (const words of [["run", ...job, "--gpus", "1024", "--unfolded"], ["plan", "--model", "llama-2-70b", "--node", "dgx-h100", "--gpus", "512", "--tokens", "1T", "-j", "1"],
        ["run", ...job, "--gpus", "512", "--jitter", "0.05", "--unfolded"]]) {
        const of_native = [], of_web = [];
        let instance = null;
        for (let i = 0; i < 9; i++) {
            of_native.push(native(words));
            const begin = process.cpuUsage();
            instance = await start(factory, module, instance);
            if (ask(instance, words, {}).status !== 0) throw new Error(words.join(" ") + " does not run");
            const {user, system} = process.cpuUsage(begin);
            of_web.push((user + system) / 1000);
        }
        say("WebAssembly against native: " + words[0] + " … " + words.slice(-3).join(" "), {native: spread(of_native), web: spread(of_web), times: spread(of_web.map((ms, i) => ms / of_native[i])).slice(0, 2)});
    }
}

(async () => {
    const folder = path.join(build, "web"), files = fs.readdirSync(folder).map((file) => fs.readFileSync(path.join(folder, file)));
    const sum = (list) => list.reduce((a, b) => a + b, 0);
    say("the folder, in bytes", {as_it_is: sum(files.map((bytes) => bytes.length)), compressed: sum(files.map((bytes) => zlib.gzipSync(bytes, {level: 9}).length))});
    await engine();
    for (const slowed of [1, 4]) {
        await opening(slowed);
        await sliders(slowed);
    }
    await new Promise((done) => setTimeout(done, 1000)); // what the browser has left behind may still write
    await require("./gone.js")(homes);
    process.exit(0);
})();
