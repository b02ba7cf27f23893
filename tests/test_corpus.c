// Every file of the fuzzers' corpora, through the same code, in every build. The laws are CHECKs in the fuzzers.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "sim/base/random.h"
#include "sim/system/file.h"
#include "tests/child.h"
#include "tests/test.h"

typedef int Fuzzer(const uint8_t *data, size_t bytes);
// tests/fuzz
Fuzzer fuzz_anchor, fuzz_answer, fuzz_chakra, fuzz_command, fuzz_diff, fuzz_fabric, fuzz_fabric_file, fuzz_goal,
    fuzz_import, fuzz_json, fuzz_kineto, fuzz_launch, fuzz_lua, fuzz_matrix, fuzz_nccl, fuzz_parts, fuzz_quantity,
    fuzz_steps, fuzz_store, fuzz_study, fuzz_sweep, fuzz_tables, fuzz_topo, fuzz_topo_xml, fuzz_trace, fuzz_trainer;

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

// What commands say about bad input is no news here.
static int silence(int stream) {
    fflush(NULL);
    int kept = dup(stream), nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, stream);
    close(nothing);
    return kept;
}

static void give_voice(int stream, int kept) {
    fflush(NULL);
    dup2(kept, stream);
    close(kept);
}

// Runs the fuzzer's code on every file of its folder; returns how many there were.
static int replay(const char *name, Fuzzer *run) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    struct dirent **entries = NULL;
    const char *folder = arena_printf(arena, "tests/fuzz/corpus_%s", name);
    int count = scandir(folder, &entries, is_visible, alphasort);
    for (int i = 0; i < count; i++) {
        size_t bytes = 0;
        const char *path = arena_printf(arena, "%s/%s", folder, entries[i]->d_name);
        const char *data = file_read(arena, path, 1 << 20, &bytes, problems);
        int kept = silence(STDERR_FILENO);
        if (data) run((const uint8_t *)data, bytes);
        give_voice(STDERR_FILENO, kept);
        free(entries[i]);
    }
    free(entries);
    EXPECT_INT(problem_count(problems), 0);
    arena_close(arena);
    return count;
}

#define REPLAY(name_)                                                                                                  \
    TEST(the_##name_##_corpus_keeps_its_laws) { EXPECT(replay(#name_, fuzz_##name_) >= 8); }

REPLAY(anchor)
REPLAY(answer)
REPLAY(chakra)
REPLAY(command)
REPLAY(diff)
REPLAY(fabric)
REPLAY(fabric_file)
REPLAY(goal)
REPLAY(import)
REPLAY(json)
REPLAY(kineto)
REPLAY(launch)
REPLAY(lua)
REPLAY(matrix)
REPLAY(nccl)
REPLAY(parts)
REPLAY(quantity)
REPLAY(steps)
REPLAY(store)
REPLAY(study)
REPLAY(sweep)
REPLAY(tables)
REPLAY(topo)
REPLAY(topo_xml)
REPLAY(trace)
REPLAY(trainer)

// ---- The short form of make fuzz: inputs of the corpora, changed at random. LOCKSTEP_MUTATIONS=N draws N for each
// reader instead, from seed LOCKSTEP_MUTATIONS_FROM on.

typedef struct Input {
    unsigned char *bytes;
    size_t count;
} Input;

#define MOST_INPUTS 256
#define ROOM 16384

static int inputs_of(Arena *arena, const char *name, Input *inputs) {
    struct dirent **entries = NULL;
    const char *folder = arena_printf(arena, "tests/fuzz/corpus_%s", name);
    int found = scandir(folder, &entries, is_visible, alphasort), count = 0;
    for (int i = 0; i < found; i++) {
        const char *path = arena_printf(arena, "%s/%s", folder, entries[i]->d_name);
        size_t bytes = 0;
        char *data = count < MOST_INPUTS ? file_read(arena, path, ROOM / 2, &bytes, problems_create(arena)) : NULL;
        if (data) inputs[count++] = (Input){(unsigned char *)data, bytes};
        free(entries[i]);
    }
    free(entries);
    return count;
}

static size_t place(RandomStream *draw, size_t count) { return (size_t)random_below(draw, count + 1); }

// What stood behind the place moves on; false: there is no room.
static bool insert(Input *input, size_t at, const void *bytes, size_t count) {
    if (input->count + count > ROOM) return false;
    memmove(input->bytes + at + count, input->bytes + at, input->count - at);
    memcpy(input->bytes + at, bytes, count);
    input->count += count;
    return true;
}

static void remove_at(Input *input, size_t at, size_t count) {
    if (count > input->count - at) count = input->count - at;
    memmove(input->bytes + at, input->bytes + at + count, input->count - at - count);
    input->count -= count;
}

static void mutate(RandomStream *draw, Input *input, const Input *other) {
    static const char *const words[] = {"-1",
                                        "0",
                                        "1e308",
                                        "nan",
                                        "18446744073709551616",
                                        "2147483648",
                                        "0.1",
                                        "\"",
                                        ",",
                                        "\n",
                                        "\r\n",
                                        "[",
                                        "{",
                                        "}",
                                        ":",
                                        "\\u0000",
                                        "\xff",
                                        "\xef\xbb\xbf",
                                        "null",
                                        "true",
                                        "%s",
                                        "../",
                                        "\x1b[2J",
                                        "1e-400",
                                        " ",
                                        "\t",
                                        "|",
                                        ";",
                                        "<",
                                        "&"};
    size_t at = place(draw, input->count), length = 1 + place(draw, 30);
    switch (random_below(draw, 6)) {
    case 0:
        if (at < input->count) input->bytes[at] ^= (unsigned char)(1u << random_below(draw, 8));
        break;
    case 1:
        remove_at(input, at, length);
        break;
    case 2: {
        const char *word = words[random_below(draw, sizeof words / sizeof *words)];
        if (random_below(draw, 2)) remove_at(input, at, length);
        insert(input, at, word, strlen(word));
        break;
    }
    case 3: { // a piece of another input
        size_t from = place(draw, other->count), count = place(draw, other->count - from);
        insert(input, at, other->bytes + from, count);
        break;
    }
    case 4: { // a piece of its own, again
        unsigned char piece[64];
        size_t from = place(draw, input->count), count = input->count - from;
        if (count > sizeof piece) count = sizeof piece;
        memcpy(piece, input->bytes + from, count);
        for (uint64_t times = random_below(draw, 8); times > 0; times--) insert(input, at, piece, count);
        break;
    }
    default:
        input->count = at;
        break;
    }
}

static long long setting(const char *name, long long usual) {
    const char *text = getenv(name);
    return text ? atoll(text) : usual;
}

static void run_mutated(const char *name, Fuzzer *run, long long usual) {
    Arena *arena = arena_open();
    Input inputs[MOST_INPUTS];
    int count = inputs_of(arena, name, inputs);
    uint64_t from = (uint64_t)setting("LOCKSTEP_MUTATIONS_FROM", 1);
    uint64_t last = from + (uint64_t)setting("LOCKSTEP_MUTATIONS", MANY(usual)) - 1;
    unsigned char *bytes = arena_alloc(arena, ROOM);
    FOR_SEEDS (seed, from, last) {
        printf("seed %llu\n", (unsigned long long)seed); // the last one, where it ends the process
        fflush(stdout);
        RandomStream draw = random_stream(seed, name, 0);
        const Input *first = &inputs[random_below(&draw, (uint64_t)count)];
        Input input = {memcpy(bytes, first->bytes, first->count), first->count};
        for (uint64_t times = 1 + random_below(&draw, 6); times > 0; times--)
            mutate(&draw, &input, &inputs[random_below(&draw, (uint64_t)count)]);
        run(input.bytes, input.count);
    }
    arena_close(arena);
}

#define MUTATED(name_, usual_)                                                                                         \
    TEST(the_##name_##_corpus_changed_at_random_keeps_its_laws) { run_mutated(#name_, fuzz_##name_, usual_); }

MUTATED(anchor, 200)
MUTATED(chakra, 400)
MUTATED(diff, 400)
MUTATED(fabric, 200)
MUTATED(import, 400)
MUTATED(json, 1000)
MUTATED(kineto, 400)
MUTATED(launch, 1000)
MUTATED(matrix, 400)
MUTATED(nccl, 1000)
MUTATED(parts, 200)
MUTATED(quantity, 1000)
MUTATED(store, 40)
MUTATED(sweep, 40)
MUTATED(tables, 400)
MUTATED(fabric_file, 400)
MUTATED(goal, 1000)
MUTATED(topo, 1000)
MUTATED(topo_xml, 1000)
MUTATED(trace, 400)
MUTATED(trainer, 400)
