// The playground: a scenario as text and as sliders, asked of the program at each change.

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
            if (place) edit(place.from, place.to, String(value));
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

// ---- The editor, which comes after the first picture: till then there is its text.

let view = null, draft = SCENARIOS.gpt3, fields = [], faults = [];
const text = () => lesson ? fileOf(lesson) : view ? view.state.doc.toString() : draft;

function edit(from, to, insert) {
    if (view) return view.dispatch({changes: {from, to, insert}});
    draft = draft.slice(0, from) + insert + draft.slice(to);
    changed();
}

function complete(context) {
    const word = context.matchBefore(/[a-z_]+/i);
    if (!word && !context.explicit) return null;
    return {from: word ? word.from : context.pos, validFor: /^[a-z_]*$/i, options: fields};
}

async function buildEditor() {
    await load("editor.js");
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
        state: CM.EditorState.create({doc: draft, extensions: [
            CM.lineNumbers(), CM.history(), CM.drawSelection(), CM.bracketMatching(), CM.highlightActiveLine(),
            CM.StreamLanguage.define(CM.lua), CM.syntaxHighlighting(style), CM.indentUnit.of("  "), look,
            CM.autocompletion({override: [complete]}), CM.keymap.of([...CM.completionKeymap, ...CM.defaultKeymap, ...CM.historyKeymap]),
            CM.EditorView.lineWrapping, CM.EditorView.contentAttributes.of({"aria-labelledby": "editor-title"}),
            CM.EditorView.updateListener.of((update) => update.docChanged && changed()),
        ]}),
    });
    markFaults();
}

// "scenario.lua:7: error: …", and below it "  hint: …".
function problemsIn(said) {
    const problems = [];
    for (const line of said.split("\n")) {
        const at = line.match(/^(?:[^:\s]+:(?:(\d+):)? )?(error|warning): (.*)/), hint = line.match(/^ {2}hint: (.*)/);
        if (at) problems.push({line: Number(at[1]) || 0, what: at[3], hint: ""});
        else if (hint && problems.length) problems[problems.length - 1].hint = hint[1];
    }
    return problems;
}

function listProblems(box, problems, withLines) {
    box.replaceChildren(...problems.slice(0, 6).map((problem) => {
        const item = document.createElement("li");
        item.textContent = (withLines && problem.line ? "Line " + problem.line + ": " : "") + problem.what;
        if (problem.hint) item.append(Object.assign(document.createElement("small"), {textContent: problem.hint}));
        return item;
    }));
}

function showProblems(said) {
    const problems = problemsIn(said);
    if (lesson) return listProblems($("faults"), problems, false);
    listProblems($("problems"), problems, true);
    const before = faults;
    faults = problems;
    if (before.length || faults.length) markFaults();
}

function markFaults() {
    if (!view) return;
    const lines = view.state.doc.lines;
    view.dispatch(CM.setDiagnostics(view.state, faults.filter((p) => p.line > 0 && p.line <= lines).map((problem) => {
        const line = view.state.doc.line(problem.line), indent = line.text.length - line.text.trimStart().length;
        return {from: line.from + indent, to: line.to, severity: "error", message: problem.what};
    })));
}

// ---- Asking.

let asked = 0, era = 0, point = null, answer = null, curve = [], pinned = null, pinnedCurve = [], pinnedAs = "pinned", resting;

function changed() {
    showSliders();
    clearTimeout(resting);
    simulate();
}

async function simulate() {
    const mine = ++asked, now = era, said = text(), late = setTimeout(() => mine === asked && showWaiting(true), 400);
    const reply = await first.ask(["run", FILE, "--json"], said);
    clearTimeout(late);
    if (!reply || now !== era) return; // a newer one took its place, or another scenario is open
    showAnswer(reply);
    if (mine !== asked) return;
    $("state").textContent = reply.ms ? "answered in " + Math.round(reply.ms) + " ms" : "";
    resting = setTimeout(() => (sayAnswer(), afterwards(mine, said)), 120);
}

// What is on show is of before, for longer than one would take for at once.
function showWaiting(waits) {
    document.querySelector(".answer").classList.toggle("waiting", waits);
    if (waits) $("state").textContent = "simulating";
}

// For who sees and for who has it read out.
function say(words) { $("state").textContent = $("said").textContent = words; }

// An answer is read out once nothing moves: before, each would talk over the one before it.
function sayAnswer() {
    if (!point || document.querySelector(".answer.stale")) return; // a mistake is read out where it is listed
    const facts = [...$("facts").children].slice(0, 2).map((box) => [...box.querySelectorAll("dt, dd")].flatMap((part) => [...part.childNodes])
        .map((part) => part.textContent).join(" "));
    $("said").textContent = point.ran === false ? $("lead").textContent : facts.join("; ");
}

// What takes longer: once nothing moves.
async function afterwards(mine, said) {
    let reply = /\bsim\.program\s*\{/.test(said) ? await second.ask(["step", "run", FILE, "--json"], said) : null;
    if (mine !== asked) return;
    showFilm(reply && firstOf(reply));
    if (!point) return;
    if (!point.ran) return lesson ? undefined : remedies(mine, said);
    const study = /sim\.study\s*\{/;
    reply = await second.ask(["run", FILE, "--json"], said.replace(study, "$& timeline = true,"));
    if (mine !== asked || !reply) return;
    showTimeline(firstOf(reply));
    const gpus = placeOf(said, SLIDERS[0]);
    if (!gpus || gpus.value !== point.gpus || /\bvary\s*=/.test(said)) {
        showCurve(null); // other counts are not one number away
    } else {
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

async function remedies(mine, said) {
    const reply = await second.ask(["explain", FILE, "--json"], said);
    if (mine === asked && reply) showRemedies(firstOf(reply) || {settings: [], together: []});
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
    showWaiting(false);
    if (!said) return;
    answer = said;
    point = said.step_time_s || said.ran === false ? said : (said.points || [])[said.points ? said.points.length - 1 : 0] || null;
    draw();
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
    let said = "copy the address: it is the link";
    try {
        await navigator.clipboard.writeText(location.href);
        said = "link copied";
    } catch (error) { /* a page from a disk may not */ }
    say(said);
}

async function report() {
    say("writing the report");
    const reply = await tutor.ask(["report", "run", FILE, "-o", "report.html"], text(), "report.html");
    if (!reply) return;
    if (!reply.wrote) return showProblems(reply.err || "error: no report");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([reply.wrote], {type: "text/html"}));
    link.download = "lockstep-report.html";
    link.click();
    say("report saved");
}

function pin(then = pinned ? null : point) {
    pinned = then;
    pinnedCurve = pinned ? curve : [];
    $("pin").setAttribute("aria-pressed", pinned ? "true" : "false");
    $("pin").textContent = pinned ? "Unpin" : "Pin this";
    draw();
    drawCurve();
}

// ---- What is open: the address says it.

async function route(atFirst) {
    const place = location.hash.match(/^#course(?:\/(\d+\.\d+))?$/), said = await scenarioOf(location.hash);
    if (place) return place[1] ? openProblem(place[1], atFirst) : openCourse();
    const leaves = document.body.dataset.view !== "playground";
    lesson = null;
    if (leaves) {
        pinnedAs = "pinned";
        drawNothing();
        pin(null);
        show("playground", "a cluster in a page");
        if (view) view.requestMeasure();
    }
    if (said && said !== text()) return put(said);
    if (!leaves) return;
    showSliders();
    if (text() === SCENARIOS.gpt3) showAnswer(FIRST);
    if (atFirst) await drawn();
    await simulate();
    if (said === null && location.hash.startsWith("#s="))
        listProblems($("problems"), [{what: "This link cannot be read.", hint: "a part of it may be missing; what is shown is what the page begins with"}], false);
}

const put = (said) => edit(0, text().length, said);

// ---- The beginning.

async function begin() {
    for (const name of Object.keys(SCENARIOS)) {
        const title = SCENARIOS[name].match(/^-- (.*)/)[1].replace(/\.$/, "");
        $("preset").append(new Option(title, name));
    }
    $("preset").value = "gpt3";
    buildSliders();
    listenToTimeline();
    listenToFilm();
    $("preset").addEventListener("change", () => put(SCENARIOS[$("preset").value]));
    $("pin").addEventListener("click", () => pin());
    $("share").addEventListener("click", share);
    $("report").addEventListener("click", report);
    $("explain").addEventListener("click", explain);
    $("words").addEventListener("toggle", () => $("words").open && showWords());
    listenToCourse();
    addEventListener("hashchange", () => route(false));
    document.querySelector(".skip").addEventListener("click", (event) => {
        event.preventDefault(); // the address says what is open
        $("answer").focus();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (paint(), paintFilm()));
    let width = 0;
    new ResizeObserver(([box]) => {
        if (box.contentRect.width === width) return; // only longer words
        width = box.contentRect.width;
        paint(), paintFilm(), drawCurve();
    }).observe(document.querySelector(".answer"));
    showSliders();
    const opened = route(true);
    await drawn();
    await program().catch(() => {}); // who asks it is told; the editor would keep its worker from starting
    await buildEditor();
    await opened;
}
begin();
