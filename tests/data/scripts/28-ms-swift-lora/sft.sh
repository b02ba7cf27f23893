#!/usr/bin/env bash
# usage: on each machine   bash sft.sh RANK
set -euo pipefail

NNODES=2
NODE_RANK=${1:-0}
NPROC_PER_NODE=8
MASTER_ADDR=10.21.7.11
MASTER_PORT=29500
export NNODES NODE_RANK NPROC_PER_NODE MASTER_ADDR MASTER_PORT

export CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7
export USE_HF=1
export TOKENIZERS_PARALLELISM=false

swift sft \
    --model Qwen/Qwen2.5-14B-Instruct \
    --train_type lora \
    --lora_rank 16 \
    --lora_alpha 32 \
    --lora_dropout 0.05 \
    --target_modules all-linear \
    --dataset data/tickets.jsonl data/faq.jsonl#20000 \
    --split_dataset_ratio 0 \
    --torch_dtype bfloat16 \
    --attn_impl flash_attn \
    --packing true \
    --max_length 8192 \
    --per_device_train_batch_size 1 \
    --gradient_accumulation_steps 8 \
    --gradient_checkpointing true \
    --use_liger_kernel true \
    --deepspeed zero3 \
    --num_train_epochs 2 \
    --learning_rate 1e-4 \
    --warmup_ratio 0.03 \
    --lr_scheduler_type cosine \
    --weight_decay 0.1 \
    --save_total_limit 2 \
    --logging_steps 5 \
    --report_to none \
    --seed 3407 \
    --output_dir output/tickets-lora
