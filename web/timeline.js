// The timeline of a step, and the walk through its events.

let bars = [], rows = [], events = [0], from = 0, to = 1, end_s = 1;

function showTimeline(said) {
    bars = said && said.timeline && !(film && film.holds) ? said.timeline : []; // chunk by chunk it is there already
    rows = [...new Set(bars.flatMap((bar) => [bar.row.replace(/ transfers$/, ""), bar.row]))].sort((a, b) => a.localeCompare(b, "en", {numeric: true}));
    $("timeline").hidden = bars.length === 0;
    if (bars.length === 0) return;
    end_s = Math.max(...bars.map((bar) => bar.end_s));
    const passes = bars.filter((bar) => !isThin(bar.row));
    events = [...new Set((passes.length ? passes : bars).map((bar) => bar.start_s))].sort((a, b) => a - b);
    events.push(end_s);
    from = 0;
    to = end_s;
    const beside_s = point.step_time_s.p50 - end_s;
    $("timeline").querySelector("figcaption").replaceChildren("The step in time, " + (answer.layout === null ? "rank by rank" : "one GPU of each stage"),
        ...beside_s > 0.005 * end_s ? [make("small", {}, "without the " + seconds(beside_s) + " that software loses")] : []);
    $("causes").replaceChildren(...[...new Set(bars.map((bar) => bar.cause))].map((cause) => {
        const item = document.createElement("li"), key = document.createElement("span");
        key.className = "key";
        key.style.background = looked(causes(), cause)[1];
        item.append(key, looked(causes(), cause)[0]);
        return item;
    }));
    $("timeline").querySelector("canvas").style.height = Math.min(28, 3 + 2.3 * rows.filter((row) => !isThin(row)).length) + "rem";
    $("event").max = events.length - 1;
    $("event").value = Math.floor((events.length - 1) / 3);
    showEvent();
}

// Black letters on a light bar, white ones on a dark bar: where both could be read alike, at 0.18 of the light of white.
function inkOn(color) {
    const [red, green, blue] = [1, 3, 5].map((at) => (parseInt(color.slice(at, at + 2), 16) / 255) ** 2.2);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? "#000000" : "#ffffff";
}

const isThin = (row) => row.endsWith("transfers");
const named = (row) => row || "GPU";
const passOf = (name) => (name.match(/^[A-Z](\d+)$/) || [])[1]; // F3: of micro-batch 3

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
    const each = Math.ceil(12 / (unit * (1 + 0.42 * (rows.some(isThin) ? 1 : 0)))); // of so many rows one has room for its name
    let at = 0, index = 0;
    for (const row of rows) {
        const tall = unit * (isThin(row) ? 0.42 : 1);
        tops[row] = [at, Math.max(1, tall - (isThin(row) ? 3 : 1))];
        at += tall;
        if (!isThin(row)) {
            pen.fillStyle = ink("idle");
            pen.fillRect(left, tops[row][0], width - left, tops[row][1]);
            pen.fillStyle = ink("quiet");
            if (index++ % each === 0) pen.fillText(named(row), 0, Math.max(10, tops[row][0] + tops[row][1] / 2 + 4), left - 6);
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
        pen.fillStyle = looked(causes(), bar.cause)[1];
        pen.fillRect(a, top, Math.max(wide - (wide > 3 ? 0.75 : 0), 0.4), tall);
        if (wide > 22 && tall > 13 && bar.name && !isThin(bar.row)) {
            pen.fillStyle = inkOn(looked(causes(), bar.cause)[1]);
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
    return from_stage && from_stage !== row ? "waits for " + named(from_stage) + ", micro-batch " + passOf(next.name) : "waits";
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
        const item = document.createElement("li"), pass = does && passOf(does.name);
        item.append(Object.assign(document.createElement("b"), {textContent: named(row)}), " ",
            does ? pass ? looked(causes(), does.cause)[0].toLowerCase() + " of micro-batch " + pass : does.name || looked(causes(), does.cause)[0].toLowerCase()
                : moves ? "waits: " + looked(causes(), moves.cause)[0].toLowerCase() : waitsFor(row, now));
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
