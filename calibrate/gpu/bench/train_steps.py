#!/usr/bin/env python3
"""Runs real training steps on this machine's GPU and writes what was measured as rows of the training data.

Needs python3 and PyTorch 2.5 or newer with CUDA, nothing else: the models are in train_models.py beside it. `--list`
prints the plan and `--self-test` checks the tables; both work without PyTorch.
"""
import argparse
import csv
import gc
import math
import os
import re
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
# runs out costs the least. Precision "bf16-amp" is autocast over FP32 weights; "bf16-true" has weights, gradients and
# the optimizer's state in BF16.
PLAN = [
    ("gpt2-124m", (8, 32), ("bf16-amp",), ("none",), (0,)),
    ("llama-8b-4layers", (1, 4), ("bf16-true",), ("none",), (0,)),
    ("resnet-50", (64, 256), ("bf16-amp",), ("none",), (0,)),
    ("gpt2-1.5b", (4,), ("bf16-amp",), ("none", "full"), (0,)),
    ("llama-1b", (2, 8), ("bf16-true", "bf16-amp"), ("none",), (0,)),
    ("bert-large", (8, 32), ("bf16-amp",), ("none",), (0,)),
    ("vit-b-16", (64, 256), ("bf16-amp",), ("none",), (0,)),
    ("gpt2-124m", (16,), ("bf16-amp",), ("none",), (0, 1)),
    ("gpt2-355m", (4, 16), ("bf16-amp",), ("none", "full"), (0,)),
    ("gpt2-774m", (4, 8), ("bf16-amp",), ("none",), (0,)),
    ("resnet-152", (128,), ("bf16-amp",), ("none",), (0,)),
    ("bert-base", (32,), ("bf16-amp", "fp16-amp"), ("none",), (0,)),
    ("vit-l-16", (64,), ("bf16-amp",), ("none",), (0,)),
    ("llama-8b-4layers", (2,), ("bf16-true",), ("full",), (0,)),
    ("gpt2-124m", (8,), ("tf32", "fp32"), ("none",), (0,)),
    ("resnet-50", (128,), ("tf32", "fp32"), ("none",), (0,)),
    ("gpt2-124m", (1, 2, 16), ("bf16-amp",), ("none", "full"), (0,)),  # the smallest wait for the host
    ("resnet-50", (16,), ("bf16-amp",), ("none",), (0,)),
    ("bert-large", (2,), ("bf16-amp",), ("none",), (0,)),
    ("vit-b-16", (8,), ("bf16-amp",), ("none",), (0,)),
    ("llama-1b", (4,), ("bf16-true",), ("none",), (1,)),
    ("resnet-50", (128,), ("bf16-amp",), ("none",), (1,)),
    ("bert-large", (16,), ("bf16-amp",), ("none",), (1,)),
]
PRECISIONS = ("bf16-amp", "fp16-amp", "bf16-true", "tf32", "fp32")
SECONDS_EACH = 4  # beside its steps: the model built, nvidia-smi asked, the profile read
SECONDS_COMPILING = 60
PROFILED_STEPS = 3
# FLOP/s that steps reach at least on an H100, for the plan's duration alone; the pace of cases done corrects it.
LEAST_FLOPS = {"bf16-amp": 80e12, "fp16-amp": 80e12, "bf16-true": 150e12, "tf32": 30e12, "fp32": 15e12}
SENSOR_SECONDS = 3  # at most, of untimed steps while nvidia-smi answers
WARM_UP = (5, 8)  # steps before those that are timed: not compiled, compiled
OLDEST_PYTORCH = (2, 5)  # grouped queries in its attention
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


def uses_flash(torch, case):
    """Flash attention is for 16 bits, and for GPUs since Ampere; else attention goes operator by operator."""
    row, wide = MODELS[case[0]], case[2] in ("fp32", "tf32")
    return row["kind"] != "resnet" and not wide and torch.cuda.get_device_properties(0).major >= 8


def prepare(torch, case):
    model_name, batch, precision, recompute, compiled = case
    row, device = MODELS[model_name], torch.device("cuda", 0)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision != "fp32"
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(1)
    with device:
        model = build(torch, row, uses_flash(torch, case))
    parameters = sum(p.numel() for p in model.parameters())
    if parameters != parameter_count(model_name):
        raise RuntimeError("%s has %d parameters, expected %d" % (model_name, parameters, parameter_count(model_name)))
    images, target = data_for(torch, row, batch, device)
    if row["kind"] == "resnet":
        model = model.to(memory_format=torch.channels_last)
    if precision == "bf16-true":
        model = model.bfloat16()
        images = images.bfloat16() if images.is_floating_point() else images
    if row["kind"] != "resnet":
        model.recompute = recompute == "full"
    weights = list(model.parameters())
    if row["kind"] == "resnet":
        optimizer = torch.optim.SGD(weights, lr=1e-3, momentum=0.9)
    else:
        optimizer = torch.optim.AdamW(weights, lr=1e-5, fused=True)
    run = torch.compile(model) if compiled else model
    cast = {"bf16-amp": torch.bfloat16, "fp16-amp": torch.float16}.get(precision)
    scaler = torch.amp.GradScaler("cuda", enabled=precision == "fp16-amp")
    attention = torch.nn.attention

    def step():
        # What PyTorch would choose by itself changes with its version and cuDNN's; backward recomputes under it too.
        with attention.sdpa_kernel([attention.SDPBackend.FLASH_ATTENTION]):
            with torch.autocast("cuda", dtype=cast or torch.bfloat16, enabled=cast is not None):
                loss = run(images, target)
            scaler.scale(loss).backward()
        if row["kind"] != "resnet":
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        return loss

    return step, parameters


def start_sensors(torch):
    """Asks nvidia-smi for SM clock, power and its limit; None without it."""
    uuid = getattr(torch.cuda.get_device_properties(0), "uuid", None)
    which = ["--id=GPU-%s" % uuid] if uuid else []
    query = ["nvidia-smi", "--query-gpu=clocks.sm,power.draw,power.limit", "--format=csv,noheader,nounits"]
    try:
        return subprocess.Popen(query + which, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return None


def read_sensors(torch, step):
    """MHz, W, W while steps run that nobody times; empty when not told."""
    asked, begin = start_sensors(torch), time.monotonic()
    while asked and asked.poll() is None and time.monotonic() - begin < SENSOR_SECONDS:
        step()
        torch.cuda.synchronize()
    try:
        told = [float(cell) for cell in asked.communicate(timeout=1)[0].decode().splitlines()[0].split(",")]
        return told if len(told) == 3 else []
    except subprocess.TimeoutExpired:
        asked.kill()
        return []
    except (AttributeError, ValueError, IndexError):
        return []


def time_steps(torch, step, count):
    """Seconds of each step, between events that nobody waits for until the last is done, and the last loss. A training
    loop does not wait for each step either; the host runs ahead of the GPU as far as it can."""
    events, loss = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)], None
    events[0].record()
    for event in events[1:]:
        loss = step()
        event.record()
    torch.cuda.synchronize()
    return [a.elapsed_time(b) / 1e3 for a, b in zip(events, events[1:])], float(loss)


def measure(torch, case, steps):
    """What row_of needs to know, and the step function."""
    gc.collect()  # the case before, which may hold itself in a circle
    torch.cuda.empty_cache()
    step, parameters = prepare(torch, case)
    for _ in range(WARM_UP[case[4]]):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()  # of steady steps: not of choosing kernels or of compiling
    times, loss = time_steps(torch, step, steps)
    peak, reserved = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    if not math.isfinite(loss):
        raise RuntimeError("the loss is %s: this is no training" % loss)
    seconds = statistics.median(times)
    return dict(
        seconds=seconds, spread=1.4826 * statistics.median(abs(t - seconds) for t in times), peak=peak,
        reserved=reserved, loss=loss, sensors=read_sensors(torch, step), parameters=parameters, step=step,
    )


# ---- Rows.


def setting_of(torch, case, number, software):
    """The cells that say what was to be run."""
    model_name, batch, precision, recompute, compiled = case
    row, properties = MODELS[model_name], torch.cuda.get_device_properties(0)
    kind = {"gpt": "decoder", "llama": "decoder", "bert": "encoder", "vit": "vit", "resnet": "cnn"}[row["kind"]]
    short = properties.name.replace("NVIDIA", "").split()[0].lower()
    cells = dict.fromkeys(HEADER, "")
    cells.update(
        row_id="own-%s-%04d" % (short, number), family="own-steps", source="calibrate/gpu/bench/train_steps.py",
        source_loc=model_name, system_name=properties.name, model=model_name, model_type=kind, gpu=properties.name,
        n_params=parameter_count(model_name), gpu_mem_bytes=properties.total_memory, n_gpus=1, n_nodes=1,
        gpus_per_node=1, framework="PyTorch train_steps", software=software, tp=1, pp=1, vp=1, cp=1, ep=1, dp=1,
        zero_stage=0, seq_parallel=0, micro_batch=batch, grad_accum=1, global_batch=batch, precision=precision,
        recompute=recompute, compiled=compiled, optimizer="sgd" if kind == "cnn" else "fused AdamW", inf_level=0,
        image_size=row.get("image", ""),
    )
    if kind == "cnn":
        cells.update(software=software + ", NHWC")
        return cells
    cells.update(
        layers=row["layers"], hidden=row["hidden"], heads=row["heads"], kv_heads=row["kv_heads"], ffn=row["ffn"],
        mlp_act="swiglu" if row["kind"] == "llama" else "gelu",
        attn_impl="flash-2" if uses_flash(torch, case) else "plain",
    )
    if kind != "vit":
        cells.update(vocab=row["vocab"], seq_len=row["seq"])
    return cells


def row_of(torch, case, number, result, software):
    batch, seconds, told = case[1], result["seconds"], result["sensors"]
    cells, rate = setting_of(torch, case, number, software), "%.6g" % (batch / seconds)
    clock = "; %.0f MHz, %.0f W" % tuple(told[:2]) if told else ""
    cells.update(
        n_params=result["parameters"], gpu_power_w="%.0f" % told[2] if told else "", iter_time_s="%.6g" % seconds,
        samples_per_s=rate, samples_per_s_gpu=rate, peak_mem_bytes=result["peak"], complete="A",
        metric_kind="median step time between CUDA events, rates derived; most allocated memory of these steps",
        notes="synthetic data; spread %.2g s; last loss %.4g; reserved %d bytes%s"
        % (result["spread"], result["loss"], result["reserved"], clock),
    )
    if cells["seq_len"]:
        cells["tokens_per_s"] = cells["tokens_per_s_gpu"] = "%.6g" % (batch * cells["seq_len"] / seconds)
    return cells


def row_without(torch, case, number, reason, software):
    """Of a case that could not be measured: too large for the GPU, say."""
    cells = setting_of(torch, case, number, software)
    cells.update(metric_kind="not measured", complete="C", notes="synthetic data; failed: " + reason)
    return cells


def reason_of(problem):
    """One line: PyTorch's first may only announce the second."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()] or [type(problem).__name__]
    return " ".join(lines[: 2 if lines[0].endswith(":") else 1])[:200]


def kernel_rows(torch, row_id, step):
    activity = torch.profiler.ProfilerActivity
    # The GPU's side alone: the host's has ten times the events, and reading them would outlast the case.
    with torch.profiler.profile(activities=[activity.CUDA]) as profiler:
        for _ in range(PROFILED_STEPS):
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
    steps = PROFILED_STEPS
    return [(row_id, name, count / steps, "%.3f" % (total / steps)) for name, (count, total) in ordered]


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


def expected(case, steps, pace=1):
    """Seconds; of all but compiling `pace` times as many."""
    model, batch, precision, recompute, compiled = case
    row = MODELS[model]
    image = {"resnet-50": 8.2e9, "resnet-152": 23.1e9}.get(model, 0)  # forward
    flops = 3 * image if image else 6 * parameter_count(model) * row["seq"]
    flops *= batch * (4 / 3 if recompute == "full" else 1) * (2 if image else 1)  # convolutions are slower
    all_steps = WARM_UP[compiled] + steps + 2 * PROFILED_STEPS
    return pace * (SECONDS_EACH + all_steps * flops / LEAST_FLOPS[precision]) + SECONDS_COMPILING * compiled


def print_plan(cases, steps):
    for number, (model, batch, precision, recompute, compiled) in enumerate(cases, 1):
        print(
            "%3d  %-18s batch %-4d %-9s recompute %-5s %s"
            % (number, model, batch, precision, recompute, "compiled" if compiled else "")
        )
    seconds = sum(expected(case, steps) for case in cases)
    print("%d cases, at most %d s on an H100; what would end after the budget is left out" % (len(cases), seconds))
    return 0


def run_case(torch, case, number, arguments, software, rows, kernels):
    """Writes the case's row, whatever comes of it. What to tell of it, and whether it was measured."""
    try:
        result = measure(torch, case, arguments.steps)
    except Exception as problem:  # one case must not cost the others; memory that is too small is no fault
        rows.writerow(row_without(torch, case, number, reason_of(problem), software))
        return "failed: " + reason_of(problem), False
    cells = row_of(torch, case, number, result, software)
    rows.writerow(cells)
    told = "%.2f ms, %.2f GB" % (1e3 * result["seconds"], result["peak"] / 1e9)
    try:
        if kernels:
            kernels.writerows(kernel_rows(torch, cells["row_id"], result["step"]))
    except Exception as problem:  # the row stands
        told += "; no kernel times: " + reason_of(problem)
    return told, True


def end_at(seconds):
    """Ends the program after so many seconds, whatever the GPU does: every row measured until then is in its file."""

    def end():
        sys.stderr.write("the time is up: what was measured until now is in the files\n")
        sys.stderr.flush()
        os._exit(1)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


def version_of(torch):
    numbers = re.match(r"(\d+)\.(\d+)", str(torch.__version__))
    return tuple(map(int, numbers.groups())) if numbers else OLDEST_PYTORCH


def main(words):
    begin, arguments = time.monotonic(), read_arguments(words)
    if arguments.self_test:
        return self_test()
    cases = planned(arguments)
    if arguments.list:
        return print_plan(cases, arguments.steps)
    try:
        import torch
    except ImportError:
        sys.stderr.write("error: this needs PyTorch, which python3 here does not have\n"
                         "  hint: pip install torch; --list prints the plan without it\n")
        return 1
    if version_of(torch) < OLDEST_PYTORCH:
        sys.stderr.write("error: this needs PyTorch %d.%d or newer, and here is %s\n"
                         "  hint: pip install --upgrade torch\n" % (*OLDEST_PYTORCH, torch.__version__))
        return 1
    import torch.nn.attention
    import torch.utils.checkpoint
    if not torch.cuda.is_available():
        sys.stderr.write("error: PyTorch sees no GPU here\n  hint: --list prints the plan without one\n")
        return 1
    software = "PyTorch %s, CUDA %s, cuDNN %s" % (torch.__version__, torch.version.cuda, torch.backends.cudnn.version())
    failed, left_out, done_in, done_expected = 0, 0, 0.0, 0.0
    end_at(begin + arguments.budget + GRACE_SECONDS - time.monotonic())
    kernel_file = open(arguments.kernels, "w", newline="") if arguments.kernels else None
    kernels = csv.writer(kernel_file) if kernel_file else None
    if kernels:
        kernels.writerow(("row_id", "kernel", "launches_per_step", "us_per_step"))
    with open(arguments.output, "w", newline="") as out:
        rows = csv.DictWriter(out, HEADER, lineterminator="\n")
        rows.writeheader()
        for number, case in enumerate(cases, 1):
            spent, pace = time.monotonic() - begin, done_in / done_expected if done_expected else 1
            if spent + expected(case, arguments.steps, pace) > arguments.budget:
                left_out += 1
                continue
            told, measured = run_case(torch, case, number, arguments, software, rows, kernels)
            if measured and not case[4]:
                done_in += time.monotonic() - begin - spent
                done_expected += expected(case, arguments.steps)
            failed += not measured
            out.flush()
            if kernel_file:
                kernel_file.flush()
            what = " ".join(map(str, case))
            sys.stderr.write("[%3.0f s] %d of %d %s: %s\n" % (spent, number, len(cases), what, told))
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
