// The program, asked in workers that may be ended.
const $ = (id) => document.getElementById(id);
const MOST_SECONDS = 20; // of one question; then its worker is ended
const OUTDATED_SECONDS = 2; // of one question while a newer one waits
const FILE = "scenario.lua";

// Resolves once what is on the page now can be seen.
const drawn = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));

// Another script of the folder, in its turn.
const loaded = {};
function load(file) {
    return loaded[file] = loaded[file] || new Promise((done, fail) => document.head.append(Object.assign(document.createElement("script"),
        {src: file, async: false, onload: done, onerror: () => fail(new Error(file + " is not beside this page"))})));
}

function bytesOf(base64) {
    const letters = atob(base64), bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
    return bytes;
}

let compiled, address;
async function compile() {
    await load("engine.js");
    const stream = new Blob([bytesOf(PROGRAM)]).stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(stream).arrayBuffer());
}
const program = () => compiled = compiled || compile();

// One question at a time. While one is asked, the newest of those that come waits, and the others are dropped: null. One that
// is outdated and takes long is dropped too, so that a change is not kept waiting by a mistake before it.
class Room {
    constructor() { this.number = 0; }

    async start() {
        const module = program();
        await load("engine.js");
        address = address || URL.createObjectURL(new Blob([WORKER], {type: "text/javascript"}));
        this.worker = new Worker(address); // reads its script while the program is compiled
        this.worker.postMessage({module: await module});
        this.worker.onmessage = (event) => {
            if (event.data.number === this.number) this.end(event.data.answer);
        };
        this.worker.onerror = () => this.stop("the program has ended");
    }

    stop(why) {
        if (this.worker) this.worker.terminate();
        this.worker = null;
        this.end({status: 4, out: "", err: "error: " + why, wrote: null});
    }

    end(answer) {
        clearTimeout(this.clock);
        clearTimeout(this.outdated);
        const done = this.done, next = this.waits;
        this.done = this.waits = this.outdated = null;
        if (done) done(answer && {...answer, ms: performance.now() - this.since});
        if (next) this.begin(next.question, next.done);
    }

    drop() {
        this.worker.terminate();
        this.worker = null;
        this.end(null);
    }

    async begin(question, done) {
        this.done = done;
        this.since = 0;
        try {
            if (!this.worker) await this.start();
        } catch (error) {
            return this.stop(error.message);
        }
        this.number++;
        this.clock = setTimeout(() => this.stop("more than " + MOST_SECONDS + " s: stopped\n  hint: ask for less; nothing is lost"),
            1000 * MOST_SECONDS);
        this.since = performance.now();
        this.worker.postMessage({number: this.number, ...question});
        if (this.waits) this.dropLater();
    }

    ask(words, text, wanted) {
        const question = {words, files: {[FILE]: text}, wanted};
        return new Promise((done) => {
            if (!this.done) return this.begin(question, done);
            if (this.waits) this.waits.done(null);
            this.waits = {question, done};
            if (this.since) this.dropLater();
        });
    }

    dropLater() {
        this.outdated = this.outdated || setTimeout(() => this.drop(), Math.max(0, 1000 * OUTDATED_SECONDS - (performance.now() - this.since)));
    }
}
const first = new Room(), second = new Room(), tutor = new Room(); // the answer; what is drawn once nothing moves any more; the course and reports
