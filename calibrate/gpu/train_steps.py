#!/usr/bin/env python3
"""Runs real training steps on this machine's GPU and writes what was measured as rows of the training data.

Needs python3 and PyTorch with CUDA, nothing else: the models are defined below. `--list` prints the plan and
`--self-test` checks the tables; both work without PyTorch.
"""
import argparse
import csv
import math
import statistics
import sys
import time

HEADER = (
    "row_id,family,source,source_loc,system_name,model,model_type,n_params,n_params_active,layers,hidden,heads,"
    "kv_heads,ffn,mlp_act,vocab,seq_len,n_experts,moe_top_k,moe_ffn,image_size,gpu,gpu_mem_bytes,gpu_power_w,n_gpus,"
    "n_nodes,gpus_per_node,intra_link,intra_GBs_per_gpu_dir,inter_link,nics_per_node,nic_GBs,framework,software,tp,pp,"
    "vp,cp,ep,etp,dp,zero_stage,shard_group,seq_parallel,micro_batch,grad_accum,global_batch,precision,recompute,"
    "attn_impl,compiled,overlap,optimizer,iter_time_s,tokens_per_s,tokens_per_s_gpu,samples_per_s,samples_per_s_gpu,"
    "model_tflops_gpu,hw_tflops_gpu,mfu_pct,hfu_pct,peak_mem_bytes,time_to_train_s,scaling_eff_pct,metric_kind,"
    "inferred,inf_level,complete,notes"
).split(",")


def transformer(kind, layers, hidden, heads, ffn, vocab, seq, **more):
    """gpt: learned positions, GELU, biases, tied. llama: rotary, RMSNorm, SwiGLU, no biases, untied."""
    row = dict(kind=kind, layers=layers, hidden=hidden, heads=heads, kv_heads=heads, ffn=ffn, vocab=vocab, seq=seq)
    row.update(more)
    return row


MODELS = {
    "gpt2-124m": transformer("gpt", 12, 768, 12, 3072, 50257, 1024),
    "gpt2-355m": transformer("gpt", 24, 1024, 16, 4096, 50257, 1024),
    "gpt2-774m": transformer("gpt", 36, 1280, 20, 5120, 50257, 1024),
    "gpt2-1.5b": transformer("gpt", 48, 1600, 25, 6400, 50257, 1024),
    "llama-1b": transformer("llama", 22, 2048, 32, 5632, 32000, 2048, kv_heads=4),
    "llama-8b-4layers": transformer("llama", 4, 4096, 32, 14336, 128256, 2048, kv_heads=8),
    "bert-base": transformer("bert", 12, 768, 12, 3072, 30522, 512),
    "bert-large": transformer("bert", 24, 1024, 16, 4096, 30522, 512),
    "vit-b-16": transformer("vit", 12, 768, 12, 3072, 1000, 197, image=224, patch=16),
    "vit-l-16": transformer("vit", 24, 1024, 16, 4096, 1000, 197, image=224, patch=16),
    "resnet-50": dict(kind="resnet", blocks=(3, 4, 6, 3), image=224),
    "resnet-152": dict(kind="resnet", blocks=(3, 8, 36, 3), image=224),
}

# What is run: model, batch sizes, precisions, recompute, compiled. The most telling come first, so that a budget that
# runs out costs the least. Precision "bf16-amp" is autocast over FP32 weights; "bf16" has BF16 weights throughout.
PLAN = [
    ("gpt2-124m", (8, 32), ("bf16-amp",), ("none",), (0,)),
    ("llama-8b-4layers", (1, 4), ("bf16",), ("none",), (0,)),
    ("resnet-50", (64, 256), ("bf16-amp",), ("none",), (0,)),
    ("gpt2-1.5b", (4,), ("bf16-amp",), ("none", "full"), (0,)),
    ("llama-1b", (2, 8), ("bf16", "bf16-amp"), ("none",), (0,)),
    ("bert-large", (8, 32), ("bf16-amp",), ("none",), (0,)),
    ("vit-b-16", (64, 256), ("bf16-amp",), ("none",), (0,)),
    ("gpt2-355m", (4, 16), ("bf16-amp",), ("none", "full"), (0,)),
    ("gpt2-774m", (4, 8), ("bf16-amp",), ("none",), (0,)),
    ("resnet-152", (128,), ("bf16-amp",), ("none",), (0,)),
    ("bert-base", (32,), ("bf16-amp", "fp16-amp"), ("none",), (0,)),
    ("vit-l-16", (64,), ("bf16-amp",), ("none",), (0,)),
    ("llama-8b-4layers", (2,), ("bf16",), ("full",), (0,)),
    ("gpt2-124m", (8,), ("tf32", "fp32"), ("none",), (0,)),
    ("resnet-50", (128,), ("tf32", "fp32"), ("none",), (0,)),
    ("gpt2-124m", (2, 16), ("bf16-amp",), ("none", "full"), (0,)),
    ("gpt2-124m", (16,), ("bf16-amp",), ("none",), (1,)),
    ("llama-1b", (4,), ("bf16",), ("none",), (1,)),
    ("resnet-50", (128,), ("bf16-amp",), ("none",), (1,)),
    ("bert-large", (16,), ("bf16-amp",), ("none",), (1,)),
]
PRECISIONS = ("bf16-amp", "fp16-amp", "bf16", "tf32", "fp32")
SECONDS_EACH = 9  # building, warming up and measuring one case; compiling takes a minute more


def parameter_count(model):
    """From the shapes alone; the models themselves are held against it before they are timed."""
    row = MODELS[model]
    if row["kind"] == "resnet":
        count, width_in = 3 * 64 * 49 + 2 * 64, 64
        for stage, blocks in enumerate(row["blocks"]):
            width = 64 << stage
            for block in range(blocks):
                out = 4 * width
                count += width_in * width + width * width * 9 + width * out + 2 * (2 * width + out)
                count += (width_in * out + 2 * out) if block == 0 else 0
                width_in = out
        return count + width_in * 1000 + 1000
    h, ffn, layers, vocab = row["hidden"], row["ffn"], row["layers"], row["vocab"]
    if row["kind"] == "llama":
        kv = h // row["heads"] * row["kv_heads"]
        return layers * (2 * h * h + 2 * h * kv + 3 * h * ffn + 2 * h) + 2 * vocab * h + h
    block = 4 * h * h + 4 * h + 2 * h * ffn + ffn + h + 4 * h
    if row["kind"] == "gpt":
        return layers * block + vocab * h + row["seq"] * h + 2 * h
    if row["kind"] == "bert":  # embeddings and their norm, the blocks, the head of masked words with tied weights
        return layers * block + (vocab + row["seq"] + 2) * h + 2 * h + h * h + h + 2 * h + vocab
    patches = 3 * row["patch"] ** 2 * h + h
    return layers * block + patches + h + row["seq"] * h + 2 * h + h * vocab + vocab


def planned(arguments):
    """(model, batch, precision, recompute, compiled), each once, as the options limit it."""
    seen, cases = set(), []
    for model, batches, precisions, recomputes, compiled in PLAN:
        for case in (
            (model, b, p, r, c) for b in batches for p in precisions for r in recomputes for c in compiled
        ):
            wanted = (not arguments.models or model in arguments.models) and case not in seen
            wanted = wanted and (not arguments.precisions or case[2] in arguments.precisions)
            if wanted and not (case[4] and arguments.no_compile):
                seen.add(case)
                cases.append(case)
    return cases


def read_arguments(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = lambda text: [name for name in text.split(",") if name]
    parser.add_argument("-o", "--output", default="training_own.csv", help="rows (default: training_own.csv)")
    parser.add_argument("--kernels", metavar="FILE.csv", help="also the time of each kernel, through the profiler")
    parser.add_argument("--models", type=names, metavar="A,B", help="these models only")
    parser.add_argument("--precisions", type=names, metavar="A,B", help="of " + ", ".join(PRECISIONS))
    parser.add_argument("--no-compile", action="store_true", help="leave out the compiled cases")
    parser.add_argument("--budget", type=float, default=540, metavar="S", help="begin nothing after so many seconds")
    parser.add_argument("--steps", type=int, default=15, metavar="N", help="timed steps of each case")
    parser.add_argument("--list", action="store_true", help="print the plan and its duration")
    parser.add_argument("--self-test", action="store_true", help="check the tables; needs no PyTorch")
    arguments = parser.parse_args(words)
    for name in arguments.models or []:
        if name not in MODELS:
            parser.error('no model is called "%s"; known: %s' % (name, ", ".join(MODELS)))
    for name in arguments.precisions or []:
        if name not in PRECISIONS:
            parser.error('no precision is called "%s"; known: %s' % (name, ", ".join(PRECISIONS)))
    if arguments.steps < 3:
        parser.error("--steps must be 3 or more")
    return arguments


# ---- Models. Only called once PyTorch is there.


def build(torch, row):
    nn, functional = torch.nn, torch.nn.functional

    def attend(q, k, v, causal):
        return functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    class Attention(nn.Module):
        def __init__(self, causal):
            super().__init__()
            h = row["hidden"]
            self.causal, self.heads = causal, row["heads"]
            self.qkv, self.out = nn.Linear(h, 3 * h), nn.Linear(h, h)

        def forward(self, x):
            batch, seq, h = x.shape
            q, k, v = self.qkv(x).view(batch, seq, 3, self.heads, h // self.heads).permute(2, 0, 3, 1, 4)
            return self.out(attend(q, k, v, self.causal).transpose(1, 2).reshape(batch, seq, h))

    class Block(nn.Module):  # GPT-2, BERT and ViT; BERT normalises after, the others before
        def __init__(self, causal, norm_first):
            super().__init__()
            h = row["hidden"]
            self.norm_first, self.attention = norm_first, Attention(causal)
            self.norm1, self.norm2 = nn.LayerNorm(h), nn.LayerNorm(h)
            self.mlp = nn.Sequential(nn.Linear(h, row["ffn"]), nn.GELU(), nn.Linear(row["ffn"], h))

        def forward(self, x):
            if self.norm_first:
                x = x + self.attention(self.norm1(x))
                return x + self.mlp(self.norm2(x))
            x = self.norm1(x + self.attention(x))
            return self.norm2(x + self.mlp(x))

    class RmsNorm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(row["hidden"]))

        def forward(self, x):
            return functional.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), 1e-5)

    class LlamaBlock(nn.Module):
        def __init__(self):
            super().__init__()
            h, ffn, kv = row["hidden"], row["ffn"], row["hidden"] // row["heads"] * row["kv_heads"]
            linear = lambda a, b: nn.Linear(a, b, bias=False)
            self.q, self.k, self.v, self.out = linear(h, h), linear(h, kv), linear(h, kv), linear(h, h)
            self.gate, self.up, self.down = linear(h, ffn), linear(h, ffn), linear(ffn, h)
            self.norm1, self.norm2 = RmsNorm(), RmsNorm()
            width = h // row["heads"]
            angles = torch.outer(
                torch.arange(row["seq"]).float(), 10000.0 ** (-torch.arange(0, width, 2).float() / width)
            )
            self.register_buffer("cos", angles.cos().repeat(1, 2), persistent=False)
            self.register_buffer("sin", angles.sin().repeat(1, 2), persistent=False)

        def rotate(self, x):
            a, b = x.chunk(2, -1)
            return x * self.cos.to(x.dtype) + torch.cat((-b, a), -1) * self.sin.to(x.dtype)

        def forward(self, x):
            batch, seq, h = x.shape
            y, width, group = self.norm1(x), h // row["heads"], row["heads"] // row["kv_heads"]
            split = lambda z: z.view(batch, seq, -1, width).transpose(1, 2)
            q, k, v = self.rotate(split(self.q(y))), self.rotate(split(self.k(y))), split(self.v(y))
            k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
            x = x + self.out(attend(q, k, v, True).transpose(1, 2).reshape(batch, seq, h))
            y = self.norm2(x)
            return x + self.down(functional.silu(self.gate(y)) * self.up(y))

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            kind, h, vocab = row["kind"], row["hidden"], row["vocab"]
            self.kind, self.recompute = kind, False
            make = LlamaBlock if kind == "llama" else lambda: Block(kind == "gpt", kind != "bert")
            self.blocks = nn.ModuleList(make() for _ in range(row["layers"]))
            if kind == "vit":
                self.patches = nn.Conv2d(3, h, row["patch"], row["patch"])
                self.first = nn.Parameter(torch.zeros(1, 1, h))
                self.norm, self.head = nn.LayerNorm(h), nn.Linear(h, vocab)
            else:
                self.words = nn.Embedding(vocab, h)
                self.norm = RmsNorm() if kind == "llama" else nn.LayerNorm(h)
                self.head = nn.Linear(h, vocab, bias=kind == "bert")
                if kind != "llama":
                    self.head.weight = self.words.weight
            if kind == "bert":
                self.types, self.dense, self.last_norm = nn.Embedding(2, h), nn.Linear(h, h), nn.LayerNorm(h)
            if kind != "llama":
                self.places = nn.Parameter(0.02 * torch.randn(row["seq"], h))

        def embed(self, x):
            if self.kind == "vit":
                patches = self.patches(x).flatten(2).transpose(1, 2)
                x = torch.cat((self.first.expand(len(x), -1, -1).to(patches.dtype), patches), 1)
                return x + self.places.to(x.dtype)
            x = self.words(x)
            if self.kind == "bert":
                return self.norm(x + self.places + self.types.weight[0])
            return x if self.kind == "llama" else x + self.places

        def forward(self, x, target):
            x = self.embed(x)
            for block in self.blocks:
                if self.recompute:
                    x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
                else:
                    x = block(x)
            if self.kind == "bert":
                x = self.last_norm(functional.gelu(self.dense(x)))
            else:
                x = self.norm(x)
            logits = self.head(x[:, 0] if self.kind == "vit" else x)
            return functional.cross_entropy(logits.float().flatten(0, -2), target.flatten())

    class Bottleneck(nn.Module):
        def __init__(self, width_in, width, stride):
            super().__init__()
            out = 4 * width
            conv = lambda a, b, size, step: nn.Conv2d(a, b, size, step, size // 2, bias=False)
            self.path = nn.Sequential(
                conv(width_in, width, 1, 1), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
                conv(width, width, 3, stride), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
                conv(width, out, 1, 1), nn.BatchNorm2d(out),
            )
            first = width_in != out
            self.past = nn.Sequential(conv(width_in, out, 1, stride), nn.BatchNorm2d(out)) if first else nn.Identity()

        def forward(self, x):
            return functional.relu(self.path(x) + self.past(x), inplace=True)

    class ResNet(nn.Module):
        def __init__(self):
            super().__init__()
            parts = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)]
            parts.append(nn.MaxPool2d(3, 2, 1))
            width_in = 64
            for stage, blocks in enumerate(row["blocks"]):
                for block in range(blocks):
                    parts.append(Bottleneck(width_in, 64 << stage, 2 if stage > 0 and block == 0 else 1))
                    width_in = 4 * (64 << stage)
            self.body, self.head = nn.Sequential(*parts), nn.Linear(width_in, 1000)

        def forward(self, x, target):
            return functional.cross_entropy(self.head(self.body(x).mean((2, 3))).float(), target)

    return ResNet() if row["kind"] == "resnet" else Transformer()


def data_for(torch, row, batch, device):
    if row["kind"] in ("resnet", "vit"):
        images = torch.randn(batch, 3, row["image"], row["image"], device=device)
        if row["kind"] == "resnet":
            images = images.contiguous(memory_format=torch.channels_last)
        return images, torch.randint(0, 1000, (batch,), device=device)
    words = torch.randint(0, row["vocab"], (batch, row["seq"]), device=device)
    return words, torch.randint(0, row["vocab"], (batch, row["seq"]), device=device)


# ---- Measuring.


def prepare(torch, case):
    model_name, batch, precision, recompute, compiled = case
    row, device = MODELS[model_name], torch.device("cuda", 0)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision != "fp32"
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(1)
    with device:
        model = build(torch, row)
    parameters = sum(p.numel() for p in model.parameters())
    if parameters != parameter_count(model_name):
        raise RuntimeError("%s has %d parameters, expected %d" % (model_name, parameters, parameter_count(model_name)))
    images, target = data_for(torch, row, batch, device)
    if row["kind"] == "resnet":
        model = model.to(memory_format=torch.channels_last)
    if precision == "bf16":
        model = model.bfloat16()
        images = images.bfloat16() if images.is_floating_point() else images
    if row["kind"] != "resnet":
        model.recompute = recompute == "full"
    if row["kind"] == "resnet":
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    run = torch.compile(model) if compiled else model
    cast = {"bf16-amp": torch.bfloat16, "fp16-amp": torch.float16}.get(precision)
    scaler = torch.amp.GradScaler("cuda", enabled=precision == "fp16-amp")

    def step():
        with torch.autocast("cuda", dtype=cast or torch.bfloat16, enabled=cast is not None):
            loss = run(images, target)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        return loss

    return step, parameters


def measure(torch, case, steps):
    """(median step time, its spread, peak bytes, last loss, step function, parameters)."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    step, parameters = prepare(torch, case)
    for _ in range(8 if case[4] else 5):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()  # of steady steps: not of choosing kernels or of compiling
    times, loss = [], None
    for _ in range(steps):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        loss = step()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    loss = float(loss)
    if not math.isfinite(loss):
        raise RuntimeError("the loss is %s: this is no training" % loss)
    spread = 1.4826 * statistics.median(abs(t - statistics.median(times)) for t in times)
    return statistics.median(times), spread, torch.cuda.max_memory_allocated(), loss, step, parameters


def row_of(torch, case, number, result, software):
    model_name, batch, precision, recompute, compiled = case
    seconds, spread, peak, loss, _, parameters = result
    row, properties = MODELS[model_name], torch.cuda.get_device_properties(0)
    is_text = row["kind"] in ("gpt", "llama", "bert")
    kind = {"gpt": "decoder", "llama": "decoder", "bert": "encoder", "vit": "vit", "resnet": "cnn"}[row["kind"]]
    cells = dict.fromkeys(HEADER, "")
    cells.update(
        row_id="own-%04d" % number, family="own-steps", source="calibrate/gpu/train_steps.py", source_loc=model_name,
        system_name=properties.name, model=model_name, model_type=kind, n_params=parameters, gpu=properties.name,
        gpu_mem_bytes=properties.total_memory, n_gpus=1, n_nodes=1, gpus_per_node=1, framework="PyTorch",
        software=software, tp=1, pp=1, vp=1, cp=1, ep=1, dp=1, zero_stage=0, seq_parallel=0, micro_batch=batch,
        grad_accum=1, global_batch=batch, precision=precision, recompute=recompute, compiled=compiled,
        optimizer="sgd" if kind == "cnn" else "adamw", iter_time_s="%.6g" % seconds,
        samples_per_s="%.6g" % (batch / seconds), samples_per_s_gpu="%.6g" % (batch / seconds), peak_mem_bytes=peak,
        metric_kind="median step time between CUDA events; rates derived", inf_level=0, complete="A",
        notes="synthetic data; spread %.2g s; last loss %.4g; reserved %d bytes"
        % (spread, loss, torch.cuda.max_memory_reserved()),
    )
    if kind == "cnn":
        cells.update(image_size=row["image"], notes=cells["notes"] + "; channels_last")
    else:
        cells.update(
            layers=row["layers"], hidden=row["hidden"], heads=row["heads"], kv_heads=row["kv_heads"], ffn=row["ffn"],
            mlp_act="swiglu" if row["kind"] == "llama" else "gelu", attn_impl="flash" if precision not in
            ("fp32", "tf32") else "mem_efficient", image_size=row.get("image", ""),
        )
    if is_text:
        tokens = "%.6g" % (batch * row["seq"] / seconds)
        cells.update(vocab=row["vocab"], seq_len=row["seq"], tokens_per_s=tokens, tokens_per_s_gpu=tokens)
    return cells


def kernel_rows(torch, row_id, step):
    activity = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[activity.CUDA, activity.CPU]) as profiler:
        for _ in range(3):
            step()
        torch.cuda.synchronize()
    sums = {}
    for event in profiler.events():
        if str(event.device_type).endswith("CUDA"):
            count, total = sums.get(event.name, (0, 0.0))
            sums[event.name] = (count + 1, total + event.time_range.elapsed_us())
    ordered = sorted(sums.items(), key=lambda item: -item[1][1])
    return [(row_id, name, count / 3, "%.3f" % (total / 3)) for name, (count, total) in ordered]


def self_test():
    known = {
        "gpt2-124m": 124439808, "gpt2-1.5b": 1557611200, "resnet-50": 25557032, "resnet-152": 60192808,
        "vit-b-16": 86567656, "vit-l-16": 304326632, "bert-base": 109514298, "llama-1b": 1100048384,
    }
    wrong = ["%s: %d, expected %d" % (m, parameter_count(m), n) for m, n in known.items() if parameter_count(m) != n]
    cases = planned(read_arguments([]))
    wrong += ["%s is in no plan" % m for m in MODELS if m not in {case[0] for case in cases}]
    wrong += ["unknown precision " + case[2] for case in cases if case[2] not in PRECISIONS]
    wrong += ["recompute of a CNN" for c in cases if MODELS[c[0]]["kind"] == "resnet" and c[3] != "none"]
    wrong += ["the header names a column twice"] if len(set(HEADER)) != len(HEADER) else []
    print("\n".join(wrong) or "self-test: %d models, %d cases, %d columns" % (len(MODELS), len(cases), len(HEADER)))
    return 1 if wrong else 0


def print_plan(cases):
    for number, (model, batch, precision, recompute, compiled) in enumerate(cases, 1):
        print(
            "%3d  %-18s batch %-4d %-9s recompute %-5s %s"
            % (number, model, batch, precision, recompute, "compiled" if compiled else "")
        )
    seconds = sum(SECONDS_EACH + (60 if case[4] else 0) for case in cases)
    print("%d cases, about %d s; nothing begins after the budget" % (len(cases), seconds))
    return 0


def run_case(torch, case, number, arguments, software, rows, kernels):
    result = measure(torch, case, arguments.steps)
    cells = row_of(torch, case, number, result, software)
    rows.writerow(cells)
    if kernels:
        kernels.writerows(kernel_rows(torch, cells["row_id"], result[4]))
    return "%.2f ms, %.2f GB" % (1e3 * result[0], result[2] / 1e9)


def main(words):
    arguments = read_arguments(words)
    if arguments.self_test:
        return self_test()
    cases = planned(arguments)
    if arguments.list:
        return print_plan(cases)
    try:
        import torch
        import torch.utils.checkpoint
    except ImportError:
        sys.stderr.write("error: this needs PyTorch, which python3 here does not have\n  hint: pip install torch; --list "
                         "prints the plan without it\n")
        return 1
    if not torch.cuda.is_available():
        sys.stderr.write("error: PyTorch sees no GPU here\n  hint: --list prints the plan without one\n")
        return 1
    software = "PyTorch %s, CUDA %s, cuDNN %s" % (torch.__version__, torch.version.cuda, torch.backends.cudnn.version())
    begin, failed, number = time.monotonic(), 0, 0
    kernel_file = open(arguments.kernels, "w", newline="") if arguments.kernels else None
    kernels = csv.writer(kernel_file) if kernel_file else None
    if kernels:
        kernels.writerow(("row_id", "kernel", "launches_per_step", "us_per_step"))
    with open(arguments.output, "w", newline="") as out:
        rows = csv.DictWriter(out, HEADER, lineterminator="\n")
        rows.writeheader()
        for number, case in enumerate(cases, 1):
            spent = time.monotonic() - begin
            if spent > arguments.budget:
                sys.stderr.write("%d cases left out: the budget of %g s is spent\n"
                                 % (len(cases) - number + 1, arguments.budget))
                break
            try:
                told = run_case(torch, case, number, arguments, software, rows, kernels)
            except Exception as problem:  # one case must not cost the others; memory that is too small is no fault
                told = "failed: %s" % str(problem).split("\n")[0]
                failed += 1
            out.flush()
            sys.stderr.write("[%3.0f s] %d of %d %s: %s\n" % (spent, number, len(cases), " ".join(map(str, case)), told))
            torch.compiler.reset()
    if kernel_file:
        kernel_file.close()
    return 1 if failed == len(cases) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
