// Nothing reaches a terminal, a page, CSV, Markdown or OpenMetrics but through the writer that knows its form. Files
// that name things by letters which a terminal obeys, or hides, or which another form reads as its own, are shown to
// every command that names such a file, in every form.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/terminal.h"
#include "sim/base/text.h"
#include "sim/data/csv.h"
#include "sim/data/json.h"
#include "sim/system/file.h"
#include "sim/system/letters_out.h"
#include "tests/test.h"

#define TEXT (1 << 23)

// What stands for a name: a formula, rows of Markdown's tables and code, labels of OpenMetrics, HTML, and letters that
// are not seen (right to left, joiners, a byte order mark, a soft hyphen, tags).
static const char unseen[] = "=1+1|````\"\\\u202e\u2066\u200b\u200d\ufeff\u00ad\U000e0041</script><b>#";

// Of one line is what they break.
static const char *const controls[] = {"\x01",         "\b",   "\t",       "\n# h\n",     "\r",     "\x1b[31m",
                                       "\x1b]0;t\x07", "\x7f", "\xc2\x85", "\302\23331m", "\u2028", "\u2029"};
enum { CONTROLS = sizeof controls / sizeof *controls };

typedef enum Escape { AS_JSON, AS_CSV, AS_IT_IS } Escape;
typedef enum Form { ANSWER, PAGE, MARKDOWN, CSV_FILE } Form;

// "@" in the content is the text. A command's file is $F, the text itself $T, an empty folder $DIR.
static const struct {
    const char *name;
    Escape escape;
    bool refuses; // control characters, with a place
    int code;     // that its commands end with, all else being as it should be
    const char *content;
    struct {
        const char *command;
        Form form;
    } lines[14];
} files[] = {
    {"config.json",
     AS_JSON,
     true,
     0,
     "{\"model_type\": \"llama\", \"architectures\": [\"@\"], \"_name_or_path\": \"@\", \"hidden_size\": 512,\n"
     "\"num_hidden_layers\": 4, \"num_attention_heads\": 8, \"intermediate_size\": 1024, \"vocab_size\": 5000,\n"
     "\"max_position_embeddings\": 512}",
     {{"params --model $F", ANSWER},
      {"model show $F", ANSWER},
      {"model show $F --operators", ANSWER},
      {"flops --model $F --tokens 1B", ANSWER},
      {"memory --model $F --gpu A100 --micro-batch 1", ANSWER},
      {"plan --model $F --tokens 1B --node dgx-a100 --gpus 8 --global-batch 64 --price 2 -j 1", ANSWER},
      {"run --model $F --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8", ANSWER},
      {"trace --model $F --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8", ANSWER},
      {"report run --model $F --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 -o $DIR/o.html; "
       "cat $DIR/o.html",
       PAGE}}},
    {"parts.json",
     AS_JSON,
     true,
     0,
     "{\"format\": \"lockstep-hardware\", \"format_version\": 1, \"sources\": {\"s\": \"@\"},\n"
     "\"gpus\": [{\"name\": \"@\", \"like\": \"A100-SXM4-80GB\", \"from\": [\"assumed\", \"@\"], \"memory\": \"80 "
     "GiB\"}],\n"
     "\"nodes\": [{\"name\": \"@\", \"title\": \"@\", \"like\": \"dgx-a100-80gb\", \"from\": [\"assumed\", \"s\"],\n"
     "\"provider\": \"@\", \"gpu\": \"@\", \"gpus\": 8}],\n"
     "\"fabrics\": [{\"name\": \"@\", \"title\": \"@\", \"like\": \"ib-hdr200\", \"from\": [\"assumed\", \"s\"]}],\n"
     "\"storages\": [{\"name\": \"@\", \"title\": \"@\", \"like\": \"local-nvme\", \"from\": [\"assumed\", \"s\"]}],\n"
     "\"faults\": [{\"name\": \"@\", \"title\": \"@\", \"like\": \"llama3-h100\", \"from\": [\"assumed\", \"s\"]}],\n"
     "\"grids\": [{\"name\": \"@\", \"title\": \"@\", \"like\": \"world\"}]}",
     {{"hw list node --profile $F", ANSWER},
      {"hw list --profile $F", ANSWER},
      {"hw show \"$T\" --profile $F", ANSWER},
      {"hw check $F", ANSWER},
      {"power --node \"$T\" --profile $F", ANSWER},
      {"cost --node \"$T\" --nodes 2 --fabric \"$T\" --price 2 --profile $F", ANSWER},
      {"goodput --gpus 64 --node \"$T\" --rates \"$T\" --storage \"$T\" --days 3d --runs 5 --profile $F", ANSWER},
      {"plan --model gpt2-124m --tokens 1B --seq 1024 --node \"$T\" --gpus 8 --global-batch 64 -j 1 --profile $F",
       ANSWER},
      {"memory --model gpt2-124m --gpu \"$T\" --micro-batch 1 --profile $F", ANSWER},
      {"topo --node \"$T\" --gpus 16 --fabric \"$T\" --profile $F", ANSWER},
      {"collective all_reduce --node \"$T\" --nodes 2 --fabric \"$T\" --sizes 1M --profile $F", ANSWER},
      {"trace --model gpt2-124m --node \"$T\" --gpus 8 --micro-batch 1 --global-batch 8 --seq 512 --profile $F",
       ANSWER},
      {"report run --model gpt2-124m --node \"$T\" --gpus 8 --micro-batch 1 --global-batch 8 --seq 512 "
       "--profile $F -o $DIR/o.html; cat $DIR/o.html",
       PAGE}}},
    {"prices.csv",
     AS_CSV,
     true,
     0,
     "provider,date,source,gpu,gpus,on_demand,currency\n\"@\",2026-01-01,\"@\",A100-SXM4-80GB,1,2.5,USD\n",
     {{"cost --node dgx-a100-80gb --price-book $F", ANSWER},
      {"plan --model gpt2-124m --tokens 1B --seq 1024 --node dgx-a100-80gb --gpus 8 --global-batch 64 -j 1 "
       "--price-book $F",
       ANSWER},
      {"run --model gpt2-124m --node dgx-a100-80gb --gpus 8 --micro-batch 1 --global-batch 8 --seq 512 "
       "--price-book $F",
       ANSWER}}},
    {"batch/training/runs.csv",
     AS_CSV,
     true,
     0,
     "row_id,family,source,source_loc,system_name,model,model_type,n_params,layers,hidden,heads,kv_heads,ffn,vocab,"
     "seq_len,gpu,gpu_mem_bytes,n_gpus,n_nodes,gpus_per_node,intra_link,framework,software,tp,pp,dp,micro_batch,"
     "grad_accum,global_batch,precision,iter_time_s,notes\n"
     "\"@\",\"@\",\"@\",\"@\",\"@\",\"@\",decoder,6658859008,32,4096,32,32,16384,50368,2048,H100-SXM5-80GB,80000000000,"
     "8,"
     "1,8,NVLink+NVSwitch,Composer + PyTorch FSDP,\"@\",1,1,8,6,1,48,bf16-amp,1.2,\"@\"\n",
     {{"validate training $F --verbose", ANSWER},
      {"validate training $F --rows $DIR/o.csv >$DIR/said; cat $DIR/o.csv", CSV_FILE},
      {"validate first-contact ${F%/training/runs.csv} --date 2026-11-23", MARKDOWN},
      {"diff $F $F", ANSWER}}},
    {"clusters.csv",
     AS_CSV,
     true,
     0,
     "log,op,gpu,gpus_per_node,nodes,ranks,intra_link,nvlink_gen,nvlink_links_per_gpu,pcie_gen,gpus_per_pcie_switch,"
     "nics_per_node,nic_gbps,transport,gdr,fabric,cpu_sockets,cpu_vendor,nccl_version,algo_env,p2p_disabled,"
     "in_row_units_note,confidence,note,do_not_fit,machine\n"
     "abci2_a100_004gpu_all_reduce_intra,all_reduce,A100-SXM4-40GB,8,1,4,nvswitch,3,12,4,2,,,none,unknown,,2,Intel,"
     "2.8.4-1,,no,\"@\",B,\"@\",,\"@\"\n",
     {{"validate collectives calibrate/measurements/nccl/abci2_a100_004gpu_all_reduce_intra.txt --clusters $F", ANSWER},
      {"validate collectives calibrate/measurements/nccl/abci2_a100_004gpu_all_reduce_intra.txt --clusters $F "
       "--rows $DIR/o.csv >$DIR/said; cat $DIR/o.csv",
       CSV_FILE}}},
    {"abci2_a100_004gpu_all_reduce_intra.txt",
     AS_IT_IS,
     false,
     0,
     "# log: @\n# source: @\n# op: all_reduce\n# platform: @\n# gpu: @\n# ranks: 8\n# nodes: 1\n# nccl: @\n"
     "#  Rank  0 Group  0 Pid  1 on  @ device  0 [0x07] @\n"
     "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n"
     "65536 16384 float sum -1 20.66 3.17 4.76 0 20.66 3.17 4.76 0\n"
     "262144 65536 float sum -1 22.62 11.59 17.38 0 22.62 11.59 17.38 0\n"
     "1048576 262144 float sum -1 30.49 34.40 51.59 0 30.49 34.40 51.59 0\n"
     "4194304 1048576 float sum -1 61.94 67.71 101.57 0 61.94 67.71 101.57 0\n"
     "16777216 4194304 float sum -1 187.77 89.35 134.02 0 187.77 89.35 134.02 0\n"
     "67108864 16777216 float sum -1 691.09 97.11 145.66 0 691.09 97.11 145.66 0\n"
     "268435456 67108864 float sum -1 2704.35 99.26 148.89 0 2704.35 99.26 148.89 0\n",
     {{"calibrate import --from nccl-tests $F", ANSWER},
      {"calibrate fit $F --node dgx-a100 --nodes 1 -o $DIR/p.json", ANSWER},
      {"validate collectives $F --clusters calibrate/measurements/nccl/clusters.csv", ANSWER}}},
    {"trace.json",
     AS_JSON,
     false,
     0,
     "{\"deviceProperties\": [{\"id\": 0, \"name\": \"@\"}], \"traceEvents\": [\n"
     "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"@\", \"pid\": 0, \"tid\": 7, \"ts\": 1, \"dur\": 5000,\n"
     "\"args\": {\"stream\": 7, \"device\": 0}},\n"
     "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#1\", \"pid\": 1, \"tid\": 1, \"ts\": 0, "
     "\"dur\": 9000}]}",
     {{"diff $F $F", ANSWER}, {"calibrate import --from kineto $F", ANSWER}}},
    {"answer.json",
     AS_JSON,
     true,
     4,
     "{\"format\": \"lockstep-answer\", \"format_version\": 1, \"kind\": \"run\", \"command\": [\"lockstep\", "
     "\"run\",\n"
     "\"--model\", \"gpt2-124m\", \"--node\", \"dgx-a100\", \"--gpus\", \"8\", \"--micro-batch\", \"1\", \n"
     "\"--global-batch\", \"8\", \"--software\", \"@\"]}",
     {{"explain $F", ANSWER}, {"report $F -o $DIR/o.html", ANSWER}, {"trace $F", ANSWER}}},
    {"gemm.csv",
     AS_CSV,
     true,
     0,
     "gpu,dtype,op,batch,M,N,K,latency_ms,tflops,kernel,source\n"
     "\"@\",fp16,linear,1,512,768,768,0.136277,4.432,\"@\",\"@\"\n"
     "NVIDIA L4,fp16,linear,1,512,768,768,0.136277,4.432,\"@\",\"@\"\n",
     {{"validate kernels $F", ANSWER}, {"validate kernels $F --rows $DIR/o.csv >$DIR/said; cat $DIR/o.csv", CSV_FILE}}},
    {"stops.csv",
     AS_CSV,
     true,
     0,
     "figure,what,unit,published,bound,gpus,days,checkpoint_tb,storage,rates,relation,source\n"
     "\"@\",\"@\",stops,419,,16384,54,,,llama3-h100,same figure,\"@\"\n",
     {{"validate reliability $F --runs 2", ANSWER}}},
    {"rcp.csv",
     AS_CSV,
     true,
     0,
     "benchmark,version,global_batch,amount,unit,runs,sd,suspect,source\n"
     "\"@\",1.0.0,256,2552704,\"@\",20,218406,,\"@\"\n\"@\",1.0.0,512,2652704,\"@\",20,218406,,\"@\"\n"
     "\"b@\",1.0.0,256,2552704,\"@\",20,218406,,\"@\"\n\"b@\",1.0.0,512,2652704,\"@\",20,218406,,\"@\"\n"
     "\"c@\",1.0.0,256,2552704,\"@\",20,218406,,\"@\"\n\"c@\",1.0.0,512,2652704,\"@\",20,218406,,\"@\"\n",
     {{"validate convergence $F", ANSWER}}},
    {"jobs.csv",
     AS_CSV,
     true,
     0,
     "user,submit_s,gpus,duration_s\n\"@\",0,8,3600\n\"@\",60,1,600\n",
     {{"queue --gpus 64 --trace $F", ANSWER},
      {"queue --gpus 64 --trace $F --outcomes $DIR/o.csv >$DIR/said; cat $DIR/o.csv", CSV_FILE}}},
    {"graph.json",
     AS_JSON,
     true,
     0,
     "{ \"kind\": \"graph\", \"links\": [ { \"from\": \"@\", \"to\": \"core\", \"bandwidth\": \"800 Gb/s\" },\n"
     "{ \"from\": \"b@\", \"to\": \"core\", \"bandwidth\": \"800 Gb/s\" } ],\n"
     "\"nodes\": [ { \"switch\": \"@\", \"count\": 1 }, { \"switch\": \"b@\", \"count\": 1 } ] }",
     {{"topo --node dgx-a100 --gpus 16 --fabric ib-hdr200:$F --dot", ANSWER},
      {"topo --node dgx-a100 --gpus 16 --fabric ib-hdr200:$F", ANSWER},
      {"collective all_reduce --node dgx-a100 --nodes 2 --fabric ib-hdr200:$F --sizes 1M", ANSWER}}},
    {"topo.txt",
     AS_IT_IS,
     false,
     0,
     "        GPU0    GPU1    @  CPU Affinity\nGPU0     X      PIX     PIX     0-11\nGPU1    PIX      X      PIX     "
     "0-11\n"
     "@  PIX     PIX      X\n",
     {{"topo --node $F --gpu A100", ANSWER}, {"topo --node $F --gpu A100 --dot", ANSWER}}},
};
enum { FILES = sizeof files / sizeof *files };

static char said[TEXT];

// ---- Files.

static void write_text(FILE *out, Escape escape, const char *text) {
    for (const char *at = text; *at; at++) {
        if (escape == AS_JSON && ((unsigned char)*at < 0x20 || *at == '"' || *at == '\\'))
            fprintf(out, "\\u%04x", (unsigned)*at);
        else
            fprintf(out, escape == AS_CSV && *at == '"' ? "\"\"" : "%c", *at);
    }
}

static void make_file(const char *folder, int file, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, files[file].name);
    FILE *out = fopen(path, "w");
    EXPECT(out != NULL);
    for (const char *at = files[file].content; *at; at++)
        if (*at == '@')
            write_text(out, files[file].escape, text);
        else
            fputc(*at, out);
    fclose(out);
    snprintf(path, sizeof path, "%s/text", folder);
    out = fopen(path, "w");
    fputs(text, out);
    fclose(out);
}

static char *open_folder(char name[]) {
    char *folder = mkdtemp(name), command[128];
    EXPECT(folder != NULL);
    snprintf(command, sizeof command, "mkdir -p %s/batch/training", folder);
    EXPECT_INT(test_shell(command, said, sizeof said), 0);
    return folder;
}

static void remove_folder(const char *folder) {
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    EXPECT_INT(test_shell(command, said, sizeof said), 0);
}

// Options go to the end of the first command of the line.
static int ask(const char *folder, int file, const char *line, const char *environment, const char *options) {
    char whole[2048];
    int first = (int)strcspn(line, ";>");
    snprintf(whole, sizeof whole, "DIR=%s; F=$DIR/%s; T=$(cat $DIR/text; echo .); T=${T%%.}; %s $LOCKSTEP %.*s %s %s",
             folder, files[file].name, environment, first, line, options, line + first);
    return test_shell(whole, said, sizeof said);
}

// ---- What each form may hold.

// The first letter that commands a terminal and is not the form's, or 0; -1: no UTF-8.
static int32_t strange_letter(const char *text) {
    for (const unsigned char *next = (const unsigned char *)text; *next;) {
        int32_t letter = letter_next(&next);
        if (letter != '\n' && letter != '\t' && letter_commands_terminal(letter)) return letter ? letter : -1;
    }
    return 0;
}

static void drop_colors(char *text) {
    char *end = text;
    for (const char *at = text; *at;) {
        size_t figures = at[0] == '\033' && at[1] == '[' ? strspn(at + 2, "0123456789;") : 0;
        if (figures && at[2 + figures] == 'm')
            at += 3 + figures;
        else
            *end++ = *at++;
    }
    *end = '\0';
}

static void expect_harmless(const char *line, const char *options) {
    int32_t letter = strange_letter(said);
    if (letter) test_fail(__FILE__, __LINE__, "%s %s: U+%04X comes out", line, options, (unsigned)letter);
}

static bool is_formula(const char *cell) {
    char *end;
    strtod(cell, &end);
    return *cell && strchr("=+-@", *cell) && *end;
}

static void expect_csv(const char *line) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Csv *csv = csv_read_text(arena, line, said, problems);
    if (!csv) problems_print(problems, stdout);
    EXPECT(csv != NULL);
    for (int i = 0; csv && i < csv->row_count * csv->column_count; i++)
        if (is_formula(csv->cells[i]))
            test_fail(__FILE__, __LINE__, "%s: the cell %s is a formula", line, csv->cells[i]);
    arena_close(arena);
}

static void expect_json(const char *line) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    if (!json_read_text(arena, line, said, strlen(said), problems)) {
        problems_print(problems, stdout);
        test_fail(__FILE__, __LINE__, "%s: no JSON", line);
    }
    arena_close(arena);
}

// One heading, and all else within the fence.
static void expect_markdown(const char *line) {
    int headings = 0, fences = 0;
    size_t fence = 0;
    for (const char *at = said; *at; at += strcspn(at, "\n") + 1) {
        size_t ticks = strspn(at, "`");
        if (ticks >= 3 && (fence == 0 || (ticks >= fence && at[ticks] == '\n'))) fence = fence ? 0 : ticks, fences++;
        if (fence == 0 && *at == '#') headings++;
        if (!at[strcspn(at, "\n")]) break;
    }
    if (headings != 1 || fences != 2)
        test_fail(__FILE__, __LINE__, "%s: %d headings, %d fences: %.2000s", line, headings, fences, said);
}

static void expect_page(const char *line) {
    EXPECT_CONTAINS(said, "<!DOCTYPE html>");
    EXPECT_CONTAINS(said, "&lt;/script&gt;&lt;b&gt;");
    if (strstr(said, "<b>")) test_fail(__FILE__, __LINE__, "%s: a name is HTML", line);
}

static void expect_form(const char *folder, int file, const char *line, Form form) {
    static const struct {
        const char *environment, *options;
    } forms[] = {{"", ""},        {"COLUMNS=40 LC_ALL=C.UTF-8", ""}, {"LC_ALL=C.UTF-8", "--color=always"},
                 {"", "--plain"}, {"", "--csv 2>/dev/null"},         {"", "--json 2>/dev/null"}};
    int count = form == ANSWER ? (int)(sizeof forms / sizeof *forms) : 1;
    for (int i = 0; i < count; i++) {
        int status = ask(folder, file, line, forms[i].environment, forms[i].options);
        bool expected = i == 0 ? status == files[file].code : status <= 4;
        if (!expected) test_fail(__FILE__, __LINE__, "%s %s: exit %d: %.300s", line, forms[i].options, status, said);
        if (strstr(forms[i].options, "color")) drop_colors(said);
        expect_harmless(line, forms[i].options);
        if (status == 0 && strncmp(forms[i].options, "--csv", 5) == 0) expect_csv(line);
        if (status == 0 && strncmp(forms[i].options, "--json", 6) == 0) expect_json(line);
    }
    if (form == PAGE) expect_page(line);
    if (form == MARKDOWN) expect_markdown(line);
    if (form == CSV_FILE) expect_csv(line);
}

// ---- The claims.

LONG_TEST(5, names_in_data_files_command_no_terminal_page_or_table) {
    char name[] = "/tmp/lockstep-letters-XXXXXX", *folder = open_folder(name);
    for (int f = 0; f < FILES; f++) {
        make_file(folder, f, unseen);
        for (int i = 0; files[f].lines[i].command; i++)
            expect_form(folder, f, files[f].lines[i].command, files[f].lines[i].form);
    }
    remove_folder(folder);
}

LONG_TEST(3, control_characters_in_data_files_are_refused_with_their_place_or_shown) {
    char name[] = "/tmp/lockstep-controls-XXXXXX", *folder = open_folder(name);
    for (int f = 0; f < FILES; f++)
        for (int i = 0; i < CONTROLS; i++) {
            char text[32];
            snprintf(text, sizeof text, "x%sy", controls[i]);
            make_file(folder, f, text);
            const char *line = files[f].lines[0].command;
            int status = ask(folder, f, line, "", "");
            expect_harmless(line, "with a control character");
            bool is_space = files[f].escape == AS_CSV && strchr("\t\r\n", *controls[i]);
            for (int k = 0; is_space && files[f].lines[k].command; k++)
                if (files[f].lines[k].form == MARKDOWN) expect_form(folder, f, files[f].lines[k].command, MARKDOWN);
            if (!files[f].refuses || is_space) continue;
            if (status != 4 || !strstr(said, " holds the control character U+"))
                test_fail(__FILE__, __LINE__, "%s, U+%02X: exit %d: %.300s", line, (unsigned)*controls[i], status,
                          said);
        }
    remove_folder(folder);
}

TEST(what_is_no_utf8_is_shown_as_a_question_mark) {
    char name[] = "/tmp/lockstep-bytes-XXXXXX", *folder = open_folder(name);
    static const char *const texts[] = {"x\xffy",         "x\23331my",  "x\xc3",
                                        "x\xed\xa0\x80y", "x\xc0\x9by", "x\xf0\x9f\x98"};
    for (int f = 0; f < FILES; f++)
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            if (files[f].escape == AS_JSON) continue; // which is UTF-8
            make_file(folder, f, texts[i]);
            EXPECT(ask(folder, f, files[f].lines[0].command, "", "") <= 4);
            expect_harmless(files[f].lines[0].command, "with bytes that are no UTF-8");
        }
    remove_folder(folder);
}

TEST(a_command_line_commands_no_terminal) {
    const char *const lines[] = {
        "$LOCKSTEP \"$(printf '\\033[31m')\"", "$LOCKSTEP hw show \"$(printf 'A\\033]0;x\\007')\"",
        "$LOCKSTEP run \"$(printf '/x\\033[31m.lua')\"", "$LOCKSTEP run --\"$(printf 'x\\302\\233')\"",
        "cd /tmp; XDG_STATE_HOME=/tmp/lockstep-letters-$$ LOCKSTEP_LAST=always $LOCKSTEP memory --model "
        "\"$(printf 'a\\033[31m\\nb')\" --gpu A100; XDG_STATE_HOME=/tmp/lockstep-letters-$$ $LOCKSTEP memory --last; "
        "rm -r /tmp/lockstep-letters-$$"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[512];
        snprintf(line, sizeof line, "LOCKSTEP=$(realpath $LOCKSTEP); %s", lines[i]);
        test_shell(line, said, sizeof said);
        EXPECT(*said);
        expect_harmless(lines[i], "");
    }
    EXPECT_CONTAINS(said, "! Asked again, of ");
    EXPECT_CONTAINS(said, "a?[31m?b");
}

// ---- The writers.

static const char *passed(const char *const *pieces, int count, bool flush) {
    char path[] = "/tmp/lockstep-passed-XXXXXX";
    int descriptor = mkstemp(path);
    FILE *out = letters_out_open(descriptor);
    for (int i = 0; i < count; i++) {
        fputs(pieces[i], out);
        if (flush) fflush(out);
    }
    fclose(out);
    FILE *in = fopen(path, "r");
    said[fread(said, 1, sizeof said - 1, in)] = '\0';
    fclose(in);
    unlink(path);
    return said;
}

TEST(letters_pass_whole_however_they_are_cut_and_hidden_ones_are_shown) {
    const char *const texts[][2] = {{"plain\n\ttext", "plain\n\ttext"},
                                    {"gr\u00fc\u00dfe \u2588 \U0001f600", "gr\u00fc\u00dfe \u2588 \U0001f600"},
                                    {"a\033[31mb\rc\bd\x7f", "a?[31mb?c?d?"},
                                    {"\xc2\x85\xc2\x9b\u2028\u202e\u200b\ufeff\U000e0041|", "???????|"},
                                    {"\xff\xc3(\xe2\x88|\xed\xa0\x80|\xf0\x9f\x98", "?"
                                                                                    "?(?|?|?"},
                                    {"\x9b\x80\x80", "???"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        EXPECT_TEXT(passed(&texts[i][0], 1, false), texts[i][1]);
        char letters[64][2] = {{0}};
        const char *pieces[64];
        int count = (int)strlen(texts[i][0]);
        for (int k = 0; k < count; k++) {
            letters[k][0] = texts[i][0][k];
            pieces[k] = letters[k];
        }
        EXPECT_TEXT(passed(pieces, count, true), texts[i][1]);
    }
}

TEST(only_colours_of_the_program_pass) {
    char path[] = "/tmp/lockstep-colours-XXXXXX";
    FILE *out = letters_out_open(mkstemp(path));
    Style style = {.color = true};
    fputs("\033[1mdata", out);
    terminal_bold(out, &style);
    fputs("\033[0m\xe2\x88", out);
    terminal_color(out, &style, 0xff0000);
    terminal_reset(out, &style);
    fclose(out);
    FILE *in = fopen(path, "r");
    said[fread(said, 1, sizeof said - 1, in)] = '\0';
    fclose(in);
    unlink(path);
    EXPECT_TEXT(said, "?[1mdata\033[1m?[0m?\033[38;5;196m\033[0m");
}

TEST(long_texts_pass_as_they_are) {
    static char text[40000];
    for (size_t i = 0; i + 1 < sizeof text; i++) text[i] = "abc\n"[i % 4];
    memcpy(text + 8190, "\u2588", 3); // across the stream's own cuts
    memcpy(text + 16383, "\u2588", 3);
    const char *pieces[] = {text};
    EXPECT_TEXT(passed(pieces, 1, false), text);
    text[20000] = '\033';
    passed(pieces, 1, false);
    text[20000] = '?';
    EXPECT_TEXT(said, text);
}

TEST(a_cell_of_csv_is_a_text_or_a_number_and_never_a_formula) {
    const char *const cells[][2] = {{"plain", "plain"},  {"a,b", "\"a,b\""},        {"a\"b", "\"a\"\"b\""},
                                    {"=1+1", "'=1+1"},   {"=A1,B1", "\"'=A1,B1\""}, {"+1-800", "'+1-800"},
                                    {"-3.5", "-3.5"},    {"+2 %", "+2 %"},          {"-2e-3", "-2e-3"},
                                    {"-x", "'-x"},       {"@SUM(1)", "'@SUM(1)"},   {"\t=1", "' =1"},
                                    {"\r=1", "' =1"},    {"a\nb", "a b"},           {"\uff1d1", "'\uff1d1"},
                                    {"\u200b=1", "?=1"}, {"a\033[31m", "a?[31m"}};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char text[64] = "";
        FILE *out = fmemopen(text, sizeof text, "w");
        CsvWriter csv = csv_writer(out);
        csv_text(&csv, cells[i][0]);
        fclose(out);
        EXPECT_TEXT(text, cells[i][1]);
    }
}

TEST(json_names_letters_that_are_not_seen_by_their_number) {
    char text[256] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    JsonWriter json = json_writer(out, 0);
    json_write_text(&json, "\x7f\xc2\x85\u202e\u2028\u200b\ufeff\u00ad\U000e0041\xff");
    fclose(out);
    EXPECT_TEXT(text, "\"\\u007f\\u0085\\u202e\\u2028\\u200b\\ufeff\\u00ad\\udb40\\udc41\ufffd\"");
}

TEST(csv_may_begin_with_a_byte_order_mark) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Csv *csv = csv_read_text(arena, "x.csv", "\ufeffa,b\n1,2\n", problems);
    EXPECT(csv && csv_column(csv, "a", problems) == 0 && problem_count(problems) == 0);
    arena_close(arena);
}

TEST(a_config_json_may_keep_lines_in_texts_that_are_no_names) {
    EXPECT_INT(test_shell("f=$(mktemp); printf '%s' '{\"model_type\": \"llama\", \"_name_or_path\": \"mine\", "
                          "\"chat_template\": \"a\\nb\\u001b\", \"hidden_size\": 512, \"num_hidden_layers\": 4, "
                          "\"num_attention_heads\": 8, \"intermediate_size\": 1024, \"vocab_size\": 5000, "
                          "\"max_position_embeddings\": 512}' >$f.json; $LOCKSTEP params --model $f.json; "
                          "ended=$?; rm $f $f.json; exit $ended",
                          said, sizeof said),
               0);
    EXPECT_CONTAINS(said, "Parameters  15,610,368");
}
