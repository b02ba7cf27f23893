#!/usr/bin/env python3
"""Runs real training steps on this machine's GPU and writes what was measured as rows of the training data.

Needs python3 and PyTorch with CUDA, nothing else: the models are in train_models.py beside it. `--list` prints the
plan and `--self-test` checks the tables; both work without PyTorch.
"""
import argparse
import csv
import gc
import math
import os
import statistics
import subprocess
import sys
import threading
import time

from train_models import MODELS, build, data_for, parameter_count

HEADER = (
    "row_id,family,source,source_loc,system_name,model,model_type,n_params,n_params_active,layers,hidden,heads,"
    "kv_heads,ffn,mlp_act,vocab,seq_len,n_experts,moe_top_k,moe_ffn,image_size,gpu,gpu_mem_bytes,gpu_power_w,n_gpus,"
    "n_nodes,gpus_per_node,intra_link,intra_GBs_per_gpu_dir,inter_link,nics_per_node,nic_GBs,framework,software,tp,pp,"
    "vp,cp,ep,etp,dp,zero_stage,shard_group,seq_parallel,micro_batch,grad_accum,global_batch,precision,recompute,"
    "attn_impl,compiled,overlap,optimizer,iter_time_s,tokens_per_s,tokens_per_s_gpu,samples_per_s,samples_per_s_gpu,"
    "model_tflops_gpu,hw_tflops_gpu,mfu_pct,hfu_pct,peak_mem_bytes,time_to_train_s,scaling_eff_pct,metric_kind,"
    "inferred,inf_level,complete,notes"
).split(",")


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
SECONDS_EACH = 9  # building, warming up and measuring one case
SECONDS_COMPILING = 60
GRACE_SECONDS = 40  # beyond the budget, for the case at hand; then the program ends with what it has


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
    parser.add_argument("--budget", type=float, default=540, metavar="S",
                        help="begin nothing that would end later; %d s beyond it all ends" % GRACE_SECONDS)
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


def start_sensors():
    """Asks nvidia-smi for SM clock, power and its limit, beside the steps; None without it."""
    query = "--query-gpu=clocks.sm,power.draw,power.limit"
    try:
        return subprocess.Popen(("nvidia-smi", query, "--format=csv,noheader,nounits"), stdout=subprocess.PIPE)
    except OSError:
        return None


def read_sensors(asked):
    """MHz, W, W; empty when not told."""
    try:
        return [float(cell) for cell in asked.communicate(timeout=5)[0].decode().splitlines()[0].split(",")]
    except (AttributeError, ValueError, IndexError, subprocess.SubprocessError):
        return []


def time_steps(torch, step, count):
    """Seconds of each step, between events that nobody waits for until the last is done, and the last loss. A training
    loop does not wait for each step either; the host runs ahead of the GPU as far as it can."""
    events, loss, asked = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)], None, None
    events[0].record()
    for number, event in enumerate(events[1:]):
        if number == count // 2:
            asked = start_sensors()
        loss = step()
        event.record()
    torch.cuda.synchronize()
    times = [a.elapsed_time(b) / 1e3 for a, b in zip(events, events[1:])]
    return times, float(loss), read_sensors(asked)


def measure(torch, case, steps):
    """What row_of needs to know, and the step function."""
    gc.collect()  # the case before, which may hold itself in a circle
    torch.cuda.empty_cache()
    step, parameters = prepare(torch, case)
    for _ in range(8 if case[4] else 5):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()  # of steady steps: not of choosing kernels or of compiling
    times, loss, told = time_steps(torch, step, steps)
    peak, reserved = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    if not math.isfinite(loss):
        raise RuntimeError("the loss is %s: this is no training" % loss)
    seconds = statistics.median(times)
    return dict(
        seconds=seconds, spread=1.4826 * statistics.median(abs(t - seconds) for t in times), peak=peak,
        reserved=reserved, loss=loss, sensors=told, parameters=parameters, step=step,
    )


def row_of(torch, case, number, result, software):
    model_name, batch, precision, recompute, compiled = case
    seconds, told = result["seconds"], result["sensors"]
    clock = "; %.0f MHz, %.0f W" % tuple(told[:2]) if len(told) == 3 else ""
    row, properties = MODELS[model_name], torch.cuda.get_device_properties(0)
    is_text = row["kind"] in ("gpt", "llama", "bert")
    kind = {"gpt": "decoder", "llama": "decoder", "bert": "encoder", "vit": "vit", "resnet": "cnn"}[row["kind"]]
    cells = dict.fromkeys(HEADER, "")
    cells.update(
        row_id="own-%04d" % number, family="own-steps", source="calibrate/gpu/train_steps.py", source_loc=model_name,
        system_name=properties.name, model=model_name, model_type=kind, gpu=properties.name,
        n_params=result["parameters"], gpu_power_w="%.0f" % told[2] if len(told) == 3 else "",
        gpu_mem_bytes=properties.total_memory, n_gpus=1, n_nodes=1, gpus_per_node=1, framework="PyTorch",
        software=software, tp=1, pp=1, vp=1, cp=1, ep=1, dp=1, zero_stage=0, seq_parallel=0, micro_batch=batch,
        grad_accum=1, global_batch=batch, precision=precision, recompute=recompute, compiled=compiled,
        optimizer="sgd" if kind == "cnn" else "adamw", iter_time_s="%.6g" % seconds,
        samples_per_s="%.6g" % (batch / seconds), samples_per_s_gpu="%.6g" % (batch / seconds), peak_mem_bytes=result["peak"],
        metric_kind="median step time between CUDA events; rates derived", inf_level=0, complete="A",
        notes="synthetic data; spread %.2g s; last loss %.4g; reserved %d bytes%s"
        % (result["spread"], result["loss"], result["reserved"], clock),
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
    # The GPU's side alone: the host's has ten times the events, and reading them would outlast the case.
    with torch.profiler.profile(activities=[activity.CUDA]) as profiler:
        for _ in range(3):
            step()
        torch.cuda.synchronize()
    sums = {}
    for event in profiler.events():
        # Marks of ranges lie over the kernels that they name, and would count them twice.
        is_mark = getattr(event, "is_user_annotation", False) or event.name.startswith(("Optimizer.", "ProfilerStep"))
        if str(event.device_type).endswith("CUDA") and not is_mark:
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


def expected(case):
    return SECONDS_EACH + SECONDS_COMPILING * case[4]


def print_plan(cases):
    for number, (model, batch, precision, recompute, compiled) in enumerate(cases, 1):
        print(
            "%3d  %-18s batch %-4d %-9s recompute %-5s %s"
            % (number, model, batch, precision, recompute, "compiled" if compiled else "")
        )
    print("%d cases, about %d s; what would end after the budget is left out" % (len(cases), sum(map(expected, cases))))
    return 0


def run_case(torch, case, number, arguments, software, rows, kernels):
    result = measure(torch, case, arguments.steps)
    cells = row_of(torch, case, number, result, software)
    rows.writerow(cells)
    if kernels:
        kernels.writerows(kernel_rows(torch, cells["row_id"], result["step"]))
    return "%.2f ms, %.2f GB" % (1e3 * result["seconds"], result["peak"] / 1e9)


def end_at(seconds):
    """Ends the program after so many seconds, whatever the GPU does: every row measured until then is in its file."""

    def end():
        sys.stderr.write("the time is up: what was measured until now is in the files\n")
        sys.stderr.flush()
        os._exit(1)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


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
    begin, failed, left_out = time.monotonic(), 0, 0
    end_at(arguments.budget + GRACE_SECONDS)
    kernel_file = open(arguments.kernels, "w", newline="") if arguments.kernels else None
    kernels = csv.writer(kernel_file) if kernel_file else None
    if kernels:
        kernels.writerow(("row_id", "kernel", "launches_per_step", "us_per_step"))
    with open(arguments.output, "w", newline="") as out:
        rows = csv.DictWriter(out, HEADER, lineterminator="\n")
        rows.writeheader()
        for number, case in enumerate(cases, 1):
            spent = time.monotonic() - begin
            if spent + expected(case) > arguments.budget:
                left_out += 1
                continue
            try:
                told = run_case(torch, case, number, arguments, software, rows, kernels)
            except Exception as problem:  # one case must not cost the others; memory that is too small is no fault
                told = "failed: %s" % str(problem).split("\n")[0]
                failed += 1
            out.flush()
            if kernel_file:
                kernel_file.flush()
            sys.stderr.write("[%3.0f s] %d of %d %s: %s\n" % (spent, number, len(cases), " ".join(map(str, case)), told))
            if case[4]:
                torch.compiler.reset()
    if kernel_file:
        kernel_file.close()
    if left_out:
        sys.stderr.write("%d cases left out: they would have ended after the budget of %g s\n"
                         % (left_out, arguments.budget))
    return 1 if failed + left_out == len(cases) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
