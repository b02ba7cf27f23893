// The course's glossary: each technical term of a problem, in a plain sentence.
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "scenarios/questions/lesson.h"

const LessonWord lesson_words[] = {
    {"activation", "What a layer passes on, kept from the forward pass until the backward pass has used it."},
    {"Adam", "An optimizer that keeps two averages for each parameter, so its state is larger than the weights."},
    {"all-gather", "Each rank has a part of an array; afterwards every rank has all parts."},
    {"all-reduce",
     "Each rank has an array; afterwards every rank has the sum of all of them. So gradients are averaged."},
    {"all-to-all", "Each rank has a part for every other rank, and all parts are exchanged at once."},
    {"attention",
     "The part of a layer that compares each token with the others; its work grows with the square of their number."},
    {"backward", "The pass from the loss back through all layers, which computes the gradients; some twice the work of "
                 "forward."},
    {"bandwidth", "How many bytes a link or a memory moves in a second, at its best."},
    {"bf16", "Numbers of 16 bits with the range of 32; tensor cores multiply them many times as fast."},
    {"bubble", "The time in which a stage of a pipeline has nothing to do: until the first work comes, and after the "
               "last has left."},
    {"bucket", "Gradients that are gathered until there are enough of them to be worth a message."},
    {"checkpoint", "What a run saves of itself, to go on from there after a failure."},
    {"critical batch", "The batch from which on more samples in a step hardly save steps any more."},
    {"DALI", "A library of NVIDIA's that decodes and prepares images on the GPU."},
    {"DataParallel",
     "PyTorch's older way to use several GPUs: one process, whose first GPU hands out and gathers everything."},
    {"DDP",
     "DistributedDataParallel: a process for each GPU, and gradients that are added up while backward still runs."},
    {"deadlock", "Some wait for each other in a circle, so that none of them ever goes on."},
    {"dropout", "Some numbers between two layers are set to zero at random, so that a model does not learn by heart."},
    {"eager", "Each operation is started by the host as it comes, in place of a graph that was recorded before."},
    {"ECMP",
     "Switches choose one of several equal ways for each flow, by a hash; some links get two flows, others none."},
    {"expert", "One of several parallel parts of a layer, of which each token goes through a few alone."},
    {"flash attention",
     "A way to compute attention in pieces that stay in the GPU's fast memory; it keeps less for backward."},
    {"FLOP", "One addition or multiplication; FLOP/s says how many are done in a second."},
    {"forward", "The pass from the input through all layers to the loss."},
    {"FSDP", "PyTorch's way to spread parameters, gradients and optimizer state over all GPUs, and to gather them "
             "layer by layer."},
    {"global batch", "The samples of one step, on all GPUs together."},
    {"goodput", "The share of the time that is progress: without failures, saving, and what is done again."},
    {"GPU-hour", "One GPU for one hour: what clouds count."},
    {"gradient", "In which direction each parameter is to change; as large as the parameters themselves."},
    {"head",
     "The last part of a model: it turns what the layers give into one figure for each word of the vocabulary."},
    {"HFU", "The share of the GPU's peak at which it works, with what it computes a second time."},
    {"host", "The machine's ordinary processors and memory, which start what the GPUs do."},
    {"kernel", "One operation as a GPU runs it: a program that the host starts."},
    {"latency", "What a message takes however small it is."},
    {"launch", "The start of a kernel by the host: some microseconds each."},
    {"layer", "One of the like parts that a model is a stack of; what one gives, the next takes."},
    {"leaf", "The switch to which some nodes are cabled; leaves are joined by further switches."},
    {"logits", "The model's figure for each word of its vocabulary at each place, from which the loss is computed."},
    {"LoRA", "Small matrices are trained beside weights that stay as they are."},
    {"MFU", "The share of the GPUs' peak that the model's own arithmetic uses, with attention counted as if nothing "
            "were masked."},
    {"micro-batch", "The samples that a GPU takes through the model at a time; several of them make a step."},
    {"mixed precision", "Weights and activations in 16 bits, and a copy of the weights in 32 for the optimizer."},
    {"MPI", "A library of messages between processes, older than GPUs."},
    {"MTBF", "Mean time between failures."},
    {"multiprocessor",
     "One of about a hundred equal parts of a GPU that work at the same time, each on a piece of its own."},
    {"NCCL", "NVIDIA's library of collectives between GPUs."},
    {"NFS", "A file system over the network, from one server."},
    {"norm", "A small operation that brings the numbers of each token to the same scale; it stands between matrices."},
    {"NVLink", "NVIDIA's links between the GPUs of a machine, some ten times as fast as PCIe."},
    {"optimizer", "What changes the parameters by their gradients, at the end of a step."},
    {"parameter", "One of the numbers that training changes; a model has millions to billions."},
    {"PCIe", "The bus by which cards are plugged into a machine."},
    {"pipeline",
     "The model's layers are spread over GPUs, and batches go through them in small pieces, one behind the other."},
    {"rank", "One of the processes of a job, most often one for each GPU; they are numbered from 0."},
    {"recompute", "What a layer kept is thrown away and computed again in backward: less memory, more work."},
    {"reduce-scatter", "Each rank has an array; afterwards each has the sum of one part of it."},
    {"replica", "One copy of the model; each works on a part of the batch."},
    {"ring", "Each rank passes pieces to the next one and gets them from the one before, all at the same time."},
    {"router", "What chooses for each token the experts that it goes through."},
    {"SGD",
     "Stochastic gradient descent: the plainest optimizer, which keeps nothing or one number for each parameter."},
    {"shard", "A part of something that is spread over GPUs or files."},
    {"SHARP", "Switches that add up what passes through them, so that each byte goes up and down once."},
    {"spare", "A machine that stands ready to take the place of one that fails."},
    {"stage", "The layers of a pipeline that one GPU, or one group of GPUs, has."},
    {"step", "One change of the parameters: forward, backward, the exchange of gradients, the optimizer."},
    {"straggler", "A machine that is slower than the others, for which all wait."},
    {"tensor core", "The parts of a GPU that multiply small matrices in few bits."},
    {"tensor parallel",
     "Each matrix of a layer is split over GPUs, which exchange their parts twice a layer and pass."},
    {"throughput", "How much is done in a second: tokens, images, bytes."},
    {"tile", "A rectangle of the result of a matrix product, which one multiprocessor computes."},
    {"token", "A piece of a word: what language models read and write."},
    {"vocabulary", "All tokens that a model knows."},
    {"wave", "As many tiles as a GPU has multiprocessors: they are computed at the same time."},
    {"ZeRO", "Optimizer state (1), gradients too (2), and parameters too (3) are spread over the GPUs, which all had "
             "them whole."},
};
const int lesson_word_count = sizeof lesson_words / sizeof *lesson_words;

static bool begins_with(const char *text, const char *term) {
    size_t length = strlen(term);
    bool small = islower((unsigned char)term[0]);
    return small ? strncasecmp(text, term, length) == 0 : strncmp(text, term, length) == 0;
}

bool lesson_says(const char *text, const char *term) {
    for (const char *at = text; *at; at++) {
        if ((at > text && isalpha((unsigned char)at[-1])) || !begins_with(at, term)) continue;
        const char *end = at + strlen(term);
        if (!isalpha((unsigned char)*end) || (*end == 's' && !isalpha((unsigned char)end[1]))) return true;
    }
    return false;
}
