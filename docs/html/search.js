// The search of the manual: sections that have all words, those with a word in a heading first.
"use strict";
const field = document.getElementById("search"), list = document.getElementById("results"), found = document.getElementById("found");
const MOST = 25, AROUND = 90;
const low = INDEX.map(([, page, title, text]) => [page.toLowerCase(), title.toLowerCase(), text.toLowerCase()]);

function score(i, words) {
    let sum = 0;
    for (const word of words) {
        const [page, title, text] = low[i], at = text.indexOf(word);
        if (at < 0 && !title.includes(word) && !page.includes(word)) return 0;
        sum += (title === word ? 60 : title.includes(word) ? 20 : 0) + (page.includes(word) ? 8 : 0) + (at < 0 ? 0 : 1 + Math.min(4, text.split(word).length - 1));
    }
    return sum;
}

// The text about the first word, with all words marked.
function excerpt(text, words) {
    const at = Math.max(0, Math.min(...words.map((word) => text.toLowerCase().indexOf(word)).filter((n) => n >= 0), text.length) - AROUND);
    const cut = text.slice(at < text.length ? at : 0, at + 3 * AROUND), line = document.createElement("p");
    const pattern = new RegExp("(" + words.map((word) => word.replace(/[^\w\s]/g, "\\$&")).join("|") + ")", "i");
    cut.split(pattern).forEach((part, i) => line.append(i % 2 ? Object.assign(document.createElement("mark"), {textContent: part}) : part));
    return line;
}

function search() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = words.length ? INDEX.map((row, i) => [score(i, words), i]).filter((row) => row[0] > 0).sort((a, b) => b[0] - a[0] || a[1] - b[1]) : [];
    list.hidden = !rows.length;
    found.textContent = words.length ? (rows.length > MOST ? "the best " + MOST + " of " + rows.length : rows.length || "nothing") + " found" : "";
    list.replaceChildren(...rows.slice(0, MOST).map(([, i]) => {
        const [where, page, title, text] = INDEX[i], item = document.createElement("li"), link = document.createElement("a");
        link.href = where;
        link.textContent = page === title ? page : page + ": " + title;
        link.addEventListener("click", () => (field.value = "", search()));
        item.append(link, excerpt(text, words));
        return item;
    }));
}

field.addEventListener("input", search);
field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = list.querySelector("a");
    if (first) first.click();
});
addEventListener("keydown", (event) => {
    if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
        event.preventDefault();
        field.focus();
    } else if (event.key === "Escape" && field.value) {
        field.value = "";
        search();
    }
});
// On a phone the contents are folded.
if (matchMedia("(max-width: 56rem)").matches) document.getElementById("contents").open = false;
