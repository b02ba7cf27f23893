// In a worker of the page: the compiled program comes first, then questions, one after another.
let program;
onmessage = async (event) => {
    if (event.data.module) {
        program = event.data.module;
        return;
    }
    const {number, words, files, wanted} = event.data;
    try {
        postMessage({number, answer: await lockstepAsk(lockstepEngine, program, words, files, wanted)});
    } catch (error) {
        postMessage({number, answer: {status: 1, out: "", err: "error: " + (error && error.message || error), wrote: null}});
    }
};
