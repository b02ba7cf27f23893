#!/usr/bin/env bash
# run on every node:  NODE_RANK=<0..3> MASTER_ADDR=<node 0> ./launch.sh
cd "$(dirname "$0")"

export NCCL_DEBUG=${NCCL_DEBUG:-WARN}
export HF_HOME=/scratch/hf
export PYTHONPATH=/opt/Megatron-Bridge/src:$PYTHONPATH

exec torchrun \
  --nnodes=4 --nproc-per-node=8 \
  --node-rank="${NODE_RANK:?}" --master-addr="${MASTER_ADDR:?}" --master-port=29400 \
  pretrain_llama3.py \
    --data /scratch/tok/longmix_text_document \
    --out /scratch/runs/l3-8b-long \
    --seq-length 16384
