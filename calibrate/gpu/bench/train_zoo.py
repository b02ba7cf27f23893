#!/usr/bin/env python3
"""Trains what people train, as libraries give it and nobody tunes it, and writes what was measured.

Models of Hugging Face Transformers, timm and torchvision with random weights, a loop of a few lines: step time, peak
memory, the time in which the host issues a step, and what it issues (kernels, operators, nodes of the backward pass).
Rows are those of train_steps.py beside it. Needs PyTorch 2.5 with CUDA and the three libraries; a library that is not
there costs its cases alone. `--list` prints the plan without any of them.
"""
import argparse
import csv
import gc
import math
import os
import statistics
import sys
import time

from train_steps import HEADER, end_at, read_sensors, reason_of, time_steps

WARM_UP = 3
COMPILED_WARM_UP = 6
SECONDS_COMPILING = 45
GRACE_SECONDS = 30

# Shapes as their publishers give them: layers, hidden, heads, kv_heads, ffn, vocab; more for Transformers' own config.
TEXT = {
    "gpt2-124m": ("GPT2", 12, 768, 12, 12, 3072, 50257, {}),
    "gpt2-355m": ("GPT2", 24, 1024, 16, 16, 4096, 50257, {}),
    "gpt2-774m": ("GPT2", 36, 1280, 20, 20, 5120, 50257, {}),
    "bert-base": ("Bert", 12, 768, 12, 12, 3072, 30522, {}),
    "bert-large": ("Bert", 24, 1024, 16, 16, 4096, 30522, {}),
    "distilbert": ("DistilBert", 6, 768, 12, 12, 3072, 30522, {}),
    "roberta-base": ("Roberta", 12, 768, 12, 12, 3072, 50265, dict(max_position_embeddings=514)),
    "opt-1.3b": ("OPT", 24, 2048, 32, 32, 8192, 50272, dict(word_embed_proj_dim=2048)),
    "pythia-1.4b": ("GPTNeoX", 24, 2048, 16, 16, 8192, 50304, {}),
    "tinyllama-1.1b": ("Llama", 22, 2048, 32, 4, 5632, 32000, {}),
    "llama-3.2-1b": ("Llama", 16, 2048, 32, 8, 8192, 128256, dict(tie_word_embeddings=True)),
    "llama-3-8b": ("Llama", 32, 4096, 32, 8, 14336, 128256, {}),
    "mistral-7b": ("Mistral", 32, 4096, 32, 8, 14336, 32000, dict(sliding_window=None)),
    "smollm2-135m": ("Llama", 30, 576, 9, 3, 1536, 49152, dict(tie_word_embeddings=True)),
    "qwen2.5-0.5b": ("Qwen2", 24, 896, 14, 2, 4864, 151936, dict(tie_word_embeddings=True)),
    "qwen2.5-1.5b": ("Qwen2", 28, 1536, 12, 2, 8960, 151936, dict(tie_word_embeddings=True)),
    "qwen3-0.6b": ("Qwen3", 28, 1024, 16, 8, 3072, 151936, dict(tie_word_embeddings=True, head_dim=128)),
    "qwen3-1.7b": ("Qwen3", 28, 2048, 16, 8, 6144, 151936, dict(tie_word_embeddings=True, head_dim=128)),
    "gemma-2b": ("Gemma", 18, 2048, 8, 1, 16384, 256000, dict(head_dim=256)),
    "phi-3-mini": ("Phi3", 32, 3072, 32, 32, 8192, 32064, dict(pad_token_id=0)),
    "olmoe-1b-7b": ("Olmoe", 16, 2048, 16, 16, 1024, 50304, dict(num_experts=64, num_experts_per_tok=8)),
    "t5-small": ("T5", 6, 512, 8, 8, 2048, 32128, dict(d_kv=64, decoder_start_token_id=0)),
    "t5-base": ("T5", 12, 768, 12, 12, 3072, 32128, dict(d_kv=64, decoder_start_token_id=0)),
    "t5-large": ("T5", 24, 1024, 16, 16, 4096, 32128, dict(d_kv=64, decoder_start_token_id=0)),
}
MLP = {"GPT2": "gelu", "Bert": "gelu", "DistilBert": "gelu", "Roberta": "gelu", "OPT": "relu", "GPTNeoX": "gelu",
       "T5": "relu", "Gemma": "geglu"}  # else "swiglu"
ENCODERS = ("Bert", "DistilBert", "Roberta")
# Our name: timm's or torchvision's, the pixels of a side.
TIMM = {
    "resnet-50": ("resnet50", 224), "vit-small-patch16": ("vit_small_patch16_224", 224),
    "vit-base-patch16": ("vit_base_patch16_224", 224), "vit-large-patch16": ("vit_large_patch16_224", 224),
    "swin-tiny": ("swin_tiny_patch4_window7_224", 224), "swin-base": ("swin_base_patch4_window7_224", 224),
    "convnext-tiny": ("convnext_tiny", 224), "convnext-base": ("convnext_base", 224),
    "efficientnet-b0": ("efficientnet_b0", 224), "efficientnet-b4": ("efficientnet_b4", 320),
    "mobilenet-v2": ("mobilenetv2_100", 224), "regnety-032": ("regnety_032", 224),
    "densenet-121": ("densenet121", 224), "inception-v3": ("inception_v3", 299),
    "resnext-50-32x4d": ("resnext50_32x4d", 224), "se-resnext-50-32x4d": ("seresnext50_32x4d", 224),
}
VISION = {
    "resnet-18": ("resnet18", 224), "resnet-50": ("resnet50", 224), "resnet-152": ("resnet152", 224),
    "vgg-16": ("vgg16", 224), "densenet-121": ("densenet121", 224), "alexnet": ("alexnet", 224),
    "wide-resnet-50-2": ("wide_resnet50_2", 224), "vit-base-patch16": ("vit_b_16", 224),
    "faster-rcnn-resnet-50": ("fasterrcnn_resnet50_fpn", 800), "mask-rcnn-resnet-50": ("maskrcnn_resnet50_fpn", 800),
    "retinanet-resnet-50": ("retinanet_resnet50_fpn", 800), "ssd300-vgg-16": ("ssd300_vgg16", 300),
    "deeplabv3-resnet-50": ("deeplabv3_resnet50", 513),
}
DETECTORS = ("faster-rcnn-resnet-50", "mask-rcnn-resnet-50", "retinanet-resnet-50", "ssd300-vgg-16")
DETECTOR_WIDTH = {800: 1216}  # of images whose shorter side is 800
CLASSES, BOXES = {"deeplabv3-resnet-50": 21}, 7



def plan():
    """(library, model, batch, tokens or 0, precision, options), the most telling first. A batch of one or two and few
    tokens wait for the host, and tell its time. Precision "default" is what PyTorch does when nobody says: products in
    FP32, convolutions in TF32."""
    cases, amp, true = [], "bf16-amp", "bf16-true"

    def add(library, model, batches, tokens, precision, *options):
        for batch in batches:
            cases.append((library, model, batch, tokens, precision, options))

    hf, timm, vision = "transformers", "timm", "torchvision"
    add(hf, "gpt2-124m", (8, 1), 1024, amp)
    add(vision, "resnet-50", (64, 4), 0, "default")
    add(hf, "bert-base", (32, 2), 128, "default")
    add(timm, "vit-base-patch16", (64, 4), 0, amp)
    add(hf, "llama-3.2-1b", (2,), 2048, true)
    add(hf, "llama-3.2-1b", (1,), 256, true)
    add(hf, "qwen3-0.6b", (4,), 1024, true)
    add(hf, "t5-base", (8, 1), 512, true)
    add(timm, "convnext-tiny", (64, 4), 0, amp)
    add(timm, "efficientnet-b0", (128, 4), 0, amp)
    add(timm, "swin-tiny", (64, 4), 0, amp)
    add(vision, "faster-rcnn-resnet-50", (4,), 0, "default")
    add(hf, "olmoe-1b-7b", (1,), 1024, true, "fused")
    add(hf, "llama-3-8b", (1,), 1024, true, "lora", "recompute")
    add(hf, "gpt2-124m", (8,), 1024, "default")
    add(hf, "gpt2-124m", (8,), 1024, amp, "eager-attention")
    add(hf, "gpt2-124m", (8,), 1024, amp, "ddp")
    add(hf, "llama-3.2-1b", (2,), 2048, amp, "fsdp")
    add(vision, "resnet-50", (64,), 0, amp, "ddp")
    add(hf, "bert-large", (8,), 384, amp)
    add(hf, "bert-base", (32,), 128, "fp16-amp")
    add(hf, "tinyllama-1.1b", (4,), 2048, true)
    add(hf, "tinyllama-1.1b", (4,), 2048, true, "recompute")
    add(hf, "qwen2.5-0.5b", (4,), 1024, amp)
    add(hf, "smollm2-135m", (8, 1), 1024, true)
    add(hf, "gemma-2b", (1,), 1024, true)
    add(hf, "mistral-7b", (1,), 2048, true, "lora")
    add(timm, "resnet-50", (128,), 0, amp)
    add(timm, "resnet-50", (128,), 0, amp, "channels-last")
    add(timm, "vit-small-patch16", (128,), 0, amp)
    add(timm, "vit-large-patch16", (32,), 0, amp)
    add(timm, "swin-base", (32,), 0, amp)
    add(timm, "convnext-base", (32,), 0, amp)
    add(timm, "efficientnet-b4", (32,), 0, amp)
    add(timm, "regnety-032", (64,), 0, amp)
    add(timm, "densenet-121", (64, 4), 0, amp)
    add(timm, "mobilenet-v2", (128,), 0, amp)
    add(timm, "inception-v3", (64,), 0, amp)
    add(timm, "resnext-50-32x4d", (64,), 0, amp)
    add(timm, "se-resnext-50-32x4d", (64,), 0, amp)
    add(vision, "resnet-18", (128, 8), 0, "default")
    add(vision, "resnet-152", (64,), 0, "default")
    add(vision, "vgg-16", (64,), 0, "default")
    add(vision, "densenet-121", (64,), 0, "default")
    add(vision, "alexnet", (128,), 0, "default")
    add(vision, "mask-rcnn-resnet-50", (2,), 0, "default")
    add(vision, "retinanet-resnet-50", (4,), 0, "default")
    add(vision, "ssd300-vgg-16", (16,), 0, "default")
    add(vision, "deeplabv3-resnet-50", (8,), 0, "default")
    add(hf, "distilbert", (32,), 128, "default")
    add(hf, "roberta-base", (16,), 512, amp)
    add(hf, "opt-1.3b", (2,), 1024, true)
    add(hf, "pythia-1.4b", (2,), 1024, true)
    add(hf, "qwen3-1.7b", (2,), 2048, true)
    add(hf, "qwen2.5-1.5b", (2,), 2048, true, "recompute")
    add(hf, "phi-3-mini", (1,), 2048, true, "recompute")
    add(hf, "gpt2-355m", (4,), 1024, amp, "recompute")
    add(hf, "gpt2-774m", (2,), 1024, "default")
    add(hf, "t5-small", (16,), 512, amp)
    add(hf, "t5-large", (4,), 512, true)
    add(hf, "tinyllama-1.1b", (4,), 2048, true, "sgd")
    add(hf, "gpt2-124m", (8,), 1024, "tf32")
    add(vision, "resnet-50", (64,), 0, "fp32")
    add(vision, "vit-base-patch16", (64,), 0, "default")
    add(vision, "wide-resnet-50-2", (64,), 0, "default")
    add(hf, "gpt2-124m", (8,), 1024, amp, "fused")
    add(hf, "gpt2-124m", (8,), 1024, amp, "foreach-off")
    add(hf, "gpt2-124m", (8,), 1024, amp, "compile")
    add(hf, "llama-3.2-1b", (2,), 2048, true, "compile")
    add(timm, "vit-base-patch16", (64,), 0, amp, "compile")
    add(timm, "resnet-50", (128,), 0, amp, "compile")
    return cases


def name_of(case):
    return " ".join([case[0], case[1], "batch %d" % case[2]] + (["%d tokens" % case[3]] if case[3] else [])
                    + [case[4]] + list(case[5]))


# ---- Models. Each gives the model, what a step computes the loss by, and the parameters that are trained.


def text_model(torch, case, device):
    import transformers

    _, name, batch, tokens, precision, options = case
    kind, layers, hidden, heads, kv_heads, ffn, vocab, more = TEXT[name]
    shape = dict(vocab_size=vocab, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
                 num_key_value_heads=kv_heads, intermediate_size=ffn, max_position_embeddings=max(tokens, 1024))
    if kind == "GPT2":
        shape = dict(n_embd=hidden, n_layer=layers, n_head=heads, vocab_size=vocab)
    elif kind == "DistilBert":
        shape = dict(dim=hidden, n_layers=layers, n_heads=heads, hidden_dim=ffn, vocab_size=vocab)
    elif kind == "OPT":
        shape = dict(hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads, ffn_dim=ffn,
                     vocab_size=vocab, max_position_embeddings=2048)
    elif kind == "T5":
        shape = dict(d_model=hidden, num_layers=layers, num_heads=heads, d_ff=ffn, vocab_size=vocab)
    elif kind in ("Bert", "GPTNeoX"):
        shape.pop("num_key_value_heads")
        shape["max_position_embeddings"] = 512 if kind == "Bert" else 2048
    elif kind == "Roberta":
        shape.pop("num_key_value_heads")
    config = getattr(transformers, kind + "Config")(**{**shape, **more})
    config.use_cache = False
    auto = transformers.AutoModelForCausalLM
    if kind in ENCODERS:
        auto = transformers.AutoModelForMaskedLM
    elif kind == "T5":
        auto = transformers.AutoModelForSeq2SeqLM
    attention = "eager" if "eager-attention" in options or kind == "T5" else "sdpa"
    with device:
        model = auto.from_config(config, attn_implementation=attention)
    model.train()
    if "lora" in options:
        import peft

        model = model.to(torch.bfloat16)
        targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
        model.enable_input_require_grads()
        model = peft.get_peft_model(model, peft.LoraConfig(r=16, lora_alpha=32, target_modules=targets))
    elif precision == "bf16-true":
        model = model.to(torch.bfloat16)
    if "recompute" in options:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=dict(use_reentrant=False))
    words = torch.randint(0, vocab, (batch, tokens), device=device)
    return model, lambda run: run(input_ids=words, labels=words).loss


def image_model(torch, case, device):
    library, name, batch, _, precision, options = case
    functional = torch.nn.functional
    architecture, side = (TIMM if library == "timm" else VISION)[name]
    with device:
        if library == "timm":
            import timm

            model = timm.create_model(architecture, pretrained=False, num_classes=1000)
        else:
            import torchvision

            bare = {} if name not in DETECTORS + ("deeplabv3-resnet-50",) else dict(weights_backbone=None)
            model = torchvision.models.get_model(architecture, weights=None, **bare)
    model.train()
    if name in DETECTORS:
        width = DETECTOR_WIDTH.get(side, side)
        images = [torch.rand(3, side, width, device=device) for _ in range(batch)]
        corner = torch.rand(BOXES, 2, device=device) * side / 2
        target = dict(boxes=torch.cat((corner, corner + 30 + torch.rand(BOXES, 2, device=device) * side / 3), 1),
                      labels=torch.randint(1, 90, (BOXES,), device=device))
        if "mask" in name:
            target["masks"] = torch.zeros(BOXES, side, width, dtype=torch.uint8, device=device)
        return model, lambda run: sum(run(images, [target] * batch).values())
    images = torch.randn(batch, 3, side, side, device=device)
    if "channels-last" in options:
        model, images = model.to(memory_format=torch.channels_last), images.contiguous(memory_format=torch.channels_last)
    classes = CLASSES.get(name, 1000)
    if name.startswith("deeplab"):
        labels = torch.randint(0, classes, (batch, side, side), device=device)
        return model, lambda run: functional.cross_entropy(run(images)["out"], labels)
    labels = torch.randint(0, classes, (batch,), device=device)
    return model, lambda run: functional.cross_entropy(run(images), labels)


def optimizer_of(torch, case, weights):
    options = case[5]
    if case[0] != "transformers" and not case[1].startswith(("vit", "swin", "convnext")) or "sgd" in options:
        return torch.optim.SGD(weights, lr=1e-3, momentum=0.9)
    more = dict(fused=True) if "fused" in options else dict(foreach=False) if "foreach-off" in options else {}
    return torch.optim.AdamW(weights, lr=1e-5, **more)


def distributed(torch, model, options):
    """Of one rank: what hooks, buckets and gathers cost where nothing travels."""
    if not torch.distributed.is_initialized():
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29577", RANK="0", WORLD_SIZE="1")
        torch.distributed.init_process_group("nccl", device_id=torch.device("cuda", 0))
    if "ddp" in options:
        return torch.nn.parallel.DistributedDataParallel(model, device_ids=[0])
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for layer in model.model.layers:
        fully_shard(layer, mp_policy=policy)
    return fully_shard(model, mp_policy=policy)


def prepare(torch, case):
    """The three parts of a step: forward, backward, and what follows; its model and its parameters."""
    library, name, _, _, precision, options = case
    device = torch.device("cuda", 0)
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.allow_tf32 = precision != "fp32"
    torch.manual_seed(1)
    model, loss_of = (text_model if library == "transformers" else image_model)(torch, case, device)
    parameters = sum(p.numel() for p in model.parameters())
    if "ddp" in options or "fsdp" in options:
        model = distributed(torch, model, options)
    weights = [p for p in model.parameters() if p.requires_grad]
    optimizer = optimizer_of(torch, case, weights)
    cast = {"bf16-amp": torch.bfloat16, "fp16-amp": torch.float16}.get(precision)
    scaler = torch.amp.GradScaler("cuda", enabled=precision == "fp16-amp")
    run = torch.compile(model) if "compile" in options else model

    def forward():
        with torch.autocast("cuda", dtype=cast or torch.bfloat16, enabled=cast is not None and "fsdp" not in options):
            return loss_of(run)

    def backward(loss):
        scaler.scale(loss).backward()

    def follow():
        if library == "transformers":
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)

    return forward, backward, follow, model, parameters, sum(w.numel() for w in weights), len(weights)


# ---- Measuring.


def issue_times(torch, forward, backward, follow):
    """The host's seconds of the three parts, each begun with nothing under way: the least of three steps. A part that
    waits for the GPU (an answer read back, a queue that is full) has that wait in it."""
    least = [math.inf] * 3
    for _ in range(3):
        torch.cuda.synchronize()
        a = time.perf_counter()
        loss = forward()
        b = time.perf_counter()
        torch.cuda.synchronize()
        c = time.perf_counter()
        backward(loss)
        d = time.perf_counter()
        torch.cuda.synchronize()
        e = time.perf_counter()
        follow()
        f = time.perf_counter()
        least = [min(x, y) for x, y in zip(least, (b - a, d - c, f - e))]
    torch.cuda.synchronize()
    return least


def what_is_issued(torch, step):
    """Kernels and copies, their seconds, operators (inner ones too), nodes of the backward pass, launches of a step."""
    activity = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[activity.CPU, activity.CUDA]) as profiler:
        step()
        torch.cuda.synchronize()
    kernels, seconds, operators, nodes, launches, by_name = 0, 0.0, 0, 0, 0, {}
    for event in profiler.profiler.kineto_results.events():
        name = event.name()
        if str(event.device_type()).endswith("CUDA"):
            if event.is_user_annotation() or name.startswith(("Optimizer.", "ProfilerStep", "autograd::")):
                continue
            kernels += 1
            seconds += event.duration_ns() * 1e-9
            count, total = by_name.get(name, (0, 0.0))
            by_name[name] = (count + 1, total + event.duration_ns() * 1e-3)
        elif name.startswith("aten::"):
            operators += 1
        elif name.startswith("autograd::engine::evaluate_function"):
            nodes += 1
        elif name.startswith(("cudaLaunchKernel", "cuLaunchKernel")):
            launches += 1
    return dict(kernels=kernels, kernel_seconds=seconds, operators=operators, nodes=nodes, launches=launches,
                by_name=by_name)


def measure(torch, case, steps):
    gc.collect()
    torch.cuda.empty_cache()
    forward, backward, follow, model, parameters, trained, tensors = prepare(torch, case)

    def step():
        loss = forward()
        backward(loss)
        follow()
        return loss.detach()

    for _ in range(COMPILED_WARM_UP if "compile" in case[5] else WARM_UP):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    times, loss = time_steps(torch, step, steps)
    result = dict(seconds=statistics.median(times), loss=loss, parameters=parameters, trained=trained, tensors=tensors,
                  peak=torch.cuda.max_memory_allocated(), reserved=torch.cuda.max_memory_reserved(),
                  modules=sum(1 for _ in model.modules()))
    result["spread"] = 1.4826 * statistics.median(abs(t - result["seconds"]) for t in times)
    if not math.isfinite(loss):
        raise RuntimeError("the loss is %s: this is no training" % loss)
    result["issue"] = issue_times(torch, forward, backward, follow)
    try:
        result["issued"] = what_is_issued(torch, step)
    except Exception as problem:  # the row stands
        sys.stderr.write("no profile: %s\n" % reason_of(problem))
        result["issued"] = dict.fromkeys(("kernels", "kernel_seconds", "operators", "nodes", "launches"), 0)
        result["issued"]["by_name"] = {}
    result["sensors"] = read_sensors(torch, step) if case[2] > 4 or case[3] >= 1024 else []
    return result


# ---- Rows.


def row_of(torch, case, number, software, result, reason):
    library, name, batch, tokens, precision, options = case
    properties, cells = torch.cuda.get_device_properties(0), dict.fromkeys(HEADER, "")
    convolves = library != "transformers" and not name.startswith(("vit", "swin"))
    written = {"default": "tf32" if convolves else "fp32"}.get(precision, precision)
    sgd = "sgd" in options or library != "transformers" and not name.startswith(("vit", "swin", "convnext"))
    short = properties.name.replace("NVIDIA", "").split()[0].lower()
    cells.update(
        row_id="zoo-%s-%04d" % (short, number), family="zoo-" + library, source="calibrate/gpu/bench/train_zoo.py",
        source_loc=name_of(case), system_name=properties.name,
        model=name + ("-LoRA" if "lora" in options else ""), gpu=properties.name,
        gpu_mem_bytes=properties.total_memory, n_gpus=1, n_nodes=1, gpus_per_node=1,
        framework={"transformers": "PyTorch (Hugging Face Transformers)", "timm": "PyTorch (timm)",
                   "torchvision": "PyTorch (torchvision)"}[library],
        software=software + (", NHWC" if "channels-last" in options else ""), tp=1, pp=1, vp=1, cp=1, ep=1, dp=1, zero_stage=3 if "fsdp" in options else 0,
        micro_batch=batch, grad_accum=1, global_batch=batch, precision=written,
        recompute="full" if "recompute" in options else "none", compiled=int("compile" in options),
        optimizer="sgd" if sgd else "fused AdamW" if "fused" in options else "adamw", inf_level=0, complete="A" if result else "C",
    )
    if library == "transformers":
        kind, layers, hidden, heads, kv_heads, ffn, vocab, _ = TEXT[name]
        cells.update(
            model_type="encoder" if kind in ENCODERS else "encdec" if kind == "T5" else "moe" if kind == "Olmoe"
            else "decoder", seq_len=tokens, attn_impl="plain" if kind == "T5" or "eager-attention" in options else "SDPA",
            layers=2 * layers if kind == "T5" else layers, hidden=hidden, heads=heads, kv_heads=kv_heads, ffn=ffn,
            vocab=vocab, mlp_act=MLP.get(kind, "swiglu"))
        if kind == "Olmoe":
            cells.update(n_experts=64, moe_top_k=8, moe_ffn=ffn)
    else:
        cells.update(model_type="vit" if name.startswith("vit") else "cnn_det" if name in DETECTORS else
                     "cnn_seg" if name.startswith("deeplab") else "cnn",
                     image_size=(TIMM if library == "timm" else VISION)[name][1],
                     attn_impl="SDPA" if name.startswith("vit") else "")
    notes = ["synthetic data on the GPU"] + list(options)
    notes += ["detector: images 800 x 1216, 7 boxes"] if cells["image_size"] == 800 else []
    notes += ["LoRA rank 16 on all linear layers"] if "lora" in options else []
    notes += ["clipping by norm 1"] if library == "transformers" else []
    cells["metric_kind"] = "not measured"
    if reason:
        notes.append("failed: " + reason)
    else:
        told, rate = result["sensors"], "%.6g" % (batch / result["seconds"])
        cells.update(
            n_params=result["parameters"], iter_time_s="%.6g" % result["seconds"], samples_per_s=rate,
            samples_per_s_gpu=rate, peak_mem_bytes=result["peak"], gpu_power_w="%.0f" % told[2] if told else "",
            metric_kind="median step time between CUDA events, rates derived; most allocated memory of these steps")
        if tokens:
            cells["tokens_per_s"] = cells["tokens_per_s_gpu"] = "%.6g" % (batch * tokens / result["seconds"])
        notes.append("spread %.2g s" % result["spread"])
        notes.append("reserved %d bytes" % result["reserved"])
        notes += ["%.0f MHz, %.0f W" % tuple(told[:2])] if told else []
    cells["notes"] = "; ".join(notes)
    return cells


HOST_HEADER = ("row_id,case,step_us,forward_us,backward_us,optimizer_us,kernels,kernel_us,operators,nodes,launches,"
               "modules,tensors,trained_parameters").split(",")


def host_row(row_id, case, result):
    issued, us = result["issued"], ["%.0f" % (1e6 * x) for x in [result["seconds"]] + result["issue"]]
    return [row_id, name_of(case)] + us + [
        issued["kernels"], "%.0f" % (1e6 * issued["kernel_seconds"]), issued["operators"], issued["nodes"],
        issued["launches"], result["modules"], result["tensors"], result["trained"]]


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", default="training_zoo.csv", help="rows (default: training_zoo.csv)")
    parser.add_argument("--host", metavar="FILE.csv", help="also what the host issues, and how long it takes")
    parser.add_argument("--kernels", metavar="FILE.csv", help="also the time of each kernel")
    parser.add_argument("--budget", type=float, default=420, metavar="S", help="begin nothing after so many seconds")
    parser.add_argument("--steps", type=int, default=8, metavar="N", help="timed steps of each case")
    parser.add_argument("--from", type=int, default=1, dest="first", metavar="N", help="begin with the Nth case")
    parser.add_argument("--no-compile", action="store_true", help="leave out the compiled cases")
    parser.add_argument("--list", action="store_true", help="print the plan")
    arguments, begin = parser.parse_args(words), time.monotonic()
    cases = plan()
    if arguments.list:
        for number, case in enumerate(cases, 1):
            print("%3d  %s" % (number, name_of(case)))
        return 0
    import torch
    import torch.nn.attention
    import torch.utils.checkpoint

    if not torch.cuda.is_available():
        sys.stderr.write("error: PyTorch sees no GPU here\n  hint: --list prints the plan without one\n")
        return 1
    versions = {}
    for library in ("transformers", "timm", "torchvision"):
        try:
            versions[library] = __import__(library).__version__
        except Exception as problem:
            sys.stderr.write("no %s: %s\n" % (library, reason_of(problem)))
    end_at(begin + arguments.budget + GRACE_SECONDS - time.monotonic())
    host = csv.writer(open(arguments.host, "w", newline="", buffering=1)) if arguments.host else None
    kernels = csv.writer(open(arguments.kernels, "w", newline="", buffering=1)) if arguments.kernels else None
    if host:
        host.writerow(HOST_HEADER)
    if kernels:
        kernels.writerow(("row_id", "kernel", "launches", "us"))
    failed = 0
    with open(arguments.output, "w", newline="", buffering=1) as out:
        rows = csv.DictWriter(out, HEADER, lineterminator="\n")
        rows.writeheader()
        for number, case in enumerate(cases, 1):
            left = arguments.budget - (time.monotonic() - begin)
            compiles = "compile" in case[5]
            if number < arguments.first or case[0] not in versions or compiles and arguments.no_compile:
                continue
            if left < (SECONDS_COMPILING if compiles else 2):
                continue
            software = "PyTorch %s, CUDA %s, %s %s" % (torch.__version__, torch.version.cuda, case[0],
                                                       versions[case[0]])
            result, reason = None, ""
            try:
                result = measure(torch, case, arguments.steps)
            except Exception as problem:  # one case must not cost the others
                reason, failed = reason_of(problem), failed + 1
            cells = row_of(torch, case, number, software, result, reason)
            rows.writerow(cells)
            if result and host:
                host.writerow(host_row(cells["row_id"], case, result))
            if result and kernels:
                ordered = sorted(result["issued"]["by_name"].items(), key=lambda item: -item[1][1])
                kernels.writerows((cells["row_id"], k[:160], n, "%.1f" % us) for k, (n, us) in ordered)
            told = "%.2f ms, %.2f GB" % (1e3 * result["seconds"], result["peak"] / 1e9) if result else reason
            sys.stderr.write("[%3.0f s] %d of %d %s: %s\n" % (time.monotonic() - begin, number, len(cases),
                                                             name_of(case), told))
            if compiles:
                torch.compiler.reset()
            result = None
    return 1 if failed == len(cases) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
