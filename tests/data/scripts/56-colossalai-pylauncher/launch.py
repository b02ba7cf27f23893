#!/usr/bin/env python3
"""Starts the continued pretraining on the hosts of hosts.txt; run it on the first of them."""
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

GPUS_PER_NODE = 8
TP, PP = 4, 2
MICRO = 2
BATCH = MICRO * 8          # of a data-parallel rank, eight pieces through the pipeline
SEQ = 4096
RUN = "zh-13b-stage1"

env = dict(os.environ)
env["OMP_NUM_THREADS"] = "8"
env["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"

cmd = [
    "colossalai", "run",
    "--nproc_per_node", str(GPUS_PER_NODE),
    "--hostfile", "hosts.txt",
    "--master_addr", "gn-a11",
    "--master_port", "30013",
    "train.py",
    "--pretrained", "model",
    "--tokenizer_dir", "model",
    "--dataset", "/nas/zh/part-000", "/nas/zh/part-001",
    "--plugin", "3d",
    "--tp", str(TP),
    "--pp", str(PP),
    "--zero_stage", "1",
    "--batch_size", f"{BATCH}",
    "--microbatch_size", f"{MICRO}",
    "--max_length", str(SEQ),
    "--mixed_precision", "bf16",
]
cmd += ["--use_grad_checkpoint", "--use_flash_attn"]
cmd += ["--enable_sequence_parallelism", "--sp_mode", "split_gather"]
cmd += [
    "--lr", "5e-5",
    "--warmup_steps", "200",
    "--weight_decay", "0.1",
    "--num_epochs", "1",
    "--save_interval", "2000",
    "--save_dir", f"/nas/ckpt/{RUN}",
    "--tensorboard_dir", f"/nas/tb/{RUN}",
    "--config_file", f"/nas/ckpt/{RUN}.json",
]

if __name__ == "__main__":
    print(" ".join(cmd))
    sys.exit(subprocess.run(cmd, cwd=HERE, env=env).returncode)
