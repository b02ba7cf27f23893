#!/usr/bin/env bash
# continued pretraining of a 14B on the lab's three free boxes
set -e

NODES=3
PER_NODE=8
TARGET=192            # sequences a step
MICRO=1
ACC=$(( TARGET / (NODES * PER_NODE * MICRO) ))

export WANDB_MODE=offline
export TOKENIZERS_PARALLELISM=false

deepspeed \
  --hostfile=./hostfile \
  --num_nodes=$NODES \
  --master_addr=atlas01 --master_port=29618 \
  run_clm.py \
    --deepspeed ds_infinity.json \
    --model_name_or_path Qwen/Qwen2.5-14B \
    --train_file data/train.jsonl \
    --validation_file data/valid.jsonl \
    --block_size 4096 \
    --do_train \
    --bf16 \
    --torch_dtype bfloat16 \
    --gradient_checkpointing \
    --per_device_train_batch_size $MICRO \
    --gradient_accumulation_steps $ACC \
    --max_steps 4000 \
    --learning_rate 1e-5 \
    --lr_scheduler_type linear \
    --warmup_ratio 0.02 \
    --weight_decay 0.1 \
    --logging_steps 5 \
    --save_strategy no \
    --seed 1234 \
    --report_to wandb \
    --run_name cpt-14b \
    --output_dir out/cpt-14b \
    --overwrite_output_dir "$@"
