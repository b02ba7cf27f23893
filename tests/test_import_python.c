// Python as it is evaluated: what follows from its text, and what does not.
#include "tests/import_read.h"
#include "tests/test.h"

// What `lines` make of an option --z of a program that they start.
static const char *printed(Arena *arena, const char *lines) {
    const char *text = arena_printf(arena,
                                    "import subprocess, os, sys\n%s\nsubprocess.run(['torchrun', '--nproc_per_node=8', "
                                    "'train.py', '--model=gpt2', '--batch-size=2', f'--lr={z}'])\n",
                                    lines);
    const Import *import = read_as(arena, "launch.py", text, &(ImportAsked){.node = "dgx-h100"});
    for (int i = 0; i < import->idle.count; i++)
        if (strcmp(import->idle.items[i].name, "--lr") == 0) return import->idle.items[i].value;
    return "(not said)";
}

TEST(values_of_python_follow_from_its_text) {
    static const char *const cases[][2] = {
        {"z = 2 + 3 * 4 ** 2 // 5 - 7 % 4", "8"},
        {"z = -(-10 // 4)", "3"},
        {"z = 1_000 * 2", "2000"},
        {"a, (b, c) = 1, [2, 3]\nz = f'{a}{b:02d}{c:.1f}{{}}'", "1023.0{}"},
        {"z = '%s-%03d' % ('a', 7) + '{}{x}'.format(1, x=2)", "a-00712"},
        {"z = 'a' 'b' r'\\n' \"c\\\"d\"", "ab\\nc\"d"},
        {"z = [1, 2, 3, 4][-2] + len('abc'[1:])", "5"},
        {"d = {'a': 1, **{'b': 2}}\nd['c'] = 3\nz = sum(d.values()) + d.get('x', 10)", "16"},
        {"z = ','.join(k + str(v) for k, v in {'a': 1, 'b': 2}.items() if v > 1)", "b2"},
        {"z = 'x' if 3 in (1, 2, 3) and not 'a' == 'b' else 'y'", "x"},
        {"z = None or 'usual'", "usual"},
        {"z = (lambda a, b=2: a * b)(3)", "6"},
        {"def f(n):\n    if n <= 1:\n        return 1\n    return n * f(n - 1)\nz = f(5)", "120"},
        {"def f(*a, k=1, **o):\n    return len(a) + k + o['m']\nz = f(1, 2, k=3, m=4)", "9"},
        {"def g():\n    for i in range(3):\n        yield i\nz = sum(g())", "3"},
        {"class A:\n    n = 2\n    def __init__(self, m=3):\n        self.m = m\n"
         "    @property\n    def p(self):\n        return self.n * self.m\n"
         "class B(A):\n    n = 5\n    def __init__(self):\n        super().__init__(m=4)\nz = B().p",
         "20"},
        {"from dataclasses import dataclass\n@dataclass\nclass A:\n    a: int = 1\n    b: int = 2\nz = A(5, b=6).a + "
         "A().b",
         "7"},
        {"z = 0\nfor i in range(10):\n    if i == 2:\n        continue\n    if i > 4:\n        break\n    z += i", "8"},
        {"x = 'b'\nmatch x:\n    case 'a' | 'c':\n        z = 1\n    case 'b':\n        z = 2\n    case _:\n        z "
         "= 3",
         "2"},
        {"z = os.environ.get('NOT_SET_HERE', '4')", "4"},
        {"if (n := 3) > 2: z = n", "3"},
        {"with open('x') as f, open('y') as g:\n    z = 1", "1"},
        {"try:\n    z = 1\nfinally:\n    pass", "1"},
        {"z = 1 if True is not 1 else 2", "1"},
        {"z = isinstance([], (int, list))", "True"},
        {"z = 'a-b'.replace('-', '_').upper().split('_')[1]", "B"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_open();
        EXPECT_TEXT(printed(arena, cases[i][0]), cases[i][1]);
        arena_close(arena);
    }
}

// Nothing is made up: of what is not known follows what is not known, and both branches agree or it is not.
TEST(what_python_does_not_say_stays_not_known) {
    static const char *const cases[] = {"z = unheard_of()",
                                        "z = 1 + unheard_of()",
                                        "z = unheard_of()[0].a * 3",
                                        "z = 1\nif unheard_of():\n    z = 2",
                                        "z = 1 if unheard_of() else 2",
                                        "z = input()",
                                        "z = os.environ['NOT_SET_HERE']",
                                        "z = eval('1 + 1')",
                                        "def f():\n    return f()\nz = f()",
                                        "z = 1 / 0",
                                        "z = sum(i for i in unheard_of())",
                                        "z = 2 ** 99999"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_open();
        EXPECT_TEXT(printed(arena, cases[i]), "?");
        arena_close(arena);
    }
    Arena *arena = arena_open();
    EXPECT_TEXT(printed(arena, "if unheard_of():\n    z = 2\nelse:\n    z = 2"), "2");
    arena_close(arena);
}

// A line that is no Python costs itself alone.
TEST(lines_that_are_no_python_are_passed_over) {
    static const char *const lines[] = {"x = = 3",   "print 'old'", "def :",     "a b c", "@@", "?",   "if :",
                                        "x = [1, 2", "lambda",      "for in x:", "class", "0x", "f('", "}"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        Arena *arena = arena_open();
        bool open = strchr(lines[i], '[') != NULL; // a bracket that nothing closes goes on to the end, as in Python
        const char *text = arena_printf(arena, "z = 5\n%s\n", lines[i]);
        if (!open) EXPECT_TEXT(printed(arena, text), "5");
        arena_close(arena);
    }
}

static const Import *script_of(Arena *arena, const char *text) {
    return read_as(arena, "x.sh", text, &(ImportAsked){.node = "dgx-h100", .model = "gpt2"});
}

TEST(a_program_reads_the_configuration_beside_it) {
    Arena *arena = arena_open();
    const Import *import = script_of(
        arena,
        "#!/bin/bash\nmkdir c\ncat > c/a.yaml <<'E'\nname: gpt2\ntrain: {bs: 4, wide: true}\nE\n"
        "cat > t.py <<'E'\nimport yaml, torch\nfrom transformers import AutoModelForCausalLM, TrainingArguments\n"
        "with open('c/a.yaml') as f:\n    cfg = yaml.safe_load(f)\n"
        "m = AutoModelForCausalLM.from_pretrained(cfg['name'])\n"
        "a = TrainingArguments(per_device_train_batch_size=cfg['train']['bs'] * (2 if cfg['train']['wide'] else 1))\n"
        "E\ntorchrun --nproc_per_node 8 t.py --config c/a.yaml\n");
    EXPECT_TEXT(word(import, "micro-batch"), "8");
    EXPECT(lists(&import->taken, "train.wide"));
    arena_close(arena);
}

TEST(what_a_framework_calls_has_the_instance_that_was_made) {
    Arena *arena = arena_open();
    const Import *import = read_as(arena, "t.py",
                                   "import lightning as L, torch\nclass D(L.LightningDataModule):\n"
                                   "    def __init__(self, bs):\n        super().__init__()\n        self.bs = bs\n"
                                   "    def train_dataloader(self):\n"
                                   "        return torch.utils.data.DataLoader(x, batch_size=self.bs)\n"
                                   "class M(L.LightningModule):\n    def __init__(self, name):\n"
                                   "        self.save_hyperparameters()\n    def configure_model(self):\n"
                                   "        self.m = AutoModelForCausalLM.from_pretrained(self.hparams.name)\n"
                                   "t = L.Trainer(**dict(devices=4, num_nodes=2))\nt.fit(M('gpt2'), D(16))\n",
                                   &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "micro-batch"), "16");
    EXPECT_TEXT(word(import, "gpus"), "8");
    EXPECT_TEXT(word(import, "model"), "gpt2-124m");
    arena_close(arena);
}

TEST(a_script_that_a_program_writes_and_submits_is_read) {
    Arena *arena = arena_open();
    const Import *import =
        read_as(arena, "submit.py",
                "import subprocess, textwrap, json\nT = textwrap.dedent('''\\\n    #!/bin/bash\n"
                "    #SBATCH --nodes={nodes} --gpus-per-node=8 --ntasks-per-node=1\n"
                "    srun torchrun --nnodes={nodes} --nproc_per_node=8 run_clm.py --deepspeed ds.json \\\\\n"
                "      --model_name_or_path gpt2 --per_device_train_batch_size {bs}\n    ''')\n"
                "with open('ds.json', 'w') as f:\n    json.dump({'zero_optimization': {'stage': 2}}, f)\n"
                "with open('job.sh', 'w') as f:\n    f.write(T.format(nodes=2, bs=4))\n"
                "subprocess.run(['sbatch', 'job.sh'])\n",
                &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "gpus"), "16");
    EXPECT_TEXT(word(import, "zero"), "2");
    EXPECT_TEXT(word(import, "micro-batch"), "4");
    arena_close(arena);
}

#define STEP(nodes, batch)                                                                                             \
    "torchrun --nnodes=" nodes " --nproc_per_node=8 run_clm.py --model_name_or_path gpt2 "                             \
    "--per_device_train_batch_size " batch "\n"

TEST(a_script_is_known_however_a_program_fills_it_and_hands_it_over) {
    static const char *const programs[] = {
        "from string import Template\nT = Template('''#!/bin/bash\n#SBATCH --nodes=$n\nX=$$HOME\n" STEP(
            "${n}", "$bs") "''')\n"
                           "p = subprocess.Popen(['sbatch'], stdin=subprocess.PIPE)\np.communicate(T.substitute(n=2, "
                           "bs=4).encode())\n",
        "import jinja2\nT = jinja2.Template('''#!/bin/bash\n#SBATCH --nodes={{ n }}\n" STEP(
            "{{n}}",
            "{{ bs }}") "''')\n"
                        "subprocess.run('sbatch -', shell=True, input=T.render({'n': 2, 'bs': 4}), text=True)\n",
        "class A:\n    n = 2\nT = '''#!/bin/bash\n#SBATCH --nodes={a.n}\n" STEP(
            "{a.n}", "{d[bs]}") "'''\n"
                                "with open('j', 'w') as f:\n    print(T.format(a=A(), d={'bs': 4}), file=f)\n"
                                "subprocess.run(['sbatch'], stdin=open('j'))\n",
        "import tempfile\nw = {'b': '--per_device_train_batch_size 4', 'a': 'torchrun --nnodes=2 --nproc_per_node=8 "
        "run_clm.py --model_name_or_path gpt2'}\nwith tempfile.NamedTemporaryFile('w') as f:\n"
        "    f.write('#!/bin/bash\\n#SBATCH --nodes=2\\n' + ' '.join(v for k, v in sorted(w.items())))\n"
        "subprocess.run(['sbatch', f.name])\n"};
    Arena *arena = arena_open();
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const char *text = arena_printf(arena, "import subprocess\n%s", programs[i]);
        const Import *import = read_as(arena, "submit.py", text, &(ImportAsked){.node = "dgx-h100"});
        EXPECT_TEXT(word(import, "gpus"), "16");
        EXPECT_TEXT(word(import, "micro-batch"), "4");
    }
    arena_close(arena);
}

TEST(a_notebook_is_the_program_of_its_cells) {
    Arena *arena = arena_open();
    const Import *import =
        read_as(arena, "a.ipynb",
                "{\"cells\": [{\"cell_type\": \"markdown\", \"source\": [\"bs = 1\"]},\n"
                "{\"cell_type\": \"code\", \"source\": [\"!pip install x\\n\", \"bs = 4\\n\"]},\n"
                "{\"cell_type\": \"code\", \"source\": \"%%writefile c.json\\n{\\\"zero_optimization\\\": "
                "{\\\"stage\\\": 3}}\"},\n"
                "{\"cell_type\": \"code\", \"source\": [\"%env NPROC=2\\n\", \"!torchrun --nproc_per_node=$NPROC "
                "run_clm.py \\\\\\n\",\n"
                "\"  --model_name_or_path gpt2 --deepspeed c.json --per_device_train_batch_size {bs * 2}\"]}],\n"
                "\"nbformat\": 4}\n",
                &(ImportAsked){.node = "dgx-h100"});
    EXPECT_TEXT(word(import, "micro-batch"), "8");
    EXPECT_TEXT(word(import, "gpus"), "2");
    EXPECT_TEXT(word(import, "zero"), "3");
    arena_close(arena);
}

TEST(a_program_is_of_no_software_that_it_does_not_import) {
    static const char text[] = "#!/bin/bash\ncat > t.py <<'E'\nimport %s\n%sE\n"
                               "torchrun --nproc_per_node 8 t.py --train.micro_batch_size 2\n";
    Arena *arena = arena_open();
    EXPECT_TEXT(script_of(arena, arena_printf(arena, text, "torch", ""))->software, "a script of its own");
    EXPECT_TEXT(script_of(arena, arena_printf(arena, text, "torch", "from megatron.bridge import x\n"))->software,
                "Megatron-Bridge");
    EXPECT_TEXT(script_of(arena, arena_printf(arena, text, "helpers", ""))->software, "Megatron-Bridge");
    arena_close(arena);
}
