#!/bin/bash
# $ nvidia-smi -L
#   GPU 0: NVIDIA GeForce RTX 3090
#   GPU 1: NVIDIA GeForce RTX 3090
#   GPU 2: NVIDIA GeForce RTX 3090
#   GPU 3: NVIDIA GeForce RTX 3090
# Number 1 is left to the person at the screen.

MODEL="${MODEL:-Qwen/Qwen2.5-14B-Instruct}"
DATA="${1:-trl-lib/Capybara}"
IMAGE=local/trl:0.19

docker run --rm -it \
  --gpus '"device=0,2,3"' \
  --shm-size=16g --ulimit memlock=-1 \
  -e HF_TOKEN -e NCCL_P2P_DISABLE=1 -e OMP_NUM_THREADS=6 \
  -v "$HOME/.cache/huggingface:/root/.cache/huggingface" \
  -v "$PWD:/work" -w /work \
  --name tune \
  $IMAGE \
  bash -c "pip install -q bitsandbytes==0.46.0 && \
    torchrun --standalone --nproc_per_node=3 /opt/trl/trl/scripts/sft.py \
      --model_name_or_path $MODEL \
      --dataset_name $DATA \
      --use_peft --load_in_4bit \
      --lora_r 32 --lora_alpha 16 --lora_target_modules all-linear \
      --torch_dtype bfloat16 --bf16 True \
      --attn_implementation flash_attention_2 \
      --max_length 2048 --packing \
      --per_device_train_batch_size 1 \
      --gradient_accumulation_steps 8 \
      --gradient_checkpointing \
      --optim paged_adamw_8bit \
      --learning_rate 1e-4 --lr_scheduler_type constant_with_warmup --warmup_ratio 0.03 \
      --num_train_epochs 1 \
      --logging_steps 5 --report_to tensorboard --run_name q14 --seed 3 \
      --output_dir out/q14"
