// What a screen reader and the keyboard meet in a page that Chromium has open: faults, as sentences.
"use strict";

const CONTROLS = new Set(["button", "link", "textbox", "searchbox", "combobox", "listbox", "slider", "spinbutton", "checkbox", "radio", "switch",
    "DisclosureTriangle", "image", "img", "navigation", "region"]);
const value = (of) => of ? of.value : undefined;

// Names of all controls and pictures, headings in order.
async function spoken(look) {
    const nodes = await look.tree(), byId = new Map(nodes.map((node) => [node.nodeId, node])), faults = [], levels = [];
    for (const node of nodes.filter((node) => !node.ignored)) {
        const role = value(node.role), name = (value(node.name) || "").trim();
        if (CONTROLS.has(role) && !name) faults.push("a " + role + " without a name");
        const focusable = (node.properties || []).some((property) => property.name === "focusable" && property.value.value);
        // A status is filled before it is given the focus.
        if (focusable && !name && role !== "RootWebArea" && role !== "status" && !textOf(node, byId)) faults.push("a " + role + " that takes the focus and says nothing");
    }
    (function walk(node) {
        if (!node) return;
        if (!node.ignored && value(node.role) === "heading") levels.push([node.properties.find((property) => property.name === "level").value.value, value(node.name)]);
        for (const child of node.childIds || []) walk(byId.get(child));
    })(nodes[0]);
    if (levels.filter(([level]) => level === 1).length !== 1) faults.push("not one heading of the first level");
    levels.forEach(([level, name], i) => {
        if (level > (i ? levels[i - 1][0] : 0) + 1) faults.push(`the heading "${name}" is ${level - (i ? levels[i - 1][0] : 0)} levels below the one before it`);
    });
    return faults;
}

function textOf(node, byId) {
    return (node.childIds || []).map((id) => byId.get(id)).filter(Boolean).map((child) => (value(child.name) || "") + textOf(child, byId)).join("");
}

// Tab leads to everything that takes the focus, to nothing twice, and out again.
const NUMBERED = `(() => {
    const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex], [contenteditable=true]")].filter((node) =>
        node.tabIndex >= 0 && !node.disabled && node.checkVisibility({visibilityProperty: true}) && !node.closest("fieldset:disabled"));
    const seen = new Set(), mine = all.filter((node) => node.type !== "radio" || !seen.has(node.name) && seen.add(node.name));
    window.forFocus = mine;
    document.activeElement.blur();
    getSelection().removeAllRanges();
    scrollTo(0, 0);
    return mine.length;
})()`;
const FOCUSED = `(() => {
    let node = document.activeElement, at = window.forFocus.indexOf(node);
    if (node.type === "radio") at = window.forFocus.findIndex((other) => other.name === node.name && other.type === "radio");
    return [at, node.tagName + (node.id ? "#" + node.id : "") + " " + (node.textContent || "").trim().slice(0, 30)];
})()`;
const THERE = "window.forFocus.map((node) => node.isConnected && !node.disabled && node.checkVisibility({visibilityProperty: true}))";
const NAMED = (i) => `(() => { const node = window.forFocus[${i}]; return node.tagName + (node.id ? "#" + node.id : "") + " " + (node.textContent || "").trim().slice(0, 30); })()`;

async function reached(look) {
    const count = await look(NUMBERED), seen = new Set(), faults = [];
    let last = "";
    for (let i = 0; i < count + 20; i++) {
        await look.press("Tab");
        const [at, name] = await look(FOCUSED);
        if (at >= 0 && seen.has(at)) {
            if (name === last) faults.push("the focus is held by " + name);
            break;
        }
        if (at >= 0) seen.add(at);
        last = name;
    }
    const there = await look(THERE); // what an answer has hidden meanwhile is not looked for
    for (let i = 0; i < count; i++) if (!seen.has(i) && there[i]) faults.push("Tab does not lead to " + await look(NAMED(i)));
    return faults.slice(0, 5);
}

module.exports = {spoken, reached};
