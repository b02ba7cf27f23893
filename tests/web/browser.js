// node tests/web/browser.js chromium|firefox PROGRAM PAGE BUILD FILE…: opens the page from the disk in that browser without
// a window, light and dark, wide and narrow: is there an answer, does a slider change it and the text, is a mistake shown
// at its line, does a script without end end, do scenarios answer there as the native program does? And the course: is
// every problem solved by its solution, is what is wrong told, is it all there when the page is opened again?
"use strict";
const fs = require("fs"), os = require("os"), path = require("path"), {spawnSync} = require("child_process");
const access = require("./access.js");
const [kind, program, page, build, ...scenarios] = process.argv.slice(2);

const home = fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-web-"));
let browser;
const open = (width, theme, fragment = "") => browser.open(width, theme, "file://" + path.resolve(page) + fragment);

// Until it holds, in real time: what a page waits for, its workers do.
async function until(look, expression) {
    for (let i = 0; i < 1200; i++) {
        if (await look(expression).catch(() => false)) return true;
        await new Promise((done) => setTimeout(done, 100));
    }
    return false;
}

let passed = 0, failed = 0;
function check(holds, what) {
    if (holds) passed++;
    else failed++;
    if (!holds) console.log("FAILED " + what);
}

// Where the browser tells what a screen reader is given.
async function accessible(look, where) {
    if (!look.tree) return;
    const faults = [...await access.spoken(look), ...await access.reached(look)];
    check(faults.length === 0, where + ": " + faults.slice(0, 8).join("; "));
}

const SAID = "document.getElementById('said').textContent";
const FACT = "document.querySelector('#facts dd').firstChild.textContent";
const ANSWERED = "/answered/.test(document.getElementById('state').textContent)";
const PROBLEM = "document.getElementById('problems').textContent";
const put = (text) => "(() => { const view = CM.EditorView.findFromDOM(document.querySelector('.cm-editor')); " +
    "view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: " + JSON.stringify(text) + "}}); })()";

async function usual(width, theme) {
    const look = await open(width, theme), where = width + " " + theme + ": ";
    check(await until(look, ANSWERED), where + "the program answers");
    check(await look("document.querySelectorAll('#facts dd').length >= 5"), where + "facts are shown");
    check(await until(look, "!!document.querySelector('#curve svg') && document.querySelector('#causes').children.length > 2"),
        where + "the curve and the timeline are drawn");
    check(await look("document.documentElement.scrollWidth <= innerWidth"), where + "nothing is wider than the window");
    const before = await look(FACT);
    await look("(() => { const s = document.getElementById('s-fabric'); s.value = 2; s.dispatchEvent(new Event('input')); })()");
    check(await until(look, FACT + " !== " + JSON.stringify(before)), where + "a slider changes the answer");
    check(await look("/fabric = \"eth-100g\"/.test(document.querySelector('.cm-content').textContent)"), where + "and the scenario");
    check(await until(look, SAID + ".includes(" + FACT + ")"), where + "and is read out");
    await accessible(look, where + "the playground");
    return look;
}

async function brokenLink() {
    const look = await open(1280, "light", "#s=cut off");
    check(await until(look, PROBLEM + ".includes('This link cannot be read')"), "a link that cannot be read says so");
}

// The first picture needs no program: a folder that lacks it, and then says so.
async function beforehand() {
    const folder = path.join(home, "part");
    fs.mkdirSync(folder);
    for (const file of ["index.html", "lockstep.js"]) fs.copyFileSync(path.join(path.dirname(page), file), path.join(folder, file));
    const moved = "{ const slider = document.getElementById('s-gpus'); slider.value = 9; slider.dispatchEvent(new Event('input')); }\n";
    fs.writeFileSync(path.join(folder, "editor.js"), moved + fs.readFileSync(path.join(path.dirname(page), "editor.js")));
    const look = await browser.open(1280, "light", "file://" + folder + "/index.html");
    check(await until(look, PROBLEM + ".includes('engine.js is not beside this page')"), "a folder without the program says so");
    check(await look("document.querySelectorAll('#facts dd').length >= 5 && document.querySelector('#breakdown .legend').rows.length > 2"), "and has the first picture");
    check(await until(look, "/gpus = 512/.test((document.querySelector('.cm-content') || {}).textContent)"), "what a slider says before the editor is there stands in it");
    browser.said.length = 0;
}

async function mistakes(look) {
    await look(put("local sim = require \"lockstep\"\nreturn sim.study { on = sim.cluster { node = \"dgx-h10O\" } }"));
    check(await until(look, "/Line 2/.test(" + PROBLEM + ")"), "a mistake is shown at its line");
    check(await look("document.getElementById('problems').closest('[aria-live]') !== null"), "and read out");
    check(await look("getComputedStyle(document.getElementById('lead'), '::before').content") === '"Before the mistake: "'
        && await look("getComputedStyle(document.getElementById('facts')).opacity") === "1", "and the answer of before is told as such, and can be read");
    await accessible(look, "a mistake");
    await look(put("while true do end"));
    check(await until(look, "!/Line 2/.test(" + PROBLEM + ") && " + PROBLEM + " !== ''"), "a script without end ends");
    await look(put(fs.readFileSync("scenarios/lessons/halving_doubling.lua", "utf8")));
    check(await until(look, "/rank 0 sends and receives/.test(document.getElementById('now').textContent.replace('waits: ', ''))"), "a program that moves beside a main stream that does nothing has a timeline");
    await look("(() => { const s = document.getElementById('preset'); s.value = 'ethernet'; s.dispatchEvent(new Event('change')); })()");
    check(await until(look, PROBLEM + " === '' && /gpt2/.test(document.getElementById('lead').textContent)"), "and the page goes on");
    await look("window.raised = ''; new MutationObserver(() => window.raised += " + PROBLEM + ").observe(document.getElementById('problems'), {childList: true})");
    await look(put("while true do end"));
    check(await until(look, "document.querySelector('.answer.waiting') !== null"), "what is of before says so while something is simulated");
    await look("(() => { const s = document.getElementById('preset'); s.value = 'llama8b'; s.dispatchEvent(new Event('change')); })()");
    check(await until(look, "/llama/.test(document.getElementById('lead').textContent) && !document.querySelector('.answer.waiting')"), "the next answer comes");
    check(await look("window.raised") === "", "and does not wait for what it replaced, but: " + await look("window.raised"));
}

// What is too much is shown by part, and a click writes what makes it fit into the scenario.
async function tooLarge(look) {
    const fits = "[...document.querySelectorAll('#remedies button')]", scenario = "document.querySelector('.cm-content').textContent";
    const part = fs.readFileSync("web/scenarios/gpt3.lua", "utf8").replace("tp = 8", "tp = 1");
    await look(put(part));
    check(await until(look, `${fits}.length > 1`), "a job that does not fit is told what makes it fit");
    check(await look("/GiB too much/.test(document.getElementById('memory').textContent) && document.querySelectorAll('#memory .legend tr').length > 4"), "and what is too much, by part of memory");
    await accessible(look, "a job that does not fit");
    for (const last of [false, true]) {
        const clicked = await look(`(() => { const button = ${fits}.at(${last ? -1 : 0}); button.click(); return button.querySelector('code').textContent; })()`);
        for (const [, name, value] of clicked.matchAll(/(\w+)\s=\s("\w+"|\w+)/g))
            check(await look(`${scenario}.includes(${JSON.stringify(name + " = " + value)})`), "a click writes " + clicked + " into the scenario");
        check(await until(look, "/a step takes/.test(document.getElementById('lead').textContent) && document.getElementById('remedies').hidden"), "and it runs with " + clicked);
        await look(put(part));
        await until(look, `${fits}.length > 1 && !document.getElementById('remedies').hidden`);
    }
}

// WORKER and PROGRAM are the page's.
const ASK = `async (words, text) => {
    const packed = Uint8Array.from(atob(PROGRAM), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const worker = new Worker(URL.createObjectURL(new Blob([WORKER], {type: "text/javascript"})));
    worker.postMessage({module: await WebAssembly.compile(await new Response(stream).arrayBuffer())});
    const answer = await new Promise((done) => {
        worker.onmessage = (event) => done(event.data.answer);
        worker.postMessage({number: 1, words, files: {[words[1]]: text}});
    });
    worker.terminate();
    return answer.out;
}`;

async function answers(look) {
    const first = JSON.parse(await look("JSON.stringify([FIRST.out, SCENARIOS.gpt3])")), digest = (answer) => answer.match(/"digest": "\w+"/)[0];
    check(digest(first[0]) === digest(await look(`(${ASK})(["run", "scenario.lua", "--json"], ${JSON.stringify(first[1])})`)), "the first picture is the program's answer");
    for (const file of scenarios) {
        const words = ["run", file, "--json"];
        const native = spawnSync(path.join(build, "lockstep"), words, {maxBuffer: 1 << 30}).stdout.toString();
        const text = fs.readFileSync(file, "utf8");
        const web = await look("(" + ASK + ")(" + JSON.stringify(words) + ", " + JSON.stringify(text) + ")");
        const digests = (answer) => String(answer.match(/"digest": "\w+"/g));
        check(/digest/.test(native) && digests(web) === digests(native), file + " has the digests there that it has natively");
    }
}

// ---- The course.

const BODY = "document.body.dataset", RESULT = "document.getElementById('p-result').textContent";
const VERDICT = "document.getElementById('p-verdict').textContent", HASH = (id) => `location.hash = "#course/${id}"`;
const ON_SHOW = (id) => `${BODY}.view === "problem" && document.getElementById("p-title").textContent.startsWith("${id} ")`;
const GUESSED = `${BODY}.guessed === "yes" && /answered/.test(document.getElementById("state").textContent)`;
const set = (name, value) => `(() => { const field = document.getElementById(${JSON.stringify("set-" + name)});
    field.value = ${JSON.stringify(value)}; field.dispatchEvent(new Event("input", {bubbles: true})); return field.value; })()`;
const guess = (value) => `(() => { const choice = document.querySelector('#p-field input[value=${JSON.stringify(value)}]');
    if (choice) choice.click(); else document.getElementById("guess").value = ${JSON.stringify(value)};
    document.querySelector("#p-guess button").click(); })()`;
const FILM = "document.getElementById('film-now').textContent";
// Which letters on a canvas are too pale for what they stand on.
const LETTERS = `(() => {
    window.pale = [];
    const draw = CanvasRenderingContext2D.prototype.fillText, probe = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
    const light = (color) => color.slice(0, 3).map((part, i) => [0.2126, 0.7152, 0.0722][i] * (part <= 10 ? part / 3295 : ((part / 255 + 0.055) / 1.055) ** 2.4)).reduce((a, b) => a + b);
    CanvasRenderingContext2D.prototype.fillText = function (words, x, y, ...rest) {
        const aside = {left: 1, start: 1, right: -1}[this.textAlign] || 0, {x: at, y: low} = this.getTransform().transformPoint({x: x + aside, y: y - 4});
        probe.fillStyle = getComputedStyle(document.body).backgroundColor;
        probe.fillRect(0, 0, 1, 1);
        probe.drawImage(this.canvas, Math.floor(at), Math.floor(low), 1, 1, 0, 0, 1, 1);
        const under = light([...probe.getImageData(0, 0, 1, 1).data]), ink = light([1, 3, 5].map((i) => parseInt(this.fillStyle.slice(i, i + 2), 16)));
        if ((Math.max(under, ink) + 0.05) / (Math.min(under, ink) + 0.05) < 4.5) window.pale.push(words + " " + this.fillStyle);
        draw.call(this, words, x, y, ...rest);
    };
})()`;
const TIMELINE = "!document.getElementById('timeline').hidden";
const CHECK = "document.getElementById('check').click()";

// The right guess and the right change, of the program's own sheet.
async function solve(look, problem) {
    await look(HASH(problem.id));
    check(await until(look, ON_SHOW(problem.id)), problem.id + " is asked");
    check(await look("[...document.querySelectorAll('.answer > *')].every((part) => !part.offsetParent === !['source', 'not-yet'].includes(part.id))"),
        problem.id + " shows no answer before there is a guess");
    await look(guess(problem.answer.split(" ")[0]));
    check(await until(look, GUESSED) && await look(`/right\\.$/.test(${VERDICT})`), problem.id + ": the right guess is right");
    for (const [, name, quoted, plain] of problem.solution.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g))
        check(await look(set(name, quoted || plain)) === (quoted || plain), problem.id + ": " + name + " can be what solves it");
    await look(CHECK);
    check(await until(look, `${RESULT} !== ""`) && await look(`/^Solved.*Notice.*Formula.*Measured/s.test(${RESULT})`), problem.id + " is solved");
    check(await look("document.documentElement.scrollWidth <= innerWidth"), problem.id + " is not wider than the window");
    check(await look("[...document.querySelectorAll('.term')].every((term) => getComputedStyle(term).display === 'inline')"), problem.id + ": words that are told stand in their line");
}

// What cannot be meant is told below its field; neither the picture nor the check take it.
async function absurd(look) {
    const help = "document.getElementById('set-kib-help')", said = (words) => `${help}.className === "worse" && ${help}.textContent.includes(${JSON.stringify(words)})`;
    for (const [typed, words] of [["", "is empty"], ["abc", "is a number"], ["\"; x", "is a number"]]) {
        await look(set("kib", typed));
        check(await look(said(words)), "2.2: kib = " + typed + " is told so");
    }
    await look("document.getElementById('p-result').replaceChildren(); " + CHECK);
    check(await look(`document.activeElement.id === "set-kib" && ${RESULT} === ""`), "and leads back to its field");
    check(await look("document.querySelector('.answer.stale') !== null && document.getElementById('faults').textContent === ''"), "and the answer is that of before");
    await look(set("kib", "65536"));
    check(await until(look, `${help}.className === "" && !document.querySelector('.answer.stale')`), "a number is taken");
}

// A program written by hand: traffic behind compute, and by the names that the check has.
async function overlap(look) {
    check(await until(look, TIMELINE + " && /Collectives/.test(document.getElementById('causes').textContent)"), "2.6 has its traffic in the timeline");
    check(await look("/backward [0-9]/.test(document.getElementById('now').textContent) && !/micro-batch/.test(document.getElementById('now').textContent)"), "and says what ranks do by its name");
    check(await look("/Compute/.test(document.getElementById('breakdown').textContent)"), "as the breakdown does");
}

async function wrongs(look) {
    await look(HASH("2.1"));
    await until(look, ON_SHOW("2.1"));
    await accessible(look, "a problem");
    await look(guess("soon"));
    check(await until(look, "/a number, in ms/.test(document.getElementById('p-faults').textContent)"), "a guess that is none is told so");
    await look(guess("9000"));
    check(await until(look, GUESSED) && await look(`/not near enough/.test(${VERDICT})`), "a wrong guess is told so");
    check(await look("!!document.querySelector('#breakdown .legend tr') && !document.getElementById('breakdown').hidden"), "then there is a picture");
    check(await until(look, `/^Event [0-9]+ of 126.*rank 0 .*chunk/s.test(${FILM})`), "and the ring, chunk by chunk");
    const event = () => look(`Number(${FILM}.match(/^Event ([0-9]+)/)[1])`), at = await event();
    await look("document.getElementById('film-forth').click()");
    check(await event() === at + 1, "a button leads to its next event");
    await look("document.getElementById('film-back').click()");
    check(await event() === at, "and one back");
    check(await look("[...document.querySelectorAll('#p-question .term')].some((term) => term.textContent === 'all-reduce' || term.textContent === 'ring')"), "words are marked where they are said first");
    check(await look("(document.querySelector('#p-question .term').focus(), !document.getElementById('tip').hidden && document.getElementById('tip').textContent.endsWith('.'))"), "and told");
    await accessible(look, "a problem that is guessed");
    check(await look("document.getElementById('set-gpus').tagName === 'OUTPUT'"), "what is not the student's cannot be changed");
    await look(CHECK);
    check(await until(look, `/^Not solved.*Nothing has been changed/s.test(${RESULT})`), "no change is told so");
    const columns = "document.querySelector('#breakdown .legend tbody tr').cells.length";
    check(await look(columns) === 3, "what is as at first has no column beside it");
    await look(set("fabric", "eth-25g"));
    check(await until(look, columns + " === 4"), "what has changed has");
    await look(CHECK);
    check(await until(look, `/^Not solved.*a quarter of what was there/s.test(${RESULT})`), "a wrong change is told so, by name");
    for (const number of [1, 2, 3]) {
        await look("document.getElementById('hint').click()");
        check(await until(look, `document.querySelectorAll("#p-hints li").length === ${number}`), "hint " + number + " is given");
    }
    check(await look("document.getElementById('hint').hidden"), "and there is no fourth");
    await look("setTimeout(() => history.back(), 0)");
    check(await until(look, `${BODY}.view === "list"`), "back leads to the list");
}

async function course() {
    const look = await open(1280, "light", "#course");
    check(await until(look, "document.querySelectorAll('#tracks li').length === COURSE.problems.length"), "the address opens the list");
    await accessible(look, "the list");
    await wrongs(look);
    const told = spawnSync(path.join(build, "lockstep"), ["lesson", "sheet", "--answers", "--json"], {maxBuffer: 1 << 30});
    const problems = JSON.parse(told.stdout).problems;
    await look("location.hash = '#course/2.1'");
    await until(look, ON_SHOW("2.1"));
    await until(look, GUESSED);
    await look("document.getElementById('anew').click()");
    check(await look(`${BODY}.guessed === "yes" && /Lose/.test(document.getElementById("anew").textContent)`), "to begin anew is asked first");
    await look("document.getElementById('anew').click()");
    await until(look, `${BODY}.guessed === "no"`);
    await look(LETTERS);
    for (const problem of problems) {
        await solve(look, problem);
        if (problem.id === "2.6") await overlap(look);
        if (problem.id === "2.2") check(await look("/^×[0-9]+ against the start/.test(document.querySelector('#facts dd > :last-child').textContent)"), "many times as much is not said in hundredths");
        if (problem.id === "2.2") await absurd(look);
        if (problem.id === "1.5") check(await until(look, TIMELINE) && await look("document.getElementById('film').hidden"), "1.5 has one rank, and no picture of who waits for whom");
        if (problem.id === "2.7") check(await until(look, TIMELINE), "2.7 has a timeline");
        if (problem.id === "4.2") check(await until(look, TIMELINE + " && /without the [0-9.]+ ms that software loses/.test(document.getElementById('timeline').textContent)"), "4.2 says what its timeline leaves out");
    }
    check(await look("window.pale.join()") === "", "letters on a canvas can be read: " + await look("window.pale.slice(0, 5).join()"));
    await look("location.hash = '#course'");
    const all = problems.length + " of " + problems.length + " solved";
    check(await until(look, `document.getElementById("solved").textContent === ${JSON.stringify(all)}`), "the list says that all are solved");
    await look("(() => { const s = document.getElementById('path'); s.value = '90 minutes'; s.dispatchEvent(new Event('change')); })()");
    check(await look("document.querySelectorAll('#tracks li.solved').length") === 10, "the path of 90 minutes has ten");
    await look("document.getElementById('student').value = 'Ana'; document.querySelector('#hand-in button').click()");
    check(await until(look, "/Hand in/.test(document.getElementById('code-state').textContent)"), "a code is written");
    const code = path.join(home, "Ana.code");
    fs.writeFileSync(code, await look("document.getElementById('code-text').value"));
    const graded = spawnSync(path.join(build, "lockstep"), ["lesson", "grade", code]);
    check(graded.status === 0 && graded.stdout.toString().includes(problems.length + " of " + problems.length + " lines are solved"), "and the program grades it");
    const again = await open(390, "dark", "#course/4.2");
    check(await until(again, `/^Solved/.test(${RESULT})`), "what was solved is there when it is opened again");
    await again(LETTERS);
    for (const {id} of problems) {
        await again(HASH(id));
        check(await until(again, `${ON_SHOW(id)} && /^Solved/.test(${RESULT})`) && await again("document.documentElement.scrollWidth <= innerWidth"), id + " is not wider than a phone");
    }
    check(await again("window.pale.join()") === "", "letters on a canvas can be read in the dark: " + await again("window.pale.slice(0, 5).join()"));
    await again("document.querySelector('nav a').click()");
    check(await until(again, ANSWERED + " && " + BODY + ".view === 'playground'") && await again("document.querySelectorAll('#facts dd').length >= 5"),
        "and the playground is one click away");
}

(async () => {
    browser = await require("./" + kind + ".js")(program, home);
    await beforehand();
    const look = await usual(1280, "light");
    await tooLarge(look);
    await mistakes(look);
    await brokenLink();
    await answers(look);
    await usual(390, "dark");
    await course();
    check(browser.said.length === 0, "nothing on the console, but: " + browser.said.slice(0, 3).join("; ").slice(0, 500));
    console.log(passed + " passed, " + failed + " failed");
    await browser.close();
    await require("./gone.js")(home);
    process.exit(failed ? 1 : 0);
})();
