// What would make a job fit that does not: changes that the program has found, each a click that writes it into the scenario.

const INSIDE = {parallel: ["tp", "pp", "vpp", "cp", "ep", "zero"], batch: ["global", "micro", "accumulation"]};
const FITS = 0.05; // the chance to run out of memory that is taken for none

// `recompute = "full", tp = 4 (40.3 GiB)`, `zero = 1 and precision = fp8`: names and values, as a scenario has them.
function settingsIn(words) {
    return [...words.matchAll(/\b(\w+) = ("[^"]*"|[\w.+-]+)/g)].map(([, name, value]) =>
        [name === "micro_batch" ? "micro" : name, /^("|[\d.]+$|true$|false$)/.test(value) ? value : `"${value}"`]);
}

// Where it stands in the scenario it is changed; else it is added to its table.
function withSetting(said, [name, value]) {
    const place = placeOf(said, {place: new RegExp(`\\b${name}\\s*=\\s*("[^"\\n]*"|[\\w.]+)`, "g"), names: true});
    if (place) return said.slice(0, place.from) + value + said.slice(place.to);
    const table = Object.keys(INSIDE).find((of) => INSIDE[of].includes(name));
    const inside = table && said.match(new RegExp(`\\b${table}\\s*=\\s*\\{`)), opens = inside || said.match(/\bsim\.training\s*\{/);
    if (!opens) return said;
    const at = opens.index + opens[0].length, words = `${name} = ${value}`, line = (said.slice(at).match(/^\n[ \t]+/) || [" "])[0];
    return said.slice(0, at) + line + (table && !inside ? `${table} = { ${words} },` : words + ",") + said.slice(at);
}

function remedy(words, beside) {
    const button = Object.assign(document.createElement("button"), {type: "button"});
    button.append(Object.assign(document.createElement("code"), {textContent: words.replace(/ = /g, "\u00a0=\u00a0")}), " ", Object.assign(document.createElement("small"), {textContent: beside}));
    button.addEventListener("click", () => {
        put(settingsIn(words).reduce(withSetting, text()));
        $("answer").focus({preventScroll: true});
    });
    return button;
}

// The quickest three; one that does more than another, and fits as well, is left out.
function fitting(rows) {
    const kept = [], named = (row) => settingsIn(row.change).map((pair) => pair.join("="));
    for (const row of rows.filter((of) => of.chance_to_run_out <= FITS).sort((a, b) => named(a).length - named(b).length))
        if (!kept.some((less) => named(less).every((setting) => named(row).includes(setting)))) kept.push(row);
    return kept.sort((a, b) => a.step_s - b.step_s).slice(0, 3);
}

// explained: what `lockstep explain` says of the job, which comes later.
function showRemedies(explained) {
    const memory = point.memory_bytes, lacks = point.ran === false && memory && memory.peak > memory.capacity, list = [];
    $("remedies").hidden = !lacks;
    if (!lacks) return;
    const [, least, bytes] = (point.smallest_change || "").match(/^(.*) \((.*)\)$/) || [];
    if (least) list.push(remedy(least, bytes + " of " + gib(memory.capacity) + " GiB"));
    for (const row of explained ? fitting([...explained.settings, ...explained.together]) : [])
        list.push(remedy(row.change, gib(row.memory_gib * 2 ** 30) + " GiB, a step of " + seconds(row.step_s)));
    const none = explained ? "No change of these settings makes it fit: it takes more GPUs, or a smaller model." : "Looking for changes that make it fit.";
    $("remedies").replaceChildren(Object.assign(document.createElement("p"), {textContent: list.length ? "It fits with:" : none}), ...list);
}
