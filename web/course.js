// The course: problems are asked, guessed, checked and told by the program, by the words that a shell would say.

let lesson = null; // the problem on show: told by the program; its file; what the student set; what the store keeps of it
const ANEW = "Begin anew";
const NAMES = ["the concept", "the principle", "the answer"]; // of hints

// ---- What is kept: of each seed, by problem, the guess, the changes, whether it is solved. In memory where no store is.

const kept = new Map();
function recall(key) {
    if (kept.has(key)) return kept.get(key);
    try {
        const said = JSON.parse(localStorage.getItem("lockstep " + key));
        return said && typeof said === "object" ? said : {};
    } catch (error) {
        return {};
    }
}
function keep(key, said) {
    kept.set(key, said);
    try {
        localStorage.setItem("lockstep " + key, JSON.stringify(said));
    } catch (error) { /* no store, or a full one */ }
}
const student = () => ({seed: 1, name: "", ...recall("student")});
const progress = () => recall("course " + student().seed);
function keepOf(id, said) { keep("course " + student().seed, {...progress(), [id]: {...progress()[id], ...said}}); }

// ---- Asking.

async function tell(words, said = "", wanted = undefined) {
    const reply = await tutor.ask(["lesson", ...words, "--json"], said, wanted);
    if (!reply) return null; // a newer one took its place
    const told = firstOf(reply), problems = problemsIn(reply.err);
    return {...told, wrote: reply.wrote, problems: told ? [] : problems.length ? problems : [{what: reply.err || "no answer"}]};
}

const quoted = (literal) => literal.startsWith("\"");
const plain = (literal) => quoted(literal) ? literal.slice(1, -1) : literal;
const like = (literal, typed) => quoted(literal) ? "\"" + typed.replace(/["\\]/g, "").trim() + "\"" : typed.trim() || "nil";

function fileOf(of) {
    let said = of.text;
    for (const [name, literal] of Object.entries(of.set))
        said = said.replace(new RegExp("^(  " + name + " = ).*?(, +-- )", "m"), (all, before, behind) => before + literal + behind);
    return said;
}

// ---- Pieces of the page.

function make(tag, attributes, ...inside) {
    const node = Object.assign(document.createElement(tag), attributes);
    node.append(...inside);
    return node;
}

function show(name, title) {
    document.body.dataset.view = name;
    document.title = title + " · lockstep";
    for (const link of document.querySelectorAll("header nav a"))
        link.setAttribute("aria-current", (link.hash === "#course") === (name !== "playground") ? "page" : "false");
    $("state").textContent = "";
    scrollTo(0, 0);
}

// ---- The glossary: each of its words is marked where a problem says it first, and told where one points at it.

function markWords(...nodes) {
    for (const node of nodes)
        for (const [word, what] of Object.entries(COURSE.words)) {
            if (lesson.marked.has(word)) continue;
            const small = word[0] === word[0].toLowerCase(), way = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
            const place = new RegExp("(?<![A-Za-z])" + word + "s?(?![A-Za-z])", small ? "i" : "");
            for (let at = way.nextNode(); at; at = way.nextNode()) {
                const found = at.parentElement.closest(".term, code, a, button") ? null : at.data.match(place);
                if (!found) continue;
                const said = at.splitText(found.index);
                said.splitText(found[0].length);
                said.replaceWith(make("span", {className: "term", tabIndex: 0, title: "", ariaDescription: what}, found[0]));
                lesson.marked.add(word);
                break;
            }
        }
}

function showTip(term) {
    const tip = $("tip"), box = term && term.getBoundingClientRect();
    tip.hidden = !term;
    if (!term) return;
    tip.textContent = term.ariaDescription;
    tip.style.left = Math.max(8, Math.min(box.left, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = (box.bottom + tip.offsetHeight + 8 < innerHeight ? box.bottom + 6 : box.top - tip.offsetHeight - 6) + "px";
}

function listenToWords() {
    for (const begin of ["mouseover", "focusin"]) addEventListener(begin, (event) => showTip(event.target.closest && event.target.closest(".term")));
    addEventListener("focusout", () => showTip(null));
    addEventListener("scroll", () => showTip(null), true);
    addEventListener("keydown", (event) => event.key === "Escape" && showTip(null));
}

// ---- The list.

function openCourse() {
    lesson = null;
    drawNothing();
    show("list", "The course");
    $("seed").value = student().seed;
    $("student").value = student().name;
    $("code").hidden = true;
    $("path").replaceChildren(new Option("all problems", ""), ...[...new Set(COURSE.problems.flatMap((row) => row.paths.match(/[^:;]+(?=:)/g) || [])
        .map((path) => path.trim()))].map((path) => new Option(path)));
    showTracks();
}

function showTracks() {
    const of = progress(), only = $("path").value;
    const rows = COURSE.problems.filter((row) => !only || row.paths.includes(only));
    const solved = (list) => list.filter((row) => (of[row.id] || {}).solved).length;
    const when = (row) => only ? row.paths.split("; ").find((path) => path.startsWith(only)).split(": ")[1] : "";
    $("solved").textContent = solved(rows) + " of " + rows.length + " solved";
    $("tracks").replaceChildren(...[...new Set(rows.map((row) => row.track))].map((track) => {
        const mine = rows.filter((row) => row.track === track);
        const list = make("ol", {}, ...mine.map((row) => {
            const state = (of[row.id] || {}).solved ? "solved" : (of[row.id] || {}).guess ? "begun" : "";
            return make("li", {className: state}, make("a", {href: "#course/" + row.id}, make("span", {className: "number"}, row.id), row.title),
                make("small", {}, state || when(row)));
        }));
        return make("section", {}, make("h3", {}, mine[0].id.split(".")[0] + " " + track, make("small", {}, solved(mine) + " of " + mine.length)), list);
    }));
}

// Each solved problem once more, for a line of the code that bears the student's name.
async function writeCode() {
    const name = $("student").value.trim().replace(/[^\p{L}\p{N}_-]+/gu, "-") || "me", file = name + ".code", of = progress();
    keep("student", {...student(), name});
    $("student").value = name;
    let lines = "";
    const solved = COURSE.problems.filter((row) => (of[row.id] || {}).solved);
    $("code").hidden = false;
    for (const [i, row] of solved.entries()) {
        $("code-state").textContent = "writing line " + (i + 1) + " of " + solved.length;
        const told = await tell(["start", row.id, "--seed", String(student().seed)]);
        const guessed = told && await tell(["guess", FILE, of[row.id].guess], told.text, FILE);
        const done = guessed && await tell(["check", FILE, "--code", file], fileOf({text: guessed.wrote, set: of[row.id].set}), file);
        if (!done) return;
        lines += done.wrote || "";
    }
    $("code-state").textContent = lines ? "Hand in " + file + ": each of its lines bears your name." : "Nothing is solved yet.";
    $("code-text").value = lines;
    $("code-text").rows = Math.min(16, Math.max(3, lines.split("\n").length));
    $("code-save").download = file;
    $("code-save").href = URL.createObjectURL(new Blob([lines], {type: "text/plain"}));
    for (const id of ["code-text", "code-copy", "code-save"]) $(id).hidden = !lines;
}

async function copyCode() {
    let said = "copied";
    try {
        await navigator.clipboard.writeText($("code-text").value);
    } catch (error) { // a page from a disk may not
        $("code-text").select();
        said = document.execCommand("copy") ? said : "marked: copy it with Ctrl-C";
    }
    $("code-state").textContent = said;
}

// ---- A problem.

async function openProblem(id, atFirst) {
    lesson = null;
    drawNothing();
    pin(null);
    pinnedAs = "at first";
    const told = await tell(["start", id, "--seed", String(student().seed)]);
    if (!told || location.hash !== "#course/" + id) return;
    if (told.problems.length) { // the address names none
        openCourse();
        say(told.problems[0].what);
        return;
    }
    lesson = {id, told, text: told.text, set: {}, marked: new Set()};
    show("problem", told.id + " " + told.title);
    $("p-track").textContent = told.id.split(".")[0] + " " + told.track;
    $("p-title").replaceChildren(make("span", {className: "number"}, told.id), " ", told.title);
    $("p-question").textContent = told.question;
    $("p-ask").textContent = told.ask;
    $("p-task").textContent = told.task;
    $("source").open = true;
    $("source").querySelector("pre").replaceChildren(...told.text.split(/^-{20,}\n/m)[1].trimEnd().split("\n").map(lineOf));
    $("p-settings").replaceChildren(...told.settings.map(fieldOf));
    showGuessing();
    markWords($("p-question"), $("p-ask"), $("p-task"));
    showHints(0);
    $("p-result").replaceChildren();
    if (!atFirst) $("p-title").focus({preventScroll: true});
    const known = progress()[id] || {};
    if (known.guess) await takeGuess(known.guess, known);
}

// A line of a scenario: where it is too long, it goes on further in than it began.
function lineOf(text) {
    const line = make("span", {className: "line"}, text + "\n");
    line.style.setProperty("--in", Math.min(4, text.search(/\S|$/)) + 4 + "ch");
    return line;
}

// The field of a guess; with what was right beside it once it is given.
function showGuessing(guessed) {
    const {guess_help, guess_unit, guess_may_be} = lesson.told;
    document.body.dataset.guessed = guessed ? "yes" : "no";
    $("p-settings").disabled = $("check").disabled = !guessed;
    $("open").hidden = !guessed;
    $("p-guess").hidden = !!guessed;
    $("p-verdict").hidden = !guessed;
    $("p-faults").replaceChildren();
    if (guess_may_be)
        $("p-field").replaceChildren(...guess_may_be.split(", ").map((choice, i) => make("label", {className: "choice"},
            make("input", {type: "radio", name: "guess", id: "guess-" + i, value: choice, required: true}), choice)));
    else
        $("p-field").replaceChildren(make("input", {id: "guess", name: "guess", type: "text", inputMode: "decimal", autocomplete: "off", required: true,
            size: 8, ariaLabel: "Your guess " + guess_help}), make("span", {}, guess_unit), make("small", {}, guess_help.replace(/^in [^,]*, /, "") + " counts as right"));
    if (!guessed) return;
    $("p-verdict").replaceChildren(make("p", {}, "You said ", make("b", {}, guessed.guess), ". The simulation says ", make("b", {}, guessed.truth), ": ",
        make("b", {className: guessed.guess_right ? "better" : "worse"}, guessed.guess_right ? "right." : "not near enough.")), guessed.why || "");
    markWords($("p-verdict"));
}

async function takeGuess(value, known = null) {
    const of = lesson, told = await tell(["guess", FILE, value], of.told.text, FILE);
    if (!told || of !== lesson) return;
    if (told.problems.length) return listProblems($("p-faults"), told.problems, false);
    of.text = told.wrote;
    keepOf(of.id, {guess: value, set: {}, ...known});
    showGuessing(told);
    $("source").open = false;
    await simulate();
    if (of !== lesson) return;
    pin(point);
    if (!known) $("p-verdict").focus({preventScroll: true});
    if (!known || !Object.keys(known.set).length) return;
    of.set = {...known.set};
    for (const name of Object.keys(of.set)) $("set-" + name).value = plain(of.set[name]);
    await simulate();
    if (known.solved && of === lesson) await checkChange();
}

// A setting: the student's to change, or shown.
function fieldOf(setting) {
    const id = "set-" + setting.name, may_be = /^(true|false)$/.test(setting.value) ? "false, true" : setting.may_be;
    let field;
    if (!setting.free) field = make("output", {id}, plain(setting.value));
    else if (may_be) field = make("select", {id}, ...may_be.split(", ").map((value) => new Option(value)));
    else field = make("input", {id, type: "text", autocomplete: "off", spellcheck: false, inputMode: quoted(setting.value) ? "text" : "decimal"});
    field.value = plain(setting.value);
    const help = make("small", {id: id + "-help"});
    const explain = (fault) => {
        help.className = fault ? "worse" : "";
        help.textContent = fault || (may_be ? setting.help.replace(/ ?\(lockstep [^)]*\)/, "") : setting.help);
        if (setting.free) field.setAttribute("aria-invalid", fault ? "true" : "false");
    };
    const listens = () => {
        const fault = faultOf(setting, field.value);
        explain(fault);
        if (fault) return void document.querySelector(".answer").classList.add("stale");
        lesson.set[setting.name] = like(setting.value, field.value);
        if (lesson.set[setting.name] === setting.value) delete lesson.set[setting.name];
        keepOf(lesson.id, {set: {...lesson.set}});
        $("p-result").classList.add("stale");
        clearTimeout(resting);
        simulate();
    };
    explain("");
    if (setting.free) field.addEventListener("input", listens);
    field.setAttribute("aria-describedby", help.id);
    return make("div", {className: setting.free ? "setting free" : "setting"}, make("label", {htmlFor: id}, setting.name), field, help);
}

// Why what is typed cannot be meant. A whole number's least and most stand at the end of what the program says of it.
function faultOf(setting, typed) {
    const range = setting.help.match(/, (\d+) to (\d+)$/), number = Number(typed);
    if (!typed.trim()) return setting.name + " is empty: at first it was " + plain(setting.value) + ".";
    if (quoted(setting.value) || /^(true|false)$/.test(setting.value)) return "";
    if (range && !(Number.isInteger(number) && number >= range[1] && number <= range[2])) return setting.name + " is a whole number from " + range[1] + " to " + range[2] + ".";
    return Number.isFinite(number) && /^[-+.\de]+$/i.test(typed.trim()) ? "" : setting.name + " is a number, such as " + setting.value + ".";
}

async function checkChange() {
    const of = lesson, invalid = $("p-settings").querySelector("[aria-invalid=true]");
    if (invalid) return invalid.focus(); // which reads out what is wrong
    $("check").disabled = true;
    const told = await tell(["check", FILE], fileOf(of));
    $("check").disabled = false;
    if (!told || of !== lesson) return;
    if (told.right) keepOf(of.id, {set: {...of.set}, solved: true});
    showResult(told);
}

const FIGURES = {time: seconds, bytes: (b) => gib(b) + " GiB", share: percent, days: (d) => figure(d, 3) + " days", money: (m) => figure(m, 3) + " USD", kwh: (k) => scaled(k, [[1e6, "GWh"], [1e3, "MWh"], [1, "kWh"]])};

function showResult(told) {
    const box = $("p-result"), table = make("table", {className: "legend"});
    box.classList.remove("stale");
    if (told.problems.length) {
        const list = make("ul", {className: "problems"});
        listProblems(list, told.problems, false);
        return box.replaceChildren(list);
    }
    table.createTHead().insertRow().append(...["", "as asked", "changed"].map((words) => make("th", {scope: "col"}, words)));
    for (const row of told.figures) {
        const say = (n) => n === null ? "does not run" : (FIGURES[row.unit] || figure)(n), cells = table.createTBody().insertRow();
        cells.append(make("th", {scope: "row", className: row.figure.startsWith(" ") ? "part" : ""}, row.figure.trim()));
        cells.insertCell().textContent = say(row.as_asked);
        cells.insertCell().textContent = say(row.changed);
    }
    const said = make("dl", {}, ...[["Notice", told.notice], ["Formula", told.formula], ["Measured", told.measured]].filter((row) => row[1])
        .flatMap(([title, words]) => [make("dt", {}, title), make("dd", {}, words)]));
    box.replaceChildren(make("h3", {className: told.right ? "better" : "worse"}, told.right ? "Solved." : "Not solved."),
        make("p", {}, told.why || ""), told.figures.length ? table : "", said);
    if (told.right) box.append(make("p", {className: "next"}, told.next
        ? make("a", {className: "button", href: "#course/" + told.next}, "Next: " + told.next + " " + COURSE.problems.find((row) => row.id === told.next).title)
        : make("a", {className: "button", href: "#course"}, "That was the last: back to the list")));
    markWords(box);
    box.focus({preventScroll: true});
    const panel = $("problem"), above = box.getBoundingClientRect().top - 16;
    if (panel.scrollHeight > panel.clientHeight + 1) panel.scrollBy(0, above - panel.getBoundingClientRect().top);
    else box.scrollIntoView({block: "start"});
}

function showHints(count) {
    if (count === 0) $("p-hints").replaceChildren();
    $("hint").hidden = count === 3;
    $("hint").textContent = "Hint " + (count + 1) + ": " + NAMES[count];
}

async function takeHint() {
    const of = lesson, number = $("p-hints").children.length + 1;
    const told = await tell(["hint", of.id, String(number), "--seed", String(student().seed)]);
    if (!told || !told.hint || of !== lesson || $("p-hints").children.length >= number) return;
    $("p-hints").append(make("li", {}, told.hint));
    markWords($("p-hints").lastChild);
    showHints(number);
}

// What is lost is told first.
function beginAnew() {
    const asks = $("anew").textContent === ANEW, known = progress()[lesson.id] || {};
    $("anew").textContent = asks && known.guess ? "Lose guess and changes?" : ANEW;
    if (asks && known.guess) return;
    keepOf(lesson.id, {guess: "", set: {}, solved: false});
    openProblem(lesson.id, false);
}

function listenToCourse() {
    $("p-guess").addEventListener("submit", (event) => {
        event.preventDefault();
        takeGuess(String(new FormData($("p-guess")).get("guess")).trim());
    });
    $("p-change").addEventListener("submit", (event) => (event.preventDefault(), checkChange()));
    $("hint").addEventListener("click", takeHint);
    $("anew").addEventListener("click", beginAnew);
    $("anew").addEventListener("blur", () => $("anew").textContent = ANEW);
    listenToWords();
    $("open").addEventListener("click", async () => location.hash = await fragmentOf(fileOf(lesson)));
    $("path").addEventListener("change", showTracks);
    $("seed").addEventListener("change", () => {
        keep("student", {...student(), seed: Math.max(1, Math.floor(Number($("seed").value)) || 1)});
        $("seed").value = student().seed;
        $("code").hidden = true;
        showTracks();
    });
    $("hand-in").addEventListener("submit", (event) => (event.preventDefault(), writeCode()));
    $("code-copy").addEventListener("click", copyCode);
}
