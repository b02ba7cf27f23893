// Chromium, over its pipe for tools: open(width, theme, address) gives a function that evaluates an expression in that page.
// `first`: a script that runs there before any other; `slowed`: how many times slower it has the processor.
"use strict";
const {spawn} = require("child_process");

module.exports = async function chromium(program, home) {
    const browser = spawn(program, ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir=" + home,
        "--remote-debugging-pipe"], {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
    const waiting = new Map(), said = [], ended = new Promise((done) => browser.on("exit", done));
    let number = 0, rest = "";
    browser.stdio[4].on("data", (bytes) => {
        const messages = (rest + bytes).split("\0");
        rest = messages.pop();
        for (const message of messages.map((text) => JSON.parse(text))) {
            if (message.id) waiting.get(message.id)(message);
            if (message.method === "Runtime.consoleAPICalled") said.push(JSON.stringify(message.params.args));
            if (message.method === "Runtime.exceptionThrown") said.push(JSON.stringify(message.params.exceptionDetails));
            if (message.method === "Log.entryAdded") said.push(message.params.entry.text);
        }
    });

    process.on("exit", () => browser.kill()); // should a check break off

    function tell(method, params = {}, sessionId) {
        browser.stdio[3].write(JSON.stringify({id: ++number, method, params, sessionId}) + "\0");
        const mine = number;
        return new Promise((done) => waiting.set(mine, done));
    }

    async function open(width, theme, address, {first = "", slowed = 1} = {}) {
        const target = await tell("Target.createTarget", {url: "about:blank"});
        const session = (await tell("Target.attachToTarget", {targetId: target.result.targetId, flatten: true})).result.sessionId;
        const call = (method, params) => tell(method, params, session);
        await call("Runtime.enable");
        await call("Log.enable");
        await call("Page.enable");
        await call("Emulation.setDeviceMetricsOverride", {width, height: 900, deviceScaleFactor: 1, mobile: false});
        await call("Emulation.setEmulatedMedia", {features: [{name: "prefers-color-scheme", value: theme}]});
        await call("Page.addScriptToEvaluateOnNewDocument", {source: first});
        await call("Emulation.setCPUThrottlingRate", {rate: slowed});
        await call("Page.navigate", {url: address});
        const look = async (expression) => {
            const reply = await call("Runtime.evaluate", {expression, awaitPromise: true, returnByValue: true});
            if (reply.result && reply.result.exceptionDetails) throw new Error(JSON.stringify(reply.result.exceptionDetails));
            return reply.result.result.value;
        };
        while (await look("document.readyState") !== "complete") await new Promise((done) => setTimeout(done, 50));
        look.press = async (key, modifiers = 0) => {
            for (const type of ["keyDown", "keyUp"])
                await call("Input.dispatchKeyEvent", {type, key, code: key, modifiers, windowsVirtualKeyCode: {Tab: 9, Enter: 13, Escape: 27}[key]});
        };
        // What a screen reader is given: {role, name, …} of each node; some are left out (`ignored`) and have children that are not.
        look.tree = async () => {
            await call("Accessibility.enable");
            return (await call("Accessibility.getFullAXTree")).result.nodes;
        };
        return look;
    }

    return {open, said, async close() {
        browser.kill();
        await ended;
    }};
};
