// The program asked once: words as on its command line, files beside it, its answer. A fresh instance each time, so that
// a page runs what a shell runs. For a worker of a page and for node.
"use strict";

function collector() {
    let bytes = new Uint8Array(65536), count = 0;
    return {
        take(byte) {
            if (byte === null) return;
            if (count === bytes.length) {
                const more = new Uint8Array(2 * count);
                more.set(bytes);
                bytes = more;
            }
            bytes[count++] = byte;
        },
        text() { return new TextDecoder().decode(bytes.subarray(0, count)); },
    };
}

const PAGE_BYTES = 65536, FIRST_BYTES = 16 << 20, MOST_BYTES = 2 ** 31, KEPT_BYTES = 256 << 20;

// The system hands out memory page by page, which takes longer than clearing it: an instance has that of the one before.
function memoryFor(before) {
    if (!before || before.buffer.byteLength > KEPT_BYTES)
        return new WebAssembly.Memory({initial: FIRST_BYTES / PAGE_BYTES, maximum: MOST_BYTES / PAGE_BYTES});
    new Uint8Array(before.buffer).fill(0);
    return before;
}

// An instance that may be asked once. module: WebAssembly.Module; before: the instance that has answered, if any.
async function lockstepStart(factory, module, before) {
    const out = collector(), err = collector(), wasmMemory = memoryFor(before && before.memory);
    const engine = await factory({
        wasmMemory,
        stdin: () => null,
        stdout: out.take,
        stderr: err.take,
        quit(status, why) { throw why; },
        instantiateWasm(imports, receive) {
            const instance = new WebAssembly.Instance(module, imports);
            receive(instance, module);
            return instance.exports;
        },
    });
    return {engine, out, err, memory: wasmMemory};
}

// files: texts by path. Gives {status, out, err, wrote}: `wanted` names the file that is read back.
function lockstepAsk({engine, out, err}, words, files, wanted) {
    for (const path of Object.keys(files || {})) {
        const folder = path.split("/").slice(0, -1);
        for (let i = 1; i <= folder.length; i++) {
            const name = folder.slice(0, i).join("/");
            if (name && !engine.FS.analyzePath(name).exists) engine.FS.mkdir(name);
        }
        engine.FS.writeFile(path, files[path]);
    }
    const status = engine.callMain(words);
    const wrote = wanted && engine.FS.analyzePath(wanted).exists ? engine.FS.readFile(wanted, {encoding: "utf8"}) : null;
    return {status, out: out.text(), err: err.text(), wrote};
}

if (typeof module !== "undefined") module.exports = {start: lockstepStart, ask: lockstepAsk};
