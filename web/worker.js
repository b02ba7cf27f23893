// In a worker of the page: the compiled program comes first, then questions, one after another. An instance stands ready
// before it is asked.
let program, ready;
const prepare = (before) => ready = lockstepStart(lockstepEngine, program, before);
onmessage = async (event) => {
    if (event.data.module) {
        program = event.data.module;
        return prepare();
    }
    const {number, words, files, wanted} = event.data;
    let instance;
    try {
        instance = await ready;
        postMessage({number, answer: lockstepAsk(instance, words, files, wanted)});
    } catch (error) {
        postMessage({number, answer: {status: 1, out: "", err: "error: " + (error && error.message || error), wrote: null}});
    }
    prepare(instance);
};
