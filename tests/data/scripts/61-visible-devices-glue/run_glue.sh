#!/usr/bin/env bash
# Tunes DeBERTa on MNLI with the cards that are free on the lab's server (8 x RTX 3090)
export CUDA_VISIBLE_DEVICES=0,2,3,5
NGPU=$(echo $CUDA_VISIBLE_DEVICES | tr ',' '\n' | wc -l)
TASK=${1:-mnli}
BS=32

export TOKENIZERS_PARALLELISM=false
torchrun --standalone --nproc_per_node=$NGPU run_glue.py \
  --model_name_or_path microsoft/deberta-v3-base \
  --task_name $TASK \
  --do_train --do_eval \
  --max_seq_length 256 \
  --per_device_train_batch_size $((BS / NGPU)) \
  --gradient_accumulation_steps 2 \
  --learning_rate 2e-5 \
  --num_train_epochs 3 \
  --fp16 \
  --pad_to_max_length True \
  --display_every 50 \
  --output_dir out/$TASK --overwrite_output_dir
