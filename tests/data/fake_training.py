"""Runs train_steps.py's own main() with PyTorch made up: a clock that advances, models that only count, and cases that
run out of memory, diverge and hang. Prints nothing when all is as it must be."""
import csv
import os
import subprocess
import sys
import time
import types

sys.dont_write_bytecode = True
sys.path.insert(0, "calibrate/gpu/bench")
import train_models
import train_steps

clock = {"now": 0.0, "case": None}


class Anything:
    """Takes any call and any attribute; is its own context."""

    def __getattr__(self, name):
        return Anything()

    def __call__(self, *words, **more):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *words):
        return False


class Event:
    def record(self):
        self.at = clock["now"]

    def elapsed_time(self, other):
        return 1e3 * (other.at - self.at)


class Parameter:
    def __init__(self, count):
        self.count = count

    def numel(self):
        return self.count


class Loss:
    def __init__(self, value):
        self.value = value

    def backward(self):
        pass

    def __float__(self):
        return self.value


class Model:
    def __init__(self, row):
        self.name = next(name for name, of in train_models.MODELS.items() if of is row)

    def parameters(self):
        return [Parameter(train_models.parameter_count(self.name))]

    def to(self, **more):
        return self

    def bfloat16(self):
        return self

    def __call__(self, images, target):
        clock["now"] += 0.25
        if self.name == "bert-large":
            raise MemoryError("CUDA out of memory. Tried to allocate\nmore than there is")
        if self.name == "vit-l-16":
            raise RuntimeError("backend='inductor' raised:\nTritonMissing: no Triton\n\nand more")
        if self.name == "gpt2-774m" and HANGS:
            time.sleep(60)
        return Loss(float("nan") if self.name == "vit-b-16" else 7.5)


class Scaler:
    def __init__(self, *words, **more):
        pass

    def scale(self, loss):
        return loss

    def unscale_(self, optimizer):
        pass

    def step(self, optimizer):
        optimizer.step()

    def update(self):
        pass


class Kernel:
    device_type, name, is_user_annotation = "DeviceType.CUDA", "gemm", False
    time_range = types.SimpleNamespace(elapsed_us=lambda: 12.0)


class Profile(Anything):
    def events(self):
        return [Kernel(), Kernel(), Kernel()]


def made_up_torch():
    torch = types.ModuleType("torch")
    torch.__version__, torch.bfloat16, torch.float16 = VERSION, "bf16", "fp16"
    torch.version = types.SimpleNamespace(cuda="12.fake")
    torch.backends = types.SimpleNamespace(
        cudnn=types.SimpleNamespace(version=lambda: 9), cuda=types.SimpleNamespace(matmul=types.SimpleNamespace())
    )
    torch.channels_last = "nhwc"
    torch.device = lambda kind, index: Anything()
    torch.manual_seed = torch.autocast = Anything()
    torch.compile = lambda model: model
    torch.compiler = torch.optim = Anything()
    torch.amp = types.SimpleNamespace(GradScaler=Scaler)
    torch.profiler = types.SimpleNamespace(
        profile=lambda activities: Profile(), ProfilerActivity=types.SimpleNamespace(CUDA=1, CPU=2)
    )
    torch.cuda = types.SimpleNamespace(
        is_available=lambda: True, synchronize=lambda: None, empty_cache=lambda: None,
        reset_peak_memory_stats=lambda: None, max_memory_allocated=lambda: 5 << 30,
        max_memory_reserved=lambda: 6 << 30, Event=lambda enable_timing: Event(),
        get_device_properties=lambda index: types.SimpleNamespace(
            name="NVIDIA H100 80GB HBM3", total_memory=80 << 30, major=9
        ),
    )
    torch.nn = types.ModuleType("torch.nn")
    torch.nn.attention = types.ModuleType("torch.nn.attention")
    torch.nn.attention.SDPBackend = torch.nn.attention.sdpa_kernel = Anything()
    torch.nn.utils = types.SimpleNamespace(clip_grad_norm_=Anything())
    torch.utils = types.ModuleType("torch.utils")
    torch.utils.checkpoint = types.ModuleType("torch.utils.checkpoint")
    return {
        "torch": torch, "torch.utils": torch.utils, "torch.utils.checkpoint": torch.utils.checkpoint,
        "torch.nn": torch.nn, "torch.nn.attention": torch.nn.attention,
    }


def run(out, words):
    sys.modules.update(made_up_torch())
    train_steps.build = lambda torch, row, flash: Model(row)
    train_steps.data_for = lambda torch, row, batch, device: (types.SimpleNamespace(is_floating_point=lambda: True,
                                                                                   bfloat16=lambda: None), None)
    return train_steps.main(["-o", out] + words)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


VERSION = "2.11.0+fake"
HANGS = sys.argv[1:2] == ["hang"]
if HANGS:
    train_steps.GRACE_SECONDS = train_steps.SECONDS_EACH = 0
    train_steps.LEAST_FLOPS = dict.fromkeys(train_steps.LEAST_FLOPS, 1e18)
    sys.exit(run(sys.argv[2], ["--models", "gpt2-124m,gpt2-774m", "--no-compile", "--budget", "1"]))

folder = sys.argv[1]
own, kernels, header = folder + "/own.csv", folder + "/kernels.csv", sys.argv[2]
train_steps.SECONDS_EACH = train_steps.SECONDS_COMPILING = 0
assert run(own, ["--kernels", kernels, "--steps", "3"]) == 0
rows, cases = rows_of(own), train_steps.planned(train_steps.read_arguments([]))
reasons = {
    "bert-large": "failed: CUDA out of memory. Tried to allocate",
    "vit-b-16": "failed: the loss is nan: this is no training",
    "vit-l-16": "failed: backend='inductor' raised: TritonMissing: no Triton",
}
assert len(rows) == len(cases) and {row["model"] for row in rows} == set(train_models.MODELS)
assert len({row["row_id"] for row in rows}) == len(rows) and rows[0]["row_id"] == "own-h100-0001"
lost = [row for row in rows if row["model"] in reasons]
rows = [row for row in rows if row["model"] not in reasons]
assert all(row["notes"] == "synthetic data; " + reasons[row["model"]] for row in lost), lost
assert not any(row["iter_time_s"] or row["peak_mem_bytes"] for row in lost), lost
assert all(row["iter_time_s"] == "0.25" and row["peak_mem_bytes"] == str(5 << 30) for row in rows)
assert {row["attn_impl"] for row in rows} == {"flash-2", "plain", ""}
assert {row["compiled"] for row in rows} == {"0", "1"} and {row["recompute"] for row in rows} == {"none", "full"}
with open(own) as mine, open(header) as theirs:
    assert mine.readline().strip() == theirs.readline().strip()
assert [row["us_per_step"] for row in rows_of(kernels)] == ["12.000"] * len(rows)

# Nothing fits the budget: no row, and said so by the exit code. Nor does an old PyTorch begin.
fewer = folder + "/fewer.csv"
train_steps.SECONDS_EACH = 1000
assert run(fewer, ["--budget", "10"]) == 1 and rows_of(fewer) == []
VERSION = "1.13.1"
assert run(fewer, []) == 1
VERSION, train_steps.SECONDS_EACH = "2.11.0+fake", 0

# Cases that take ten times what was expected leave the later ones out.
beyond, least = len(cases), train_steps.LEAST_FLOPS
clock_of, pace = time.monotonic, [0.0]
time.monotonic = lambda: clock_of() + pace[0]


def slowly(*words):
    pace[0] += 10 * train_steps.expected(words[1], 15)
    return run_case(*words)


run_case, train_steps.run_case = train_steps.run_case, slowly
assert run(fewer, ["--budget", "100", "--no-compile"]) == 0
done = [row["model"] for row in rows_of(fewer)]
assert 2 <= len(done) < beyond / 2 and pace[0] < 200, (len(done), pace)
time.monotonic, train_steps.run_case = clock_of, run_case

# A case that hangs ends with the program, and what was measured before it is in the file.
ended = subprocess.run([sys.executable, __file__, "hang", fewer], capture_output=True, timeout=20)
assert ended.returncode == 1 and b"the time is up" in ended.stderr, ended
assert [row["model"] for row in rows_of(fewer)][:1] == ["gpt2-124m"] and len(rows_of(fewer)) >= 1
