// An answer drawn: words and figures, bars of parts, links, the scaling curve.

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
    gemm: ["Matrix multiplication", "#2f5c9e"], attention: ["Attention", "#5f96d6"], conv: ["Convolutions", "#3f78bd"],
    "memory-bound": ["Memory-bound kernels", "#a9cdee"], launch: ["Kernel launches", "#6f7b8a"], recompute: ["Recomputation", "#7357a8"],
    optimizer: ["Optimizer", "#b9a3da"], tp: ["Tensor parallel", "#e69f00"], pp: ["Pipeline", "#f3dc5a"], dp: ["Data parallel", "#d5482a"],
    ep: ["Expert parallel", "#cc79a7"], cp: ["Context parallel", "#8c2d55"], copy: ["Copies", "#8c6d46"], data: ["Data loading", "#009e73"],
    host: ["Host", "#8ad1b2"], other: ["Other", "#c3c8ce"], forward: ["Forward", "#5f96d6"], backward: ["Backward", "#2f5c9e"],
    "weight-gradient": ["Weight gradients", "#a9cdee"], compute: ["Compute", "#2f5c9e"],
};
// What a program written by hand does has no strategy.
const OF_PROGRAM = {...CAUSES, gemm: ["Compute", CAUSES.gemm[1]], pp: ["Sends and receives", CAUSES.pp[1]], dp: ["Collectives", CAUSES.dp[1]]};
const causes = () => answer && answer.layout === null ? OF_PROGRAM : CAUSES;
const CLASSES = {
    weights: ["Weights", "#2f5c9e"], gradients: ["Gradients", "#5f96d6"], optimizer: ["Optimizer state", "#a9cdee"],
    activations: ["Activations", "#e69f00"], working: ["Working space", "#f3dc5a"], buffers: ["Buffers", "#cc79a7"], reserve: ["Framework's reserve", "#c3c8ce"],
};
const looked = (looks, name) => looks[name] || [name, "#c3c8ce"];

const AGAINST = {pinned: "what is pinned", "at first": "the start"};

function change(now, then, moreIsBetter) {
    const span = document.createElement("span"), share = now / then - 1;
    const words = share < 9 ? (share > 0 ? "+" : "−") + Math.abs(100 * share).toFixed(1) + " %" : "×" + figure(now / then, 3);
    const part = Object.assign(document.createElement("b"), {textContent: words});
    if (Math.abs(share) < 5e-4) {
        span.textContent = "as " + pinnedAs;
    } else {
        part.className = (share > 0) === moreIsBetter ? "better" : "worse";
        span.append(part, " against " + AGAINST[pinnedAs]);
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
    if (p.mfu) facts.push(fact("MFU", percent(p.mfu), "of the GPUs' peak", p.mfu, q.mfu, true));
    if (p.efficiency_vs_ideal) facts.push(fact("Compute", percent(p.efficiency_vs_ideal), "of the step", p.efficiency_vs_ideal, q.efficiency_vs_ideal, true));
    if (memory.peak) facts.push(fact("Memory", gib(memory.peak) + " GiB", "of " + gib(memory.capacity) + " GiB", memory.peak, of(q.memory_bytes, "peak"), false));
    if (p.power_watts) facts.push(fact("Power", watts(p.power_watts), "at the wall", p.power_watts, q.power_watts, false));
    if (p.goodput) facts.push(fact("Goodput", percent(p.goodput), "of the time is progress", p.goodput, q.goodput, true));
    if (p.days) facts.push(fact("The whole run", seconds(86400 * p.days), p.days_range ? seconds(86400 * p.days_range.p5) + " to " + seconds(86400 * p.days_range.p95) : "for all its data", p.days, q.days, false));
    if (p.cost && p.cost.per_run) facts.push(fact("Cost", scaled(p.cost.per_run, [[1e6, "million"], [1e3, "thousand"], [1, ""]]), p.cost.currency, p.cost.per_run, of(q.cost, "per_run"), false));
    $("facts").replaceChildren(...facts);
}

function showLead() {
    const what = answer.title || "";
    $("lead").textContent = point.ran === false ? what + ": this does not run" + (point.why_not ? ": " + point.why_not : "") + "." + (lesson && point.smallest_change ? " It would with " + point.smallest_change + "." : "")
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
    const differs = then && Object.keys(parts).some((name) => say(then[name] || 0) !== say(parts[name]));
    if (differs) table.createTHead().insertRow().append(...["", "now", "", pinnedAs].map((words) => Object.assign(document.createElement("th"), {textContent: words, scope: "col"})));
    const body = table.createTBody();
    for (const [name, value] of Object.entries(parts).sort((a, b) => b[1] - a[1])) {
        const was = then ? then[name] || 0 : 0;
        if (!(value > 0) && !(was > 0)) continue;
        const row = body.insertRow(), look = looked(looks, name), key = document.createElement("span");
        key.className = "key";
        key.style.background = look[1];
        row.insertCell().append(key, look[0]);
        row.insertCell().textContent = say(value);
        row.insertCell().textContent = of > 0 ? percent(value / of) : "";
        if (differs) row.insertCell().textContent = say(was);
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

// Of what came before nothing stays.
function drawNothing() {
    era++;
    asked++;
    answer = point = null;
    curve = [];
    bars = [];
    film = null;
    $("lead").textContent = "";
    $("remedies").hidden = true;
    for (const id of ["facts", "cautions", "problems", "faults"]) $(id).replaceChildren();
    for (const figure of document.querySelectorAll(".answer figure")) figure.hidden = true;
    document.querySelector(".answer").classList.remove("stale", "waiting");
}

function showTooMuch(memory) {
    const over = memory ? memory.peak - memory.capacity : 0;
    $("memory").querySelector("small").textContent = over > 0 ? gib(over) + " GiB too much: it has " + gib(memory.capacity) + " GiB, up to the line" : "";
}

function draw() {
    if (!point) return;
    showLead();
    showRemedies(null);
    showFacts();
    const ran = point.ran !== false && point.step_time_s, memory = point.memory_bytes;
    $("breakdown").hidden = !ran || !point.exposed_s;
    $("memory").hidden = !memory || !memory.by_class || !memory.peak;
    if (ran && point.exposed_s) {
        const sum = Object.values(point.exposed_s).reduce((a, b) => a + b, 0);
        showStack("breakdown", point.exposed_s, 0, causes(), seconds, pinned && pinned.ran !== false && pinned.exposed_s, sum);
    }
    showTooMuch(memory);
    if (!$("memory").hidden)
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
    svg.append(element("text", {x: left, y: height - 4}, "GPUs" + (then.length > 1 && !narrow ? " (grey: as " + pinnedAs + ")" : "") + "; " + (start.tokens_per_s ? "tokens" : "samples") +
        "/s, % of linear from " + whole(start.gpus) + " on"));
    box.replaceChildren(svg);
}
