#!/usr/bin/env python3
"""Turns the tables below into a torchrun command and becomes it."""
import os
import shlex
import sys

MEGATRON = os.environ.get("MEGATRON", "/opt/megatron-lm")

NODES = int(os.environ["SLURM_NNODES"])
GPUS = 8

TP, PP, EP = 2, 4, 8
MBS = 1
ACC = 32                                  # micro-batches a replica sees in a step
DP = NODES * GPUS // (TP * PP)

ON = object()                             # a switch: the name alone

MODEL = {
    "--num-layers": 32,
    "--hidden-size": 4096,
    "--ffn-hidden-size": 14336,
    "--num-attention-heads": 32,
    "--group-query-attention": ON,
    "--num-query-groups": 8,
    "--seq-length": 4096,
    "--max-position-embeddings": 32768,
    "--swiglu": ON,
    "--normalization": "RMSNorm",
    "--disable-bias-linear": ON,
    "--untie-embeddings-and-output-weights": ON,
    "--position-embedding-type": "rope",
    "--rotary-base": 1_000_000,
    "--init-method-std": 0.008,
    "--attention-dropout": 0.0,
    "--hidden-dropout": 0.0,
}

MOE = {
    "--num-experts": 8,
    "--moe-router-topk": 2,
    "--moe-router-load-balancing-type": "aux_loss",
    "--moe-aux-loss-coeff": 1e-2,
    "--moe-token-dispatcher-type": "alltoall",
    "--moe-grouped-gemm": ON,
    "--moe-permute-fusion": ON,
}

PARALLEL = {
    "--tensor-model-parallel-size": TP,
    "--pipeline-model-parallel-size": PP,
    "--num-virtual-stages-per-pipeline-rank": 2,
    "--expert-model-parallel-size": EP,
    "--expert-tensor-parallel-size": 1,
    "--sequence-parallel": ON,
    "--use-distributed-optimizer": ON,
    "--overlap-grad-reduce": ON,
    "--overlap-param-gather": ON,
}

MEMORY = {
    "--recompute-granularity": "selective",
    "--recompute-modules": ["moe_act", "layernorm"],
}

PRECISION = {
    "--bf16": ON,
    "--fp8-format": "e4m3",
    "--fp8-recipe": "blockwise",
}

TRAIN = {
    "--micro-batch-size": MBS,
    "--global-batch-size": MBS * ACC * DP,
    "--train-iters": 250_000,
    "--lr": 2.2e-4,
    "--min-lr": 2.2e-5,
    "--lr-decay-style": "WSD",
    "--lr-wsd-decay-style": "cosine",
    "--lr-wsd-decay-iters": 25_000,
    "--lr-warmup-iters": 2_000,
    "--weight-decay": 0.1,
    "--clip-grad": 1.0,
    "--adam-beta2": 0.95,
}

IO = {
    "--data-path": ["1.0", "/data/mix_v7_text_document"],
    "--tokenizer-type": "HuggingFaceTokenizer",
    "--tokenizer-model": "/data/tok/mix32k",
    "--split": "995,5,0",
    "--save": "/ckpt/moe47b",
    "--load": "/ckpt/moe47b",
    "--save-interval": 500,
    "--log-interval": 10,
    "--tensorboard-dir": "/ckpt/moe47b/tb",
    "--wandb-project": "moe",
    "--wandb-exp-name": None,             # None: leave it out
}


def flags(*tables):
    out = []
    for table in tables:
        for name, value in table.items():
            if value is None:
                continue
            out.append(name)
            if value is ON:
                continue
            if isinstance(value, list):
                out += [str(v) for v in value]
            else:
                out.append(str(value))
    return out


def main():
    cmd = [
        "torchrun",
        f"--nnodes={NODES}",
        f"--nproc-per-node={GPUS}",
        f"--node-rank={os.environ['SLURM_NODEID']}",
        f"--master-addr={os.environ['MASTER_ADDR']}",
        "--master-port=6000",
        f"{MEGATRON}/pretrain_gpt.py",
    ]
    cmd += flags(MODEL, MOE, PARALLEL, MEMORY, PRECISION, TRAIN, IO)
    cmd += sys.argv[1:]
    os.environ.setdefault("NVTE_FUSED_ATTN", "1")
    print(shlex.join(cmd), flush=True)
    os.execvp(cmd[0], cmd)


if __name__ == "__main__":
    main()
