#!/usr/bin/bash
set -ex

# NODE_RANK and MASTER_ADDR come from the scheduler's prolog
NGPU=${NGPU:-"8"}
NNODES=${NNODES:-"8"}
LOG_RANK=${LOG_RANK:-0}
CONFIG_FILE=${CONFIG_FILE:-"./llama3_70b_pp.toml"}
TRAIN_FILE=${TRAIN_FILE:-"torchtitan.train"}

overrides=""
if [ $# -ne 0 ]; then
    overrides="$*"
fi

PYTORCH_ALLOC_CONF="expandable_segments:True" \
torchrun --nnodes=${NNODES} --nproc_per_node=${NGPU} --node_rank=${NODE_RANK} \
    --rdzv_backend c10d --rdzv_endpoint="${MASTER_ADDR}:29500" \
    --local-ranks-filter ${LOG_RANK} --role rank --tee 3 \
    -m ${TRAIN_FILE} --job.config_file ${CONFIG_FILE} --training.seq_len 4096 $overrides
