// node tests/web/manual.js chromium|firefox PROGRAM FOLDER: the manual of make html, opened from the disk: does the search
// find, does a result lead there, is nothing wider than a phone, is all of it named and within reach of the keyboard?
"use strict";
const fs = require("fs"), os = require("os"), path = require("path"), access = require("./access.js");
const [kind, program, folder] = process.argv.slice(2);
const home = fs.mkdtempSync(path.join(os.tmpdir(), "lockstep-manual-"));
let passed = 0, failed = 0;
function check(holds, what) {
    if (holds) passed++;
    else failed++;
    if (!holds) console.log("FAILED " + what);
}

(async () => {
    const browser = await require("./" + kind + ".js")(program, home);
    const open = (width, theme, name) => browser.open(width, theme, "file://" + path.resolve(folder, name));
    let look = await open(390, "light", "index.html");
    await look(`(field.value = "checkpoint interval", field.dispatchEvent(new Event("input")))`);
    check(await look(`/found/.test(found.textContent) && list.children.length > 3 && list.querySelector("mark").textContent.length > 5`), "the search finds what has both words");
    check(await look(`/spares/i.test(list.textContent)`), "and the page that is of it");
    check(await look("document.documentElement.scrollWidth <= innerWidth"), "results are not wider than a phone");
    await look(`(field.value = "zzzz", field.dispatchEvent(new Event("input")))`);
    check(await look(`list.hidden && found.textContent === "nothing found"`), "and says so where nothing is");
    await look(`(field.value = "critical path", field.dispatchEvent(new Event("input")))`);
    const where = await look(`list.querySelector("a").getAttribute("href")`);
    look = await open(1280, "light", where);
    check(await look("!location.hash || !!document.getElementById(decodeURIComponent(location.hash.slice(1)))"), "a result leads to a heading that is there");
    const names = fs.readdirSync(folder).filter((name) => name.endsWith(".html"));
    if (look.tree)
        for (const name of ["index.html", "goodput.html", "lockstep-run.html"]) {
            look = await open(1280, "dark", name);
            for (const fault of [...await access.spoken(look), ...await access.reached(look)]) check(false, name + ": " + fault);
        }
    for (const name of ["index.html", "job.html", "security.html", "lockstep-run.html", "CHANGELOG.html", "training-accuracy.html"]) {
        look = await open(390, "light", name);
        check(await look("document.documentElement.scrollWidth <= innerWidth"), name + " is not wider than a phone");
    }
    check(browser.said.length === 0, "nothing on the console, but: " + browser.said.slice(0, 3).join("; ").slice(0, 500));
    console.log(passed + " passed, " + failed + " failed");
    await browser.close();
    await require("./gone.js")(home);
    process.exit(failed ? 1 : 0);
})();
