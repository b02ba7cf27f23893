#!/usr/bin/env bash
set -e
export WANDB_PROJECT=sft-tools
export TOKENIZERS_PARALLELISM=false

# micro-batches of 4 did not fit with the long samples; a step is as large either way
trl sft --config sft.yaml \
    --per_device_train_batch_size 2 --gradient_accumulation_steps 8 \
    --output_dir "runs/$(git rev-parse --short HEAD)" "$@"
