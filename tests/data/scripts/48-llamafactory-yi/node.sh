#!/bin/sh
# on each of the three boxes (4 x A100 80GB PCIe):   ./node.sh 0|1|2
# older runs: per_device_train_batch_size=1 gradient_accumulation_steps=16

cd "$(dirname "$0")" || exit 1

export HF_HOME=/mnt/share/hf
export NCCL_SOCKET_IFNAME=ens5

FORCE_TORCHRUN=1 \
NNODES=3 NODE_RANK=${1:-0} NPROC_PER_NODE=4 \
MASTER_ADDR=10.20.0.11 MASTER_PORT=29555 \
  llamafactory-cli train yi34b_lora.yaml \
    per_device_train_batch_size=2 \
    gradient_accumulation_steps=5 \
    cutoff_len=6144 \
    output_dir=saves/yi34b/6k
