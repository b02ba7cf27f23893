#!/bin/bash
set -x

if [ "$#" -lt 2 ]; then
    echo "Usage: run_qwen_sp2.sh <nproc_per_node> <save_path> [other_configs...]"
    exit 1
fi

nproc_per_node=$1
save_path=$2
shift 2

torchrun --standalone --nnodes=1 --nproc_per_node=$nproc_per_node \
     -m verl.trainer.fsdp_sft_trainer \
    data.train_files=$HOME/data/mathqa/train.parquet \
    data.val_files=$HOME/data/mathqa/test.parquet \
    data.prompt_key=extra_info \
    data.response_key=extra_info \
    +data.prompt_dict_keys=['question'] \
    +data.response_dict_keys=['answer'] \
    data.train_batch_size=256 \
    data.micro_batch_size_per_gpu=4 \
    data.max_length=2048 \
    data.truncation=right \
    optim.lr=1e-4 \
    optim.weight_decay=0.01 \
    optim.warmup_steps_ratio=0.1 \
    model.partial_pretrain=Qwen/Qwen2.5-7B-Instruct \
    model.enable_gradient_checkpointing=True \
    model.use_liger=True \
    model.strategy=fsdp2 \
    trainer.default_local_dir=$save_path \
    trainer.project_name=mathqa-sft \
    trainer.experiment_name=qwen2.5-7b-sp2 \
    trainer.logger=['console'] \
    trainer.total_epochs=3 "$@" \
    ulysses_sequence_parallel_size=2 \
    use_remove_padding=true
