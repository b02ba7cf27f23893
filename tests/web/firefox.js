// Firefox, by WebDriver BiDi: open(width, theme, address) as chromium.js has it. The theme is a setting of the whole
// browser, which is started anew for another one, on the same profile.
"use strict";
const fs = require("fs"), path = require("path"), http = require("http"), crypto = require("crypto"), {spawn} = require("child_process");

const SETTINGS = {
    "app.update.enabled": false, "browser.shell.checkDefaultBrowser": false, "browser.startup.page": 0, "browser.aboutwelcome.enabled": false,
    "datareporting.policy.dataSubmissionEnabled": false, "datareporting.healthreport.uploadEnabled": false, "toolkit.telemetry.enabled": false,
    "browser.safebrowsing.update.enabled": false, "extensions.update.enabled": false, "network.captive-portal-service.enabled": false,
    "network.connectivity-service.enabled": false, "services.settings.server": "data:,none",
};

// As much of a WebSocket as messages of text need.
function connect(address, heard) {
    const {hostname, port, pathname} = new URL(address);
    return new Promise((done, fail) => {
        const asked = http.get({hostname, port, path: pathname, headers: {Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": 13,
            "Sec-WebSocket-Key": crypto.randomBytes(16).toString("base64")}});
        asked.on("error", fail);
        asked.on("upgrade", (reply, socket) => {
            let rest = Buffer.alloc(0), text = [];
            const send = (kind, said) => {
                const mask = crypto.randomBytes(4), wide = said.length < 126 ? 0 : said.length < 65536 ? 2 : 8, head = Buffer.alloc(2 + wide);
                head[0] = 0x80 | kind;
                head[1] = 0x80 | (wide === 0 ? said.length : wide === 2 ? 126 : 127);
                if (wide === 2) head.writeUInt16BE(said.length, 2);
                if (wide === 8) head.writeBigUInt64BE(BigInt(said.length), 2);
                socket.write(Buffer.concat([head, mask, said.map((byte, i) => byte ^ mask[i & 3])]));
            };
            socket.on("error", () => {});
            socket.on("data", (bytes) => {
                rest = Buffer.concat([rest, bytes]);
                while (rest.length >= 2) {
                    const short = rest[1] & 127, wide = short === 126 ? 2 : short === 127 ? 8 : 0;
                    if (rest.length < 2 + wide) return;
                    const length = wide === 2 ? rest.readUInt16BE(2) : wide === 8 ? Number(rest.readBigUInt64BE(2)) : short;
                    if (rest.length < 2 + wide + length) return;
                    const kind = rest[0] & 15, last = rest[0] & 128, said = rest.subarray(2 + wide, 2 + wide + length);
                    rest = rest.subarray(2 + wide + length);
                    if (kind === 9) send(10, said);
                    if (kind > 2) continue;
                    text.push(said);
                    if (!last) continue;
                    heard(Buffer.concat(text).toString());
                    text = [];
                }
            });
            done((said) => send(1, Buffer.from(said)));
        });
    });
}

module.exports = async function firefox(program, home) {
    const said = [];
    let running = null;

    async function start(theme) {
        const settings = {...SETTINGS, "layout.css.prefers-color-scheme.content-override": theme === "dark" ? 0 : 1};
        fs.writeFileSync(path.join(home, "user.js"), Object.entries(settings).map(([name, value]) =>
            `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(""));
        const child = spawn(program, ["--headless", "--no-remote", "--profile", home, "--remote-debugging-port", "0"], {stdio: ["ignore", "ignore", "pipe"]});
        process.on("exit", () => child.kill()); // should a check break off
        const ended = new Promise((done) => child.on("exit", done)), waiting = new Map();
        const address = await new Promise((done, fail) => {
            let text = "";
            child.stderr.on("data", (bytes) => {
                const found = (text += bytes).match(/listening on (ws:\S+)/);
                if (found) done(found[1]);
            });
            child.on("exit", () => fail(new Error("Firefox has ended: " + text)));
        });
        const send = await connect(address + "/session", (text) => {
            const message = JSON.parse(text);
            if (message.id) waiting.get(message.id)(message);
            if (message.method === "log.entryAdded") said.push(message.params.text || JSON.stringify(message.params));
        });
        let number = 0;
        const call = (method, params = {}) => {
            const id = ++number;
            send(JSON.stringify({id, method, params}));
            return new Promise((done, fail) => waiting.set(id, (reply) => reply.type === "error" ? fail(new Error(reply.message)) : done(reply.result)));
        };
        await call("session.new", {capabilities: {}});
        await call("session.subscribe", {events: ["log.entryAdded"]});
        return {theme, call, async end() {
            await call("browser.close").catch(() => {});
            await ended;
        }};
    }

    async function open(width, theme, address) {
        if (running && running.theme !== theme) {
            await running.end();
            running = null;
        }
        running = running || await start(theme);
        const {call} = running, {context} = await call("browsingContext.create", {type: "tab"});
        await call("browsingContext.setViewport", {context, viewport: {width, height: 900}});
        await call("browsingContext.navigate", {context, url: address, wait: "complete"});
        return async (expression) => {
            const reply = await call("script.evaluate", {expression: `(async () => JSON.stringify(await (0, eval)(${JSON.stringify(expression)})))()`, awaitPromise: true, target: {context}});
            if (reply.type === "exception") throw new Error(JSON.stringify(reply.exceptionDetails.text));
            return reply.result.value === undefined ? undefined : JSON.parse(reply.result.value);
        };
    }

    return {open, said, close: () => running ? running.end() : null};
};
