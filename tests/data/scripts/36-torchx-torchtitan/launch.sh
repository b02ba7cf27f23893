#!/usr/bin/env bash
set -eu

NNODES=${NNODES:-4}
TITAN_TOML=${TITAN_TOML:-train_configs/llama3_8b_pp.toml}

torchx run --scheduler slurm \
    -cfg partition=train,time=24:00:00,constraint=h100,job_dir=$HOME/titan-jobs \
    dist.ddp \
    -j ${NNODES}x8 --gpu 8 --cpu 96 --memMB 1800000 \
    --name titan-8b --rdzv_port 29513 --max_retries 2 \
    --env NCCL_DEBUG=WARN,TORCH_NCCL_AVOID_RECORD_STREAMS=1 \
    -m torchtitan.train -- \
    --job.config_file $TITAN_TOML \
    --training.local_batch_size 8 \
    --activation_checkpoint.mode full \
    "$@"
