#!/bin/sh
# usage: ./run.sh <0|1> <address of node 0>
RANK=${1:-0}
HEAD=${2:-10.20.0.11}

OMP_NUM_THREADS=8 NCCL_IB_DISABLE=1 \
torchrun --nnodes=2 --nproc_per_node=4 --node_rank=$RANK --master_addr=$HEAD --master_port=1234 \
    train.py --n_layer 36 --n_head 20 --n_embd 1280 --grad_ckpt --compile \
    --lr 2.5e-4 --min_lr 2.5e-5 --warmup_iters 700 --weight_decay 0.1 --seed 1 --out_dir out-774m
