// Every reader of data takes a time that grows with its file and no faster, whatever stands in the file: the
// processor's time for 8n bytes is held against that for n. LOCKSTEP_READERS=long prints what 10, 20 and 40 MB take
// instead.
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/child.h"
#include "tests/test.h"

#define KB 1000
#define MB (1000 * KB)
#define PARTS "{\"format\":\"lockstep-hardware\",\"format_version\":1,"
#define GPUS PARTS "\"gpus\":[{\"name\":\"g0\",\"like\":\"H100\"}"
#define HW "hw check {}"
#define BOOK "provider,date,source,node,gpu,gpus,currency,region,on_demand,per_usd\n"
#define COST "cost --node dgx-h100 --gpus 8 --price-book {}"
#define CONFIG "{\"model_type\":\"llama\""
#define MEMORY "memory --gpu H100 --micro-batch 1 --model {}"
#define RUNS                                                                                                           \
    "row_id,family,source,model,model_type,layers,hidden,heads,seq_len,gpu,n_gpus,n_nodes,gpus_per_node,framework,"    \
    "software,tp,pp,dp,micro_batch,global_batch,precision,optimizer,overlap,iter_time_s,notes\n"
#define LOG "# op: all_reduce\n#  size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
#define TRACE                                                                                                          \
    "{\"schemaVersion\":1,\"traceEvents\":[{\"name\":\"ProfilerStep#1\",\"cat\":\"user_annotation\",\"ts\":0,\"dur\":" \
    "9}"
#define KERNEL ",{\"name\":\"k%1$d\",\"cat\":\"kernel\",\"ts\":%1$d,\"dur\":1"
#define BENCH "{\"record\":\"header\",\"gpu\":\"H100\"}\n"
#define JOBS "user,group,submit_s,gpus,duration_s\n"
#define GRAPH "{\"kind\":\"graph\",\"links\":[{\"from\":\"s0\",\"to\":\"s1\",\"bandwidth\":\"1 GB/s\"}"
#define COLLECTIVE "collective all_reduce --node dgx-h100 --nodes 2 --sizes 1M --fabric "
#define JOB "run --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8"
#define ASKED                                                                                                          \
    "{\"format\":\"lockstep-answer\",\"format_version\":2,\"command\":[\"lockstep\",\"run\",\"--model\",\"gpt2-"       \
    "124m\","                                                                                                          \
    "\"--node\",\"dgx-a100\",\"--gpus\",\"8\",\"--micro-batch\",\"1\",\"--global-batch\",\"8\","
#define CHECK "check --model gpt2-124m --node dgx-a100 --gpus 8 --micro-batch 1 --global-batch 8 --log {}"
#define LAUNCH "memory {} --node dgx-a100 --gpus 8"
#define TORCHRUN                                                                                                       \
    "torchrun --nproc_per_node=8 pretrain_gpt.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 "          \
    "--seq-length 1024 --micro-batch-size 1"
#define PYTHON                                                                                                         \
    "import subprocess\nsubprocess.run(['torchrun', '--nproc_per_node=8', 'train.py', '--model=gpt2', "                \
    "'--batch-size=1'])\n"
#define ANSWER "{\"format\":\"lockstep-answer\",\"format_version\":1,\"kind\":\"run\",\"points\":[{}"

// A file of `head`, then `row` again and again, then, where `middle` is given, that and `more` as often, then `tail`.
// Rows have their number as %1$d, and that of the row before as %2$d. "{}" in the command is the file.
typedef struct Shape {
    const char *what, *command, *file;
    size_t bytes; // n of the short form: 0 is 96 kB
    const char *head, *row, *middle, *more, *tail;
    size_t most; // what the reader takes; 0: more than is tried here
} Shape;

static const Shape shapes[] = {
    {"parts", HW, "p.json", 0, GPUS,
     ",{\"name\":\"gpu-%1$d\",\"like\":\"H100\",\"sms\":[108,\"datasheet\",\"sheet %1$d\"]}", .tail = "]}"},
    {"parts, each like the last", HW, "p.json", 0, GPUS, ",{\"name\":\"g%1$d\",\"like\":\"g%2$d\"}", .tail = "]}"},
    {"parts that lack all", HW, "p.json", 30 * KB, GPUS, ",{\"name\":\"gpu number %1$d\"}", .tail = "]}"},
    {"parts of one name", HW, "p.json", 0, GPUS, ",{\"name\":\"g0\",\"like\":\"H100\"}", .tail = "]}"},
    {"parts like nobody", HW, "p.json", 0, GPUS, ",{\"name\":\"g%1$d\",\"like\":\"H100 %1$dGB\"}", .tail = "]}"},
    {"parts of one alias", HW, "p.json", 0, GPUS,
     ",{\"name\":\"g%1$d\",\"like\":\"H100\",\"aliases\":[\"one\",\"of %1$d\"]},{\"name\":\"h%1$d\",\"like\":\"one\"}",
     .tail = "]}"},
    {"many aliases", HW, "p.json", 0, PARTS "\"gpus\":[{\"name\":\"g0\",\"like\":\"H100\",\"aliases\":[\"a\"",
     ",\"alias %1$d\"", .tail = "]}]}"},
    {"nodes of GPUs of the file", HW, "p.json", 0, GPUS, ",{\"name\":\"g%1$d\",\"like\":\"H100\"}",
     .middle = "],\"nodes\":[{\"name\":\"n0\",\"like\":\"dgx-h100\"}",
     ",{\"name\":\"n%1$d\",\"like\":\"dgx-h100\",\"gpu\":\"g%1$d\"}", "]}"},
    {"sources", HW, "p.json", 0, PARTS "\"sources\":{\"s0\":\"a\"", ",\"s%1$d\":\"sheet %1$d\"",
     .middle = "},\"gpus\":[{\"name\":\"g0\",\"like\":\"H100\"}",
     ",{\"name\":\"g%1$d\",\"like\":\"H100\",\"sms\":[108,\"datasheet\",\"s%1$d+s%2$d\"]}", "]}"},
    {"a source of many keys", HW, "p.json", 0,
     PARTS "\"sources\":{\"S\":\"a text\"},\"gpus\":[{\"name\":\"g0\",\"like\":\"H100\",\"sms\":[108,\"datasheet\",\"S",
     "+S", .tail = "\"]}]}"},
    {"a long name", HW, "p.json", MB, PARTS "\"gpus\":[{\"like\":\"H100\",\"name\":\"", "amd ", .tail = "\"}]}"},
    {"equal keys", HW, "p.json", 0, "{\"k\":1", ",\"k\":1", .tail = "}"},
    {"unknown keys", HW, "p.json", 0, PARTS "\"k\":1", ",\"key %1$d\":1", .tail = "}"},
    {"lists in lists", HW, "p.json", MB, "", "[", .tail = ""},
    {"a long number", HW, "p.json", MB, "", "1", .tail = ""},
    {"many numbers", HW, "p.json", 0, "[0", ",%1$d", .tail = "]"},
    {"escapes", HW, "p.json", MB, "[\"", "\\u00e9\\n", .tail = "\"]"},
    {"an open text", HW, "p.json", MB, "[\"", "abcdefgh", .tail = ""},

    {"price book", COST, "b.csv", 0, BOOK, "provider %1$d,2026-04,quote %1$d,,H100,8,USD,,%1$d.5,\n", .tail = ""},
    {"price book of nobody's GPUs", COST, "b.csv", 0, BOOK, "provider %1$d,2026-04,quote,,no %1$d,8,USD,,1.5,\n",
     .tail = ""},
    {"price book in currencies", COST, "b.csv", 0, BOOK, "p,2026-04,quote %1$d,,,,C%1$d,,,1.5\n", .middle = "",
     "provider %1$d,2026-04,quote %1$d,,H100,8,C%1$d,,1.5,\n", ""},
    {"price book for a node", COST, "b.csv", 0, BOOK, "provider %1$d,2026-04,quote,dgx-h100,,8,USD,,%1$d.5,\n",
     .tail = ""},
    {"many columns", COST, "b.csv", 0, "provider,date,source", ",column %1$d", .tail = "\n"},
    {"empty lines", COST, "b.csv", 0, BOOK, "\n", .tail = ""},
    {"rows of one cell", COST, "b.csv", 0, BOOK, "%1$d\n", .tail = ""},
    {"an open quote", COST, "b.csv", MB, BOOK "\"", "ab\n", .tail = ""},
    {"a long cell of quotes", COST, "b.csv", MB, BOOK "\"", "\"\"", .tail = "\"\n"},

    {"config.json", MEMORY, "config.json", 0, CONFIG, ",\"key %1$d\":%1$d", .tail = "}"},
    {"config.json of a long name", MEMORY, "config.json", MB, CONFIG ",\"_name_or_path\":\"", "abcd ", .tail = "\"}"},

    {"training runs", "validate training {}", "r.csv", 0, RUNS,
     "r%1$d,family %1$d,s,m,other,1,1,1,1,H100,1,1,1,software %1$d,1,2,1,1,1,1,bf16,adam,,1,\n", .tail = ""},
    {"training runs of bad cells", "validate training {}", "r.csv", 0, RUNS,
     "r%1$d,f,s,m,other,x,1,1,1,H100,1,1,1,software,1,x,1,1,1,1,bf16,adam,,x,\n", .tail = ""},
    {"words of an optimizer", "validate training {}", "r.csv", 0,
     RUNS "r,f,s,m,other,1,1,1,1,H100,1,1,1,s,1,1,1,1,1,1,bf16,\"", "word %1$d,", .tail = "\",,1,\n"},
    {"settings in notes", "validate training {}", "r.csv", 0,
     RUNS "r,f,s,m,other,1,1,1,1,H100,1,1,1,s,1,1,1,1,1,1,bf16,adam,,1,\"", "set=%1$d;", .tail = "\"\n"},
    {"anchors", "memory --gpu H100 --micro-batch 1 --model gpt2-124m --anchor {}", "r.csv", 0, RUNS,
     "r%1$d,f,s,m,other,1,1,1,1,H100,1,1,1,software,1,2,1,1,1,1,bf16,adam,,1,\n", .tail = ""},

    {"log of nccl-tests", "validate collectives {}", "l.txt", 0, LOG, "%1$d 2 float sum -1 9.5 1 1 0 9.5 1 1 0\n",
     .most = 16 * MB},
    {"ranks of a log", "validate collectives {}", "l.txt", 0, "#\n",
     "#  Rank  %1$d Group  0 Pid  %1$d on  host-%1$d device  0 [0x1b] NVIDIA H100\n", .most = 16 * MB},
    {"other lines of a log", "validate collectives {}", "l.txt", 0, LOG,
     "node1:77:78 [0] NCCL INFO via NET/IB/0 speed=%1$d\n", .most = 16 * MB},
    {"a long line of a log", "validate collectives {}", "l.txt", MB, LOG, "[1,0] <stdout>: 1-2 ", .most = 16 * MB},
    {"clusters.csv", "validate collectives --clusters {}", "c.csv", 0, "log,gpu,nodes\n", "log%1$d,H100,%1$d\n",
     .tail = ""},

    {"calibrate import, kernels", "calibrate import --from kineto {}", "t.json", 0, TRACE, KERNEL "}", .tail = "]}"},
    {"calibrate import, products", "calibrate import --from kineto {}", "t.json", 0, TRACE,
     ",{\"name\":\"aten::mm\",\"cat\":\"cpu_op\",\"args\":{\"External id\":%1$d,\"Input "
     "Dims\":[[%1$d,8],[8,8]],\"Input type\":[\"c10::Half\"]}}" KERNEL ",\"args\":{\"External id\":%1$d}}",
     .tail = "]}"},
    {"calibrate import, collectives", "calibrate import --from kineto {}", "t.json", 0, TRACE,
     KERNEL ",\"args\":{\"Collective name\":\"allreduce\",\"dtype\":\"Half\",\"In msg nelems\":%1$d,\"Group size\":2,"
            "\"Process Group Ranks\":\"[0, 1]\"}}",
     .tail = "]}"},
    {"a trace's long text", "diff {} {}", "t.json", 5 * MB, "{\"schemaVersion\":1,\"traceEvents\":[{\"name\":\"",
     "aaaaaaaaaaaaaaaaaaaa", .tail = "\"}]}"},
    {"the same packed", "diff {} {}", "t.json.gz", 5 * MB, "{\"schemaVersion\":1,\"traceEvents\":[{\"name\":\"",
     "aaaaaaaaaaaaaaaaaaaa", .tail = "\"}]}"},
    {"a trace's long number", "diff {} {}", "t.json", 5 * MB,
     "{\"schemaVersion\":1,\"traceEvents\":[{\"ts\":", "11111111111111111111", .tail = "}]}"},
    {"a trace's blanks", "diff {} {}", "t.json", 5 * MB, "{\"schemaVersion\":1,\"traceEvents\":[",
     "                    ", .tail = "]}"},
    {"a trace's lists", "diff {} {}", "t.json", 0, "{\"schemaVersion\":1,\"traceEvents\":[{\"args\":", "[", .tail = ""},
    {"a trace's kernels", "diff {} {}", "t.json", 0, TRACE, KERNEL "}", .tail = "]}"},
    {"fio", "calibrate import --from fio {}", "f.json", 0, "{\"jobs\":[{}",
     ",{\"jobname\":\"j%1$d\",\"read\":{\"bw_bytes\":5,\"io_bytes\":%1$d}}", .tail = "]}"},
    {"nccl-tests, imported", "calibrate import --from nccl-tests --operation all_reduce {}", "l.txt", 200 * KB, LOG,
     "%1$d 2 float sum -1 9.5 1 1 0 9.5 1 1 0\n", .tail = ""},
    {"table of GEMMs", "calibrate fit {}", "g.csv", 0, "gpu,dtype,op,batch,M,N,K,latency_ms,source\n",
     "no GPU %1$d,fp16,mm,1,8,8,8,0.1,s\n", .tail = ""},
    {"measurements", "calibrate fit {}", "m.json", 0, BENCH,
     "{\"record\":\"case\",\"section\":\"interference\",\"status\":\"measured\",\"variant\":\"ring of "
     "16\",\"type\":\"fp16\",\"m\":%1$d,\"n\":8,\"k\":8,\"seconds\":1}\n",
     .tail = ""},
    {"measurements, empty", "calibrate fit {}", "m.json", 0, BENCH, "{}\n", .tail = ""},

    {"jobs of many users", "queue --gpus 64 --trace {}", "j.csv", 0, JOBS, "user %1$d,group %1$d,%1$d0000,1,10\n",
     .tail = "u,g,1,1,no seconds: nothing is simulated\n"},
    {"jobs of bad cells", "queue --gpus 64 --trace {}", "j.csv", 0, JOBS, "u,g,%1$d,-1,x\n", .tail = ""},
    {"jobs of sacct", "queue --gpus 64 --trace {}", "j.csv", 0, "JobID|Submit|Start|End|AllocTRES\n",
     "%1$d|x|x|x|cpu=64,gres/gpu=8,node=1\n", .tail = ""},
    {"resources of a job", "queue --gpus 64 --trace {}", "j.csv", 0, "JobID|Submit|Start|End|AllocTRES\n1|x|x|x|a",
     ",gres/gpu:%1$d=1", .tail = "\n"},

    {"list of a sweep",
     "sweep --model mlp-mnist --node dgx-a100 --fabric eth-1g --gpus 8 --global-batch 840 --list {} --dry-run", "l.csv",
     0, "gpus\n", "%1$d\n", .tail = ""},
    {"columns of a list",
     "sweep --model mlp-mnist --node dgx-a100 --fabric eth-1g --gpus 8 --global-batch 840 --list {}", "l.csv", 0,
     "gpus", ",c%1$d", .tail = "\n"},
    {"steps of a plan", "plan --model gpt2-124m --gpu H100 --gpus 8 --steps-curve {}", "s.csv", 0, "batch,steps\n1,1\n",
     "1,%1$d\n", .tail = ""},

    {"matrix of nvidia-smi", "topo --node {}", "m.txt", 0, "\tGPU0\tGPU1\nGPU0\tX\tNV4\n", "GPU%1$d\tNV4\tX\n",
     .most = 4 * MB},
    {"a long line of a matrix", "topo --node {}", "m.txt", 0, "\tGPU0\tGPU1\n", "[1;[ ", .most = 4 * MB},
    {"XML of NCCL", "topo --node {}", "x.xml", 0, "<system version=\"1\"><cpu numaid=\"0\">", "<pci busid=\"%1$d\"/>\n",
     .tail = "</cpu></system>", .most = 4 * MB},
    {"attributes of XML", "topo --node {}", "x.xml", 0, "<system version=\"1\"", " a%1$d=\"1\"", .tail = "/>",
     .most = 4 * MB},
    {"problems of XML", "topo --node {}", "x.xml", 0, "<system version=\"1\"><cpu numaid=\"0\">",
     "<nvlink count=\"x%1$d\"/>\n", .tail = "</cpu></system>", .most = 4 * MB},
    {"graph of switches", COLLECTIVE "ib-ndr400:graph:file={}", "g.json", 0, GRAPH,
     ",{\"from\":\"s%1$d\",\"to\":\"s%2$d\",\"bandwidth\":\"1 GB/s\"}", .tail = "]}"},
    {"cables of two switches", COLLECTIVE "ib-ndr400:{}", "g.json", 0, GRAPH,
     ",{\"from\":\"s0\",\"to\":\"s1\",\"bandwidth\":\"%1$d GB/s\"}", .tail = "],\"nodes\":[\"s0\",\"s1\"]}"},
    {"objects of lstopo", "topo --node {}", "x.xml", 0, "<topology version=\"2.0\"><object type=\"Machine\">",
     "<object type=\"PCIDev\" pci_busid=\"%1$d\" pci_type=\"0200 [15b3:1]\"/>\n", .tail = "</object></topology>",
     .most = 4 * MB},
    {"topology of Slurm", COLLECTIVE "ib-ndr400:{}", "t.conf", 0, "", "SwitchName=s%1$d Nodes=n%1$d\n", .tail = "",
     .most = 16 * MB},
    {"nodes of one switch", COLLECTIVE "ib-ndr400:{}", "t.conf", 0, "SwitchName=s Nodes=n", ",n%1$d", .tail = "\n",
     .most = 16 * MB},
    {"switches above each other", COLLECTIVE "ib-ndr400:{}", "t.conf", 0,
     "SwitchName=s0 Nodes=a,b\nSwitchName=t Switches=s0", ",s0", .tail = "\n", .most = 16 * MB},
    {"a topology that goes on", COLLECTIVE "ib-ndr400:{}", "t.conf", 0, "SwitchName=s Nodes=a", " \\\n", .tail = "\n",
     .most = 16 * MB},
    {"ports of InfiniBand", COLLECTIVE "{}", "i.txt", 0, "Switch 40 \"S-1\" # \"leaf\"\n",
     "[%1$d] \"H-%1$d\"[1](2) # \"n%1$d mlx5_0\" lid 3 4xNDR\n", .tail = "", .most = 16 * MB},
    {"switches of InfiniBand", COLLECTIVE "{}", "i.txt", 0, "",
     "Switch 40 \"S-%1$d\" # \"leaf\"\n[1] \"S-%2$d\"[2] # \"l\" lid 3 4xNDR\n", .tail = "", .most = 16 * MB},
    {"a long line of InfiniBand", COLLECTIVE "{}", "i.txt", 0, "Switch 40 \"S-1\" # \"leaf\"\n[1] \"H-1\"[1]", " 4xNDR",
     .tail = "\n", .most = 16 * MB},
    {"operations of GOAL", "run {}.lua", "p.goal", 0, "num_ranks 2\nrank 0 {\n", "l%1$d: calc %1$d\n",
     .tail = "}\nrank 1 {\n}\n"},
    {"what waits in GOAL", "run {}.lua", "p.goal", 0, "num_ranks 2\nrank 0 {\nl0: calc 1\n",
     "l%1$d: calc %1$d\nl%1$d requires l%2$d\n", .tail = "}\nrank 1 {\n}\n"},
    {"all wait for one in GOAL", "run {}.lua", "p.goal", 0, "num_ranks 2\nrank 0 {\nl0: calc 1\nl1: calc 1\n",
     "l1 requires l0\n", .tail = "}\nrank 1 {\n}\n"},
    {"messages of GOAL", "run {}.lua", "p.goal", 0, "num_ranks 2\nrank 0 {\n", "send 8b to 1 tag %1$d\n",
     .middle = "}\nrank 1 {\n", "recv 8b from 0 tag %1$d\n", "}\n"},
    {"layers", "run {}.lua", "p.goal", 0, "DATA\n0\n", "l%1$d -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8 1\n", .tail = ""},
    {"checkpoints of layers", "run {}.lua", "p.goal", 0, "DATA checkpoints: 900000", " %1$d", .tail = "\n0\n"},
    {"computations of a trace", "run {}.lua", "p.0.et", 0, "\x01\x01", "\x09\x08\x01\x12\x01n\x18\x04\x38\x05",
     .tail = "", .most = 2 * MB},
    {"steps of a trainer's log", CHECK, "t.log", 0, "",
     " iteration %1$d/ 900000 | elapsed time per iteration (ms): 40.5 |\n", .tail = ""},
    {"other lines of a trainer's log", CHECK, "t.log", 0, "", "step %1$d of what nobody knows: %1$d s\n", .tail = ""},
    {"a long line of a trainer's log", CHECK, "t.log", 0, "{'loss': 1", ", 'x': 2", .tail = "}\n"},

    {"bytes of pairs", "collective all_to_all --node dgx-h100 --sizes 1M --matrix {}", "m.txt", 0, "1", " %1$d",
     .tail = "\n"},

    {"convergence points", "validate convergence {}", "v.csv", 20 * KB, "benchmark,unit,global_batch,amount,suspect\n",
     "b%1$d,u,%1$d,1,\n", .tail = ""},
    {"reliability figures", "validate reliability {}", "v.csv", 20 * KB,
     "figure,what,unit,published,bound,gpus,days,checkpoint_tb,storage,rates,relation,source\n",
     "f%1$d,w,stops,419,,x,54,,,llama3-h100,s,s\n", .tail = ""},
    {"settings of a measured step", JOB " --anchor {}", "a.csv", 0, "step_time", ",tp", .middle = "\n0.1", ",1", "\n"},
    {"other settings of a measured step", JOB " --anchor {}", "a.csv", 0, "step_time", ",c%1$d", .middle = "\n0.1",
     ",1", "\n"},
    {"measured steps", JOB " --anchor {}", "a.csv", 0, "step_time,zero\n", "x%1$d,%1$d\n", .tail = ""},
    {"a question with a long measured step", "explain {}", "a.json", 0, ASKED "\"--measured\",\"8", ",8=0.1s",
     .tail = "=1s\"]}"},
    {"a question with many measured steps", "explain {}", "a.json", 0, ASKED "\"-v\"", ",\"--measured\",\"8=%1$ds\"",
     .tail = "]}"},
    {"a question that varies much", "explain {}", "a.json", 0, ASKED "\"-v\"", ",\"--vary\",\"c%1$d=1\"", .tail = "]}"},
    {"a question of many words", "explain {}", "a.json", 0, ASKED "\"-v\"", ",\"word %1$d\"", .tail = "]}"},
    {"launch script", LAUNCH, "l.sh", 0, TORCHRUN, " --key-%1$d %1$d", .tail = "\n", .most = 4 * MB},
    {"variables of a launch script", LAUNCH, "l.sh", 0, "#!/bin/bash\n", "V%1$d=$V%2$d-%1$d\n",
     .tail = TORCHRUN " $V1\n", .most = 4 * MB},
    {"lines of a launch script", LAUNCH, "l.sh", 0, "#!/bin/bash\n", "if [ $A = %1$d ]; then echo $B; fi\n",
     .tail = TORCHRUN "\n", .most = 4 * MB},
    {"programs of a launch script", LAUNCH, "l.sh", 0, TORCHRUN "\n", "python train.py --model-%1$d x\n", .tail = "",
     .most = 4 * MB},
    {"configuration in YAML", LAUNCH, "l.yaml", 0, "base_model: gpt2\nmicro_batch_size: 1\n", "key%1$d: %1$d\n",
     .tail = "", .most = 4 * MB},
    {"lists of YAML", LAUNCH, "l.yaml", 0, "base_model: gpt2\nmicro_batch_size: 1\nlist:\n", "- {a: %1$d}\n",
     .tail = "", .most = 4 * MB},
    {"configuration in TOML", LAUNCH, "l.toml", 0, "[model]\nname = 'llama3'\nflavor = '8B'\n", "[t%1$d]\nkey = %1$d\n",
     .tail = "", .most = 4 * MB},
    {"lists of TOML", LAUNCH, "l.toml", 0, "[model]\nname = 'llama3'\nflavor = '8B'\nlist = [0", ",%1$d", .tail = "]\n",
     .most = 4 * MB},
    {"configuration in JSON", LAUNCH " --from config", "l.json", 0, "{\"train_micro_batch_size_per_gpu\":1",
     ",\"key %1$d\":%1$d", .tail = "}", .most = 4 * MB},
    {"launcher in Python", LAUNCH, "l.py", 0, "cmd = ['torchrun', '--nproc_per_node=8', 'train.py'",
     ", '--key-%1$d', '1'", .tail = "]\nsubprocess.run(cmd)\n", .most = 4 * MB},
    {"names of a program in Python", LAUNCH, "l.py", 0, PYTHON, "x%1$d = x%2$d + %1$d\n", .tail = "", .most = 4 * MB},
    {"functions of a program in Python", LAUNCH, "l.py", 0, PYTHON, "def f%1$d(a=1):\n    return f%2$d(a) + a\n",
     .tail = "", .most = 4 * MB},
    {"calls of a program in Python", LAUNCH, "l.py", 0, PYTHON, "TrainingArguments(a%1$d=%1$d)\n", .tail = "",
     .most = 4 * MB},
    {"one line of a program in Python", LAUNCH, "l.py", 0, PYTHON "x = 1", " + [%1$d][0]", .tail = "\n",
     .most = 4 * MB},
    {"answer of a run", "explain {}", "a.json", 0, ANSWER, ",{\"name\":\"p%1$d\",\"step_s\":%1$d}", .tail = "]}"},
    {"answer of a run, drawn", "report {}", "a.json", 0, ANSWER, ",{\"name\":\"p%1$d\",\"step_s\":%1$d}", .tail = "]}"},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static char folder[] = "/tmp/lockstep-readers-XXXXXX";

// ---- Files.

typedef struct Writing {
    FILE *plain;
    gzFile packed;
    size_t bytes;
} Writing;

static void put(Writing *writing, const char *text) {
    size_t length = strlen(text);
    if (writing->packed) gzwrite(writing->packed, text, (unsigned)length);
    if (writing->plain) fwrite(text, 1, length, writing->plain);
    writing->bytes += length;
}

static void put_rows(Writing *writing, const char *row, size_t until) {
    char text[1024];
    for (int i = 1; row && writing->bytes < until; i++) {
        snprintf(text, sizeof text, row, i, i - 1);
        put(writing, text);
    }
}

static void write_file(const Shape *shape, const char *path, size_t bytes) {
    bool is_packed = strstr(path, ".gz") != NULL;
    Writing writing = {.plain = is_packed ? NULL : fopen(path, "w"), .packed = is_packed ? gzopen(path, "wb1") : NULL};
    if (!writing.plain && !writing.packed) return;
    put(&writing, shape->head);
    put_rows(&writing, shape->row, shape->more ? bytes / 2 : bytes);
    if (shape->middle) put(&writing, shape->middle);
    put_rows(&writing, shape->more, bytes);
    if (shape->tail) put(&writing, shape->tail);
    if (writing.plain) fclose(writing.plain);
    if (writing.packed) gzclose(writing.packed);
}

// A rank program that stands in such a file, beside it.
static void write_program(const char *path, const char *file) {
    char name[200];
    snprintf(name, sizeof name, "%s.lua", path);
    FILE *script = fopen(name, "w");
    if (!script) return;
    fprintf(
        script,
        "local sim = require \"lockstep\"\nreturn sim.program { on = sim.cluster { node = \"dgx-a100\", gpus = 2 }, "
        "file = \"%s\" }\n",
        file);
    fclose(script);
}

// ---- Runs.

// The processor's seconds of the program on the command, or below 0 when it was killed (a limit on them ends it) or
// ended as nothing may end; what it says is not shown.
static double cpu_of(char *command, double most_seconds) {
    const char *program = getenv("LOCKSTEP") ? getenv("LOCKSTEP") : "build/lockstep";
    char name[512], *words[64] = {name};
    int count = 1, status = 0;
    struct rusage used;
    snprintf(name, sizeof name, "%s", program);
    for (char *rest, *word = strtok_r(command, " ", &rest); word && count < 63; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_RDWR);
        struct rlimit limit = {(rlim_t)most_seconds, (rlim_t)most_seconds + 1};
        for (int stream = 0; stream <= 2; stream++) dup2(nothing, stream);
        setrlimit(RLIMIT_CPU, &limit);
        execv(program, words);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child) return -1;
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 4) return -1;
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static double cpu_of_shape(const Shape *shape, size_t bytes, double most_seconds) {
    char path[192], command[1024];
    const char *from = shape->command;
    snprintf(path, sizeof path, "%s/%s", folder, shape->file);
    write_file(shape, path, bytes);
    if (strstr(from, "{}.lua")) write_program(path, shape->file);
    size_t length = 0;
    for (; *from; from++) {
        bool is_file = strncmp(from, "{}", 2) == 0;
        length += (size_t)snprintf(command + length, sizeof command - length, "%.*s", is_file ? (int)sizeof path : 1,
                                   is_file ? path : from);
        from += is_file;
    }
    double seconds = cpu_of(command, most_seconds);
    unlink(path);
    unlink(strcat(path, ".lua"));
    return seconds;
}

// ---- The short form.

#define START_RUNS 3
#define TRIES 3
#define TIMES 8          // as many bytes
#define MOST_GROWTH 28.0 // of the time for them; quadratic readers take 64 times as long, caches that overflow twice
#define NO_TIME 0.02     // seconds that are not told from none
#define MOST_SECONDS 30

// What the program takes for a file of nothing.
static double start_seconds(void) {
    double least = INFINITY;
    for (int i = 0; i < START_RUNS; i++) {
        char command[] = "hw show H100";
        least = fmin(least, cpu_of(command, MOST_SECONDS));
    }
    return least;
}

// The machine is others' too: of several tries one is enough to show that it can be done.
static void expect_linear(const Shape *shape, double start) {
    size_t bytes = (shape->bytes ? shape->bytes : 96 * KB) / 2;
    double small = 0, large = 0;
    for (int i = 0; i < TRIES; i++) {
        small = cpu_of_shape(shape, bytes, MOST_SECONDS);
        large = cpu_of_shape(shape, TIMES * bytes, MOST_SECONDS);
        if (small < 0 || large < 0) break;
        if (large - start <= MOST_GROWTH * fmax(small - start, NO_TIME)) return;
    }
    test_fail(__FILE__, __LINE__, "%s (%s): %.3f s for %zu bytes, %.3f s for %d times as many, %.3f s for none",
              shape->what, shape->command, small, bytes, large, TIMES, start);
}

// ---- The long form.

static void print_long(void) {
    static const size_t sizes[] = {10 * MB, 20 * MB, 40 * MB};
    const char *only = getenv("LOCKSTEP_READERS_ONLY");
    double start = start_seconds();
    printf("%-32s %9s %9s %9s %7s  %s\n", "s of the processor for", "10 MB", "20 MB", "40 MB", "40/10", "command");
    for (int s = 0; s < SHAPES; s++) {
        double seconds[3] = {0}, share = shapes[s].most ? (double)shapes[s].most / sizes[2] : 1;
        if (only && !strstr(shapes[s].what, only)) continue;
        for (int i = 0; i < 3; i++)
            if (i == 0 || seconds[i - 1] >= 0)
                seconds[i] = cpu_of_shape(&shapes[s], (size_t)(share * (double)sizes[i]), 600);
        printf("%-32s %9.2f %9.2f %9.2f %7.1f  %s%s\n", shapes[s].what, seconds[0], seconds[1], seconds[2],
               fmax(seconds[2] - start, 0) / fmax(seconds[0] - start, NO_TIME), shapes[s].command,
               share < 1 ? " (a share of that, its limit)" : "");
        fflush(stdout);
    }
}

LONG_TEST(8, readers_are_linear) {
    const char *form = getenv("LOCKSTEP_READERS");
    if (HAS_ADDRESS_SANITIZER || !mkdtemp(folder)) return;
    if (form && strcmp(form, "long") == 0) {
        print_long();
    } else {
        double start = start_seconds();
        for (int s = 0; s < SHAPES; s++) expect_linear(&shapes[s], start);
    }
    rmdir(folder);
}
