// The page: a scenario as text and as sliders, asked of the program at each change, and its answer drawn.
"use strict";
(() => {
const $ = (id) => document.getElementById(id);
const MOST_SECONDS = 20; // of one question; then its worker is ended
const FILE = "scenario.lua";

// ---- The program, in workers that may be ended.

function bytesOf(base64) {
    const letters = atob(base64), bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
    return bytes;
}

let compiled;
async function compile() {
    const stream = new Blob([bytesOf(PROGRAM)]).stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(stream).arrayBuffer());
}
const workerAddress = URL.createObjectURL(new Blob([WORKER], {type: "text/javascript"}));

// One question at a time. While one is asked, the newest of those that come waits, and the others are dropped: null.
class Room {
    constructor() { this.number = 0; }

    async start() {
        this.worker = new Worker(workerAddress);
        compiled = compiled || compile();
        this.worker.postMessage({module: await compiled});
        this.worker.onmessage = (event) => {
            if (event.data.number === this.number) this.end(event.data.answer);
        };
        this.worker.onerror = () => this.stop("the program has ended");
    }

    stop(why) {
        this.worker.terminate();
        this.worker = null;
        this.end({status: 4, out: "", err: "error: " + why, wrote: null});
    }

    end(answer) {
        clearTimeout(this.clock);
        const done = this.done, next = this.waits;
        this.done = this.waits = null;
        if (done) done(answer);
        if (next) this.begin(next.question, next.done);
    }

    async begin(question, done) {
        this.done = done;
        if (!this.worker) await this.start();
        this.number++;
        this.clock = setTimeout(() => this.stop("more than " + MOST_SECONDS + " s: stopped\n  hint: ask for less; nothing is lost"),
            1000 * MOST_SECONDS);
        this.worker.postMessage({number: this.number, ...question});
    }

    ask(words, text, wanted) {
        const question = {words, files: {[FILE]: text}, wanted};
        return new Promise((done) => {
            if (!this.done) return this.begin(question, done);
            if (this.waits) this.waits.done(null);
            this.waits = {question, done};
        });
    }
}
const first = new Room(), second = new Room(); // the answer; what is drawn once nothing moves any more

// ---- The scenario: a text, of which sliders show and set five places.

const FABRICS = [["eth-1g", "Ethernet, 1 Gb/s"], ["eth-10g", "Ethernet, 10 Gb/s"], ["eth-100g", "Ethernet, 100 Gb/s"],
    ["roce-100", "RDMA, 100 Gb/s"], ["ib-hdr200", "InfiniBand, 200 Gb/s"], ["ib-ndr400", "InfiniBand, 400 Gb/s"],
    ["ib-xdr800", "InfiniBand, 800 Gb/s"]];
const whole = (n) => n.toLocaleString("en-US");
const SLIDERS = [
    {id: "gpus", title: "GPUs", place: /\bgpus\s*=\s*(\d+)/g, values: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]},
    {id: "fabric", title: "Network", place: /\bfabric\s*=\s*"([^"\n]*)"/g, values: FABRICS.map((f) => f[0]), names: true},
    {id: "batch", title: "Global batch", place: /\bglobal\s*=\s*(\d+)/g, values: [16, 32, 64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096]},
    {id: "tp", title: "Tensor parallel", place: /\btp\s*=\s*(\d+)/g, values: [1, 2, 4, 8, 16]},
    {id: "pp", title: "Pipeline stages", place: /\bpp\s*=\s*(\d+)/g, values: [1, 2, 4, 8, 16, 32]},
];

// The first that is no remark: where it begins and ends, and what it says.
function placeOf(text, slider) {
    for (const match of text.matchAll(slider.place)) {
        const line = text.slice(text.lastIndexOf("\n", match.index) + 1, match.index);
        if (line.includes("--")) continue;
        const from = match.index + match[0].indexOf(match[1], match[0].indexOf("=") + 1);
        return {from, to: from + match[1].length, value: slider.names ? match[1] : Number(match[1])};
    }
    return null;
}

function valuesWith(slider, value) {
    if (slider.values.includes(value)) return slider.values;
    return slider.names ? [...slider.values, value] : [...slider.values, value].sort((a, b) => a - b);
}

function shown(slider, value) {
    if (!slider.names) return whole(value);
    const known = FABRICS.find((fabric) => fabric[0] === value);
    return known ? known[1] : value;
}

function buildSliders() {
    for (const slider of SLIDERS) {
        const box = document.createElement("div");
        box.className = "slider";
        box.innerHTML = `<label for="s-${slider.id}">${slider.title}</label><output for="s-${slider.id}"></output>` +
            `<input id="s-${slider.id}" type="range" min="0" step="1">`;
        $("sliders").append(box);
        slider.box = box;
        slider.input = box.querySelector("input");
        slider.output = box.querySelector("output");
        slider.input.addEventListener("input", () => {
            const place = placeOf(text(), slider), value = slider.shown[Number(slider.input.value)];
            if (place) view.dispatch({changes: {from: place.from, to: place.to, insert: String(value)}});
        });
    }
}

function showSliders() {
    for (const slider of SLIDERS) {
        const place = placeOf(text(), slider);
        slider.box.classList.toggle("absent", !place);
        slider.input.disabled = !place;
        slider.output.textContent = place ? shown(slider, place.value) : "not in the scenario";
        if (!place) continue;
        slider.shown = valuesWith(slider, place.value);
        slider.input.max = slider.shown.length - 1;
        slider.input.value = slider.shown.indexOf(place.value);
        slider.input.setAttribute("aria-valuetext", shown(slider, place.value));
    }
}

// ---- The editor.

let view, fields = [];
const text = () => view.state.doc.toString();

function complete(context) {
    const word = context.matchBefore(/[a-z_]+/i);
    if (!word && !context.explicit) return null;
    return {from: word ? word.from : context.pos, validFor: /^[a-z_]*$/i, options: fields};
}

function buildEditor(start) {
    const t = CM.tags, color = (name) => ({color: "var(--" + name + ")"});
    const style = CM.HighlightStyle.define([
        {tag: t.keyword, ...color("keyword")}, {tag: t.string, ...color("string")}, {tag: t.number, ...color("number")},
        {tag: t.comment, ...color("remark")}, {tag: t.bool, ...color("number")},
    ]);
    const look = CM.EditorView.theme({
        ".cm-gutters": {background: "var(--raised)", color: "var(--quiet)", border: "0"},
        ".cm-content": {caretColor: "var(--ink)", padding: ".5rem 0"},
        ".cm-cursor": {borderLeftColor: "var(--ink)"},
        ".cm-activeLine": {background: "transparent"},
        "&.cm-focused .cm-activeLine": {background: "var(--raised)"},
        ".cm-tooltip": {background: "var(--paper)", color: "var(--ink)", border: "1px solid var(--rule)"},
        ".cm-tooltip-autocomplete > ul > li[aria-selected]": {background: "var(--link)", color: "var(--paper)"},
        "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
            {background: "color-mix(in srgb, var(--link) 30%, transparent)"},
    });
    view = new CM.EditorView({
        parent: $("editor"),
        state: CM.EditorState.create({doc: start, extensions: [
            CM.lineNumbers(), CM.history(), CM.drawSelection(), CM.bracketMatching(), CM.highlightActiveLine(),
            CM.StreamLanguage.define(CM.lua), CM.syntaxHighlighting(style), CM.indentUnit.of("  "), look,
            CM.autocompletion({override: [complete]}), CM.keymap.of([...CM.completionKeymap, ...CM.defaultKeymap, ...CM.historyKeymap]),
            CM.EditorView.lineWrapping, CM.EditorView.contentAttributes.of({"aria-labelledby": "editor-title"}),
            CM.EditorView.updateListener.of((update) => update.docChanged && changed()),
        ]}),
    });
}

// "scenario.lua:7: error: …", and below it "  hint: …".
function showProblems(said) {
    const problems = [];
    for (const line of said.split("\n")) {
        const at = line.match(/^(?:[^:\s]+:(\d+): )?(error|warning): (.*)/), hint = line.match(/^ {2}hint: (.*)/);
        if (at) problems.push({line: Number(at[1]) || 0, what: at[3], hint: ""});
        else if (hint && problems.length) problems[problems.length - 1].hint = hint[1];
    }
    $("problems").replaceChildren(...problems.slice(0, 6).map((problem) => {
        const item = document.createElement("li");
        item.textContent = (problem.line ? "Line " + problem.line + ": " : "") + problem.what;
        if (problem.hint) item.append(Object.assign(document.createElement("small"), {textContent: problem.hint}));
        return item;
    }));
    const lines = view.state.doc.lines;
    view.dispatch(CM.setDiagnostics(view.state, problems.filter((p) => p.line > 0 && p.line <= lines).map((problem) => {
        const line = view.state.doc.line(problem.line), indent = line.text.length - line.text.trimStart().length;
        return {from: line.from + indent, to: line.to, severity: "error", message: problem.what};
    })));
}

// ---- Asking.

let asked = 0, point = null, answer = null, curve = [], pinned = null, pinnedCurve = [], resting;

function changed() {
    showSliders();
    clearTimeout(resting);
    simulate();
}

async function simulate() {
    const mine = ++asked, begin = performance.now(), said = text();
    const reply = await first.ask(["run", FILE, "--json"], said);
    if (!reply) return; // a newer one took its place
    showAnswer(reply);
    if (mine === asked) $("state").textContent = "answered in " + Math.round(performance.now() - begin) + " ms";
    if (mine === asked) resting = setTimeout(() => afterwards(mine, said), 120);
}

// What takes longer: once nothing moves.
async function afterwards(mine, said) {
    if (!point || !point.ran) return;
    const study = /sim\.study\s*\{/;
    let reply = await second.ask(["run", FILE, "--json"], said.replace(study, "$& timeline = true,"));
    if (mine !== asked || !reply) return;
    showTimeline(firstOf(reply));
    const gpus = placeOf(said, SLIDERS[0]);
    if (gpus && !/\bvary\s*=/.test(said)) {
        const counts = [];
        for (let n = gpus.value / 8; n <= 8 * gpus.value && n <= 16384; n *= 2) if (n >= 1 && Number.isInteger(n)) counts.push(n);
        reply = await second.ask(["run", FILE, "--json"], said.replace(study, "$& vary = { gpus = { " + counts.join(", ") + " } },"));
        if (mine !== asked || !reply) return;
        showCurve(firstOf(reply));
    }
    if ($("words").open) showWords();
    if (!fields.length) {
        reply = await second.ask(["job", "fields", "--json"], said);
        if (reply && reply.status === 0)
            fields = JSON.parse(reply.out).fields.map((f) => ({label: f.field, type: "property", detail: f.may_be, info: f.help + (f.example ? "\nfor example: " + f.example : "")}));
    }
}

async function explain() {
    const mine = asked;
    $("explain").disabled = true;
    $("explain").textContent = "Trying";
    const reply = await second.ask(["explain", FILE, "--json"], text());
    $("explain").disabled = false;
    $("explain").textContent = "Try all changes";
    const said = mine === asked && reply ? firstOf(reply) : null;
    showHelp(said);
    showLinks(said);
}

async function showWords() {
    const reply = await second.ask(["run", FILE], text());
    if (reply) $("words").querySelector("pre").textContent = reply.out + reply.err;
}

function firstOf(reply) {
    if (reply.status !== 0 && reply.status !== 3) return null;
    try {
        const said = JSON.parse(reply.out);
        return Array.isArray(said) ? said[0] : said;
    } catch (error) {
        return null;
    }
}

function showAnswer(reply) {
    const said = firstOf(reply);
    showProblems(said ? "" : reply.err || "error: no answer");
    document.querySelector(".answer").classList.toggle("stale", !said);
    if (!said) return;
    answer = said;
    point = said.step_time_s || said.ran === false ? said : (said.points || [])[said.points ? said.points.length - 1 : 0] || null;
    draw();
}

// ---- Words and figures.

function figure(n, digits = 4) {
    if (n === 0) return "0";
    const after = Math.max(0, Math.min(digits, digits - 1 - Math.floor(Math.log10(Math.abs(n)))));
    return n.toLocaleString("en-US", {minimumFractionDigits: after, maximumFractionDigits: after});
}
const scaled = (n, units) => {
    const unit = units.find((u) => Math.abs(n) >= u[0]) || units[units.length - 1];
    return figure(n / unit[0], 3) + " " + unit[1];
};
const scaledTick = (n) => n >= 1e9 ? n / 1e9 + " G" : n >= 1e6 ? n / 1e6 + " M" : n >= 1e3 ? n / 1e3 + " k" : String(n);
const seconds = (s) => s === 0 ? "0" : scaled(s, [[86400, "days"], [3600, "h"], [120, "min"], [1, "s"], [1e-3, "ms"], [1e-6, "µs"]]);
const gib = (b) => (b / 2 ** 30).toFixed(b < 10 * 2 ** 30 ? 2 : b < 100 * 2 ** 30 ? 1 : 0);
const percent = (x) => (100 * x).toFixed(1) + " %";
const watts = (w) => scaled(w, [[1e6, "MW"], [1e3, "kW"], [1, "W"]]);

const CAUSES = {
    gemm: ["Matrix products", "#2f5c9e"], attention: ["Attention", "#5f96d6"], conv: ["Convolutions", "#3f78bd"],
    "memory-bound": ["Memory-bound kernels", "#a9cdee"], launch: ["Kernel launches", "#6f7b8a"], recompute: ["Recomputation", "#7357a8"],
    optimizer: ["Optimizer", "#b9a3da"], tp: ["Tensor parallel", "#e69f00"], pp: ["Pipeline", "#f3dc5a"], dp: ["Data parallel", "#d5482a"],
    ep: ["Expert parallel", "#cc79a7"], cp: ["Context parallel", "#8c2d55"], copy: ["Copies", "#8c6d46"], data: ["Loading data", "#009e73"],
    host: ["Host", "#8ad1b2"], other: ["Other", "#c3c8ce"], forward: ["Forward", "#5f96d6"], backward: ["Backward", "#2f5c9e"],
    "weight-gradient": ["Weight gradients", "#a9cdee"], compute: ["Compute", "#2f5c9e"],
};
const CLASSES = {
    weights: ["Weights", "#2f5c9e"], gradients: ["Gradients", "#5f96d6"], optimizer: ["Optimizer state", "#a9cdee"],
    activations: ["Activations", "#e69f00"], working: ["Working space", "#f3dc5a"], buffers: ["Buffers", "#cc79a7"], reserve: ["Framework's reserve", "#c3c8ce"],
};
const looked = (looks, name) => looks[name] || [name, "#c3c8ce"];

function change(now, then, moreIsBetter) {
    const span = document.createElement("span"), share = now / then - 1;
    const part = Object.assign(document.createElement("b"), {textContent: (share > 0 ? "+" : "−") + Math.abs(100 * share).toFixed(1) + " %"});
    if (Math.abs(share) < 5e-4) {
        span.textContent = "as pinned";
    } else {
        part.className = (share > 0) === moreIsBetter ? "better" : "worse";
        span.append(part, " than pinned");
    }
    return span;
}

function fact(title, value, beside, now, then, moreIsBetter) {
    const box = document.createElement("div"), dd = document.createElement("dd");
    dd.append(value, Object.assign(document.createElement("span"), {textContent: beside}));
    if (then > 0 && now > 0) dd.append(change(now, then, moreIsBetter));
    box.append(Object.assign(document.createElement("dt"), {textContent: title}), dd);
    return box;
}

function showFacts() {
    const p = point, q = pinned || {}, facts = [], time = p.step_time_s, memory = p.memory_bytes || {};
    const of = (object, key) => object && object[key];
    if (time && p.ran !== false) facts.push(fact("Step", seconds(time.p50), seconds(time.p5) + " to " + seconds(time.p95), time.p50, of(q.step_time_s, "p50"), false));
    const rate = p.tokens_per_s ? ["tokens_per_s", "tokens/s"] : ["samples_per_s", "samples/s"];
    if (p[rate[0]]) facts.push(fact("Throughput", figure(p[rate[0]], 3), rate[1], p[rate[0]], q[rate[0]], true));
    if (p.mfu) facts.push(fact("MFU", percent(p.mfu), "of the peak is the model", p.mfu, q.mfu, true));
    if (p.efficiency_vs_ideal) facts.push(fact("Compute", percent(p.efficiency_vs_ideal), "of the step", p.efficiency_vs_ideal, q.efficiency_vs_ideal, true));
    if (memory.peak) facts.push(fact("Memory", gib(memory.peak) + " GiB", "of " + gib(memory.capacity), memory.peak, of(q.memory_bytes, "peak"), false));
    if (p.power_watts) facts.push(fact("Power", watts(p.power_watts), "at the wall", p.power_watts, q.power_watts, false));
    $("facts").replaceChildren(...facts);
}

function showLead() {
    const what = answer.title || "";
    $("lead").textContent = point.ran === false ? what + ": this does not run" + (point.why_not ? ": " + point.why_not : "") + "." + (point.smallest_change ? " It would with " + point.smallest_change + "." : "")
        : point.step_time_s ? what + ": a step takes " + seconds(point.step_time_s.p50) + "." : what;
    const notes = (answer.notes || []).map((note) => typeof note === "string" ? note : note.text || "").filter((note) => note);
    if (point.ran !== false && point.memory_bytes && point.memory_bytes.chance_to_run_out > 0.1)
        notes.unshift("The chance that it runs out of memory is " + Math.round(100 * point.memory_bytes.chance_to_run_out) + " %.");
    $("cautions").replaceChildren(...notes.slice(0, 3).map((note) => Object.assign(document.createElement("li"), {textContent: note})));
}

// A bar of parts, and a table of them.
function showStack(id, parts, whole_value, looks, say, then, of) {
    const box = $(id).querySelector("div"), sum = Math.max(whole_value || 0, Object.values(parts).reduce((a, b) => a + b, 0));
    const bar = (values, least) => {
        const stack = document.createElement("div");
        stack.className = "stack";
        stack.setAttribute("aria-hidden", "true");
        for (const [name, value] of Object.entries(values)) {
            if (!(value > 0)) continue;
            const piece = document.createElement("i");
            piece.style.flexBasis = 100 * value / least + "%";
            piece.style.background = looked(looks, name)[1];
            piece.title = looked(looks, name)[0] + ": " + say(value);
            stack.append(piece);
        }
        return stack;
    };
    const least = then ? Math.max(sum, whole_value ? 0 : Object.values(then).reduce((a, b) => a + b, 0)) : sum;
    const table = document.createElement("table");
    table.className = "legend";
    for (const [name, value] of Object.entries(parts).sort((a, b) => b[1] - a[1])) {
        const was = then ? then[name] || 0 : 0;
        if (!(value > 0) && !(was > 0)) continue;
        const row = table.insertRow(), look = looked(looks, name), key = document.createElement("span");
        key.className = "key";
        key.style.background = look[1];
        row.insertCell().append(key, look[0]);
        row.insertCell().textContent = say(value);
        row.insertCell().textContent = (100 * value / of).toFixed(1) + " %";
        if (then) row.insertCell().textContent = say(was) === say(value) ? "" : "was " + say(was);
    }
    const bars = [bar(parts, least)];
    if (whole_value && whole_value < sum) { // where the capacity ends
        const mark = document.createElement("b");
        mark.style.left = 100 * whole_value / least + "%";
        mark.title = "capacity: " + say(whole_value);
        bars[0].append(mark);
    }
    if (then) {
        bars.unshift(bar(then, least));
        bars[0].classList.add("pinned");
    }
    box.replaceChildren(...bars, table);
}

function draw() {
    if (!point) return;
    showLead();
    showFacts();
    const ran = point.ran !== false && point.step_time_s, memory = point.memory_bytes;
    $("breakdown").hidden = !ran || !point.exposed_s;
    $("memory").hidden = !memory || !memory.by_class;
    if (ran && point.exposed_s) {
        const sum = Object.values(point.exposed_s).reduce((a, b) => a + b, 0);
        showStack("breakdown", point.exposed_s, 0, CAUSES, seconds, pinned && pinned.exposed_s, sum);
    }
    if (memory && memory.by_class)
        showStack("memory", memory.by_class, memory.capacity, CLASSES, (b) => gib(b) + " GiB", pinned && pinned.memory_bytes && pinned.memory_bytes.by_class, memory.capacity);
    $("curve").hidden = !ran || curve.length < 2;
    $("timeline").hidden = !ran || bars.length === 0;
    $("help").hidden = !ran;
    $("links").hidden = true; // they are of one job
    $("help").querySelector("div").replaceChildren();
}

// ---- Links, the busier the warmer; and what explain found.

function showLinks(said) {
    const links = said && said.links ? said.links : [], table = document.createElement("table");
    $("links").hidden = links.length === 0;
    table.className = "legend";
    for (const link of links) {
        const row = table.insertRow(), bar = document.createElement("div"), part = document.createElement("i");
        bar.className = "stack";
        bar.setAttribute("aria-hidden", "true");
        part.style.flexBasis = 100 * link.busy + "%";
        part.style.background = `color-mix(in oklab, #d5482a ${Math.round(100 * link.busy)}%, #5f96d6)`;
        bar.append(part);
        row.insertCell().textContent = link.link;
        row.insertCell().append(bar);
        row.insertCell().textContent = percent(link.busy) + " busy";
        row.insertCell().textContent = figure(link.gigabytes, 3) + " GB";
    }
    $("links").querySelector("div").replaceChildren(table);
}

function showHelp(said) {
    if (!said) return;
    const table = document.createElement("table"), words = document.createElement("p"), code = (of) => Object.assign(document.createElement("code"), {textContent: of});
    table.className = "legend";
    if (said.change_first) words.append("Change first: ", code(said.change_first.change), ". A step then takes " + seconds(said.change_first.step_s) + " instead of " + seconds(said.step_s) + ".");
    const head = table.createTHead().insertRow();
    for (const title of ["Change", "Step", "Saves", "Memory runs out"]) head.append(Object.assign(document.createElement("th"), {textContent: title, scope: "col"}));
    const body = table.createTBody();
    for (const setting of said.settings.filter((s) => s.gain_s > 0).slice(0, 8)) {
        const row = body.insertRow();
        row.insertCell().append(code(setting.change), " ", Object.assign(document.createElement("small"), {textContent: setting.note || ""}));
        row.insertCell().textContent = seconds(setting.step_s);
        row.insertCell().textContent = percent(setting.gain_share);
        row.insertCell().textContent = setting.chance_to_run_out > 0.001 ? percent(setting.chance_to_run_out) : "no";
    }
    $("help").querySelector("div").replaceChildren(words, table);
}

// ---- The scaling curve.

const element = (name, attributes, words) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key of Object.keys(attributes)) node.setAttribute(key, attributes[key]);
    if (words !== undefined) node.textContent = words;
    return node;
};

const rateOf = (p) => p.tokens_per_s || p.samples_per_s || 0;

function showCurve(said) {
    curve = said && said.points ? said.points.filter((p) => p.ran && rateOf(p) > 0) : [];
    if (pinned === point) pinnedCurve = curve;
    drawCurve();
}

function drawCurve() {
    const box = $("curve").querySelector("div"), points = curve;
    $("curve").hidden = points.length < 2;
    if (points.length < 2) return;
    const width = Math.max(300, box.clientWidth), height = Math.min(300, Math.max(210, width / 3)), left = 52, right = 20, top = 14, low = height - 40;
    const start = points[0], end = points[points.length - 1], log = Math.log2, narrow = width < 480;
    const then = pinnedCurve.filter((p) => p.gpus >= start.gpus && p.gpus <= end.gpus);
    const ideal = (p) => rateOf(start) * p.gpus / start.gpus, rates = [...points, ...then].map(rateOf);
    const most = Math.max(ideal(end), ...rates), least = Math.min(...rates);
    const x = (n) => left + (width - left - right) * log(n / start.gpus) / log(end.gpus / start.gpus);
    const y = (r) => low - 8 - (low - 8 - top) * log(r / least) / (log(most / least) || 1);
    const svg = element("svg", {viewBox: `0 0 ${width} ${height}`, role: "img",
        "aria-label": points.map((p) => `${whole(p.gpus)} GPUs: ${figure(rateOf(p), 3)} a second`).join("; ")});
    for (let at = 10 ** Math.ceil(Math.log10(least)); at <= most; at *= 10) {
        svg.append(element("line", {class: "grid", x1: left, x2: width - right, y1: y(at), y2: y(at)}));
        svg.append(element("text", {x: left - 8, y: y(at) + 4, "text-anchor": "end"}, scaledTick(at)));
    }
    const line = (list, of, look) => svg.append(element("path", {fill: "none", ...look,
        d: list.map((p, i) => (i ? "L" : "M") + x(p.gpus).toFixed(1) + " " + y(of(p)).toFixed(1)).join("")}));
    line(points, ideal, {stroke: "var(--quiet)", "stroke-dasharray": "4 4"});
    if (then.length > 1) line(then, rateOf, {stroke: "var(--quiet)", "stroke-width": 2});
    line(points, rateOf, {stroke: "var(--link)", "stroke-width": 2.5, "stroke-linejoin": "round"});
    points.forEach((p, i) => {
        const here = p.gpus === point.gpus, anchor = p === end ? "end" : "middle", named = !narrow || here || (points.length - 1 - i) % 2 === 0;
        svg.append(element("circle", {cx: x(p.gpus), cy: y(rateOf(p)), r: here ? 6 : 3.5, fill: here ? "var(--worse)" : "var(--link)"}));
        if (named) svg.append(element("text", {x: x(p.gpus), y: low + 18, "text-anchor": anchor}, whole(p.gpus)));
        if (named && p !== start) svg.append(element("text", {class: "ink", x: x(p.gpus), y: y(rateOf(p)) + (y(rateOf(p)) > low - 24 ? -10 : 20), "text-anchor": anchor},
            Math.round(100 * rateOf(p) / ideal(p)) + " %"));
    });
    svg.append(element("text", {x: left, y: height - 4}, "GPUs" + (then.length > 1 ? " (grey: pinned)" : "") + "; " + (start.tokens_per_s ? "tokens" : "samples") +
        "/s, % of linear from " + whole(start.gpus) + " on"));
    box.replaceChildren(svg);
}

// ---- The timeline, and the walk through its events.

let bars = [], rows = [], events = [0], from = 0, to = 1, end_s = 1;

function showTimeline(said) {
    bars = said && said.timeline ? said.timeline : [];
    rows = [...new Set(bars.map((bar) => bar.row))];
    $("timeline").hidden = bars.length === 0;
    if (bars.length === 0) return;
    end_s = Math.max(...bars.map((bar) => bar.end_s));
    events = [...new Set(bars.filter((bar) => !bar.row.endsWith("transfers")).map((bar) => bar.start_s))].sort((a, b) => a - b);
    events.push(end_s);
    from = 0;
    to = end_s;
    const causes = [...new Set(bars.map((bar) => bar.cause))];
    $("causes").replaceChildren(...causes.map((cause) => {
        const item = document.createElement("li"), key = document.createElement("span");
        key.className = "key";
        key.style.background = looked(CAUSES, cause)[1];
        item.append(key, looked(CAUSES, cause)[0]);
        return item;
    }));
    $("timeline").querySelector("canvas").style.height = Math.min(20, 3 + 2.3 * rows.filter((row) => !isThin(row)).length) + "rem";
    $("event").max = events.length - 1;
    $("event").value = Math.min(events.length - 1, Math.max(1, Math.floor(events.length / 3)));
    showEvent();
}

const isThin = (row) => row.endsWith("transfers");
const named = (row) => row || "GPU";

function paint() {
    const canvas = $("timeline").querySelector("canvas"), ratio = devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight, left = width < 500 ? 56 : 76, low = height - 22;
    if (!width || !rows.length) return;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d"), style = getComputedStyle(document.documentElement), ink = (name) => style.getPropertyValue("--" + name).trim();
    pen.scale(ratio, ratio);
    pen.font = "12px " + getComputedStyle(document.body).fontFamily;
    const units = rows.reduce((sum, row) => sum + (isThin(row) ? 0.42 : 1), 0), unit = low / units, tops = {};
    let at = 0;
    for (const row of rows) {
        const tall = unit * (isThin(row) ? 0.42 : 1);
        tops[row] = [at, Math.max(1, tall - (isThin(row) ? 3 : 1))];
        at += tall;
        if (!isThin(row)) {
            pen.fillStyle = ink("idle");
            pen.fillRect(left, tops[row][0], width - left, tops[row][1]);
            pen.fillStyle = ink("quiet");
            pen.fillText(named(row), 0, tops[row][0] + tops[row][1] / 2 + 4, left - 6);
        }
    }
    const x = (s) => left + (width - left) * (s - from) / (to - from);
    pen.save();
    pen.beginPath();
    pen.rect(left, 0, width - left, low);
    pen.clip();
    for (const bar of bars) {
        if (bar.end_s < from || bar.start_s > to) continue;
        const a = x(bar.start_s), wide = x(bar.end_s) - a, [top, tall] = tops[bar.row];
        pen.fillStyle = looked(CAUSES, bar.cause)[1];
        pen.fillRect(a, top, Math.max(wide - (wide > 3 ? 0.75 : 0), 0.4), tall);
        if (wide > 22 && tall > 13 && bar.name && !isThin(bar.row)) {
            pen.fillStyle = bar.cause === "forward" ? "#10243d" : "#ffffff";
            pen.fillText(bar.name, a + 4, top + tall / 2 + 4, wide - 6);
        }
    }
    const now = events[Number($("event").value)];
    pen.fillStyle = ink("worse");
    pen.fillRect(x(now) - 1, 0, 2, low);
    pen.restore();
    pen.fillStyle = ink("quiet");
    const ticks = width < 500 ? 2 : 4;
    for (let i = 0; i <= ticks; i++) {
        pen.textAlign = i === ticks ? "right" : i === 0 ? "left" : "center";
        pen.fillText(seconds(from + (to - from) * i / ticks), left + (width - left) * i / ticks, height - 4);
    }
}

// Whose pass it is that an idle stage does next: the one before it sends activations, the one behind it gradients.
function waitsFor(row, now) {
    const next = bars.find((bar) => bar.row === row && bar.start_s > now), stages = rows.filter((name) => !isThin(name));
    if (!next) return "is done";
    const by = {forward: -1, backward: 1}[next.cause], from_stage = by && stages[(stages.indexOf(row) + by + stages.length) % stages.length];
    return from_stage && from_stage !== row ? "waits for " + named(from_stage) + ", micro-batch " + next.name.replace(/\D+/, "") : "waits";
}

function showEvent() {
    const now = events[Number($("event").value)];
    if (now < from || now > to) {
        const half = (to - from) / 2;
        from = Math.max(0, Math.min(end_s - 2 * half, now - half));
        to = from + 2 * half;
    }
    const list = document.createElement("ul");
    for (const row of rows) {
        if (isThin(row)) continue;
        const covers = (bar) => bar.start_s <= now && now < bar.end_s;
        const does = bars.find((bar) => bar.row === row && covers(bar)), moves = bars.find((bar) => bar.row === row + " transfers" && covers(bar));
        const item = document.createElement("li"), pass = does && does.name.replace(/\D+/, "");
        item.append(Object.assign(document.createElement("b"), {textContent: named(row)}), " ",
            does ? looked(CAUSES, does.cause)[0].toLowerCase() + (pass ? " of micro-batch " + pass : "")
                : moves ? "waits: " + looked(CAUSES, moves.cause)[0].toLowerCase() : waitsFor(row, now));
        list.append(item);
    }
    $("now").replaceChildren("At " + seconds(now) + " of " + seconds(end_s) + ":", list);
    $("event").setAttribute("aria-valuetext", seconds(now));
    paint();
}

function step(by) {
    $("event").value = Number($("event").value) + by;
    showEvent();
}

function zoom(factor, about = events[Number($("event").value)]) {
    const wide = Math.min(end_s, Math.max(end_s / 5000, (to - from) * factor)), share = (about - from) / (to - from);
    from = Math.max(0, Math.min(end_s - wide, about - share * wide));
    to = from + wide;
    paint();
}

function listenToTimeline() {
    const canvas = $("timeline").querySelector("canvas");
    $("event").addEventListener("input", showEvent);
    $("back").addEventListener("click", () => step(-1));
    $("forth").addEventListener("click", () => step(1));
    $("narrower").addEventListener("click", () => zoom(0.5));
    $("wider").addEventListener("click", () => zoom(2));
    $("whole").addEventListener("click", () => zoom(Infinity));
    canvas.addEventListener("keydown", (event) => {
        const act = {ArrowLeft: () => step(-1), ArrowRight: () => step(1), "+": () => zoom(0.5), "-": () => zoom(2), 0: () => zoom(Infinity)}[event.key];
        if (act) event.preventDefault(), act();
    });
    canvas.addEventListener("click", (event) => {
        const left = canvas.clientWidth < 500 ? 56 : 76, at = from + (to - from) * (event.offsetX - left) / (canvas.clientWidth - left);
        const next = events.findIndex((s) => s > at);
        $("event").value = next < 0 ? events.length - 1 : Math.max(0, next - 1);
        showEvent();
    });
    canvas.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.shiftKey) return;
        event.preventDefault();
        zoom(event.deltaY + event.deltaX > 0 ? 1.25 : 0.8);
    }, {passive: false});
}

// ---- Links: the scenario in the address, behind #.

async function through(stream, bytes) {
    return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

async function fragmentOf(said) {
    const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(said));
    return "#s=" + btoa(String.fromCharCode(...packed)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

async function scenarioOf(fragment) {
    const match = fragment.match(/^#s=([\w-]+)$/);
    if (!match) return null;
    try {
        const packed = bytesOf(match[1].replace(/-/g, "+").replace(/_/g, "/"));
        return new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), packed));
    } catch (error) {
        return null;
    }
}

async function share() {
    history.replaceState(null, "", await fragmentOf(text()));
    let said = "the address is the link";
    try {
        await navigator.clipboard.writeText(location.href);
        said = "link copied";
    } catch (error) { /* a page from a disk may not */ }
    $("state").textContent = said;
}

async function report() {
    $("state").textContent = "writing the report";
    const reply = await second.ask(["report", "run", FILE, "-o", "report.html"], text(), "report.html");
    if (!reply) return;
    if (!reply.wrote) return showProblems(reply.err || "error: no report");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([reply.wrote], {type: "text/html"}));
    link.download = "lockstep-report.html";
    link.click();
    $("state").textContent = "report saved";
}

function pin() {
    pinned = pinned ? null : point;
    pinnedCurve = pinned ? curve : [];
    $("pin").setAttribute("aria-pressed", pinned ? "true" : "false");
    $("pin").textContent = pinned ? "Unpin" : "Pin this";
    draw();
    drawCurve();
}

// ---- The beginning.

async function begin() {
    for (const name of Object.keys(SCENARIOS)) {
        const title = SCENARIOS[name].match(/^-- (.*)/)[1].replace(/\.$/, "");
        $("preset").append(new Option(title, name));
    }
    $("preset").value = "gpt3";
    buildSliders();
    buildEditor(await scenarioOf(location.hash) || SCENARIOS.gpt3);
    listenToTimeline();
    const put = (said) => view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: said}});
    $("preset").addEventListener("change", () => put(SCENARIOS[$("preset").value]));
    $("pin").addEventListener("click", pin);
    $("share").addEventListener("click", share);
    $("report").addEventListener("click", report);
    $("explain").addEventListener("click", explain);
    $("words").addEventListener("toggle", () => $("words").open && showWords());
    addEventListener("hashchange", async () => {
        const said = await scenarioOf(location.hash);
        if (said && said !== text()) put(said);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
    new ResizeObserver(() => (paint(), drawCurve())).observe(document.querySelector(".answer"));
    showSliders();
    if (text() === SCENARIOS.gpt3) showAnswer(FIRST);
    await new Promise((drawn) => setTimeout(drawn, 0)); // before the program starts, which takes a moment
    await simulate();
}
begin();
})();
