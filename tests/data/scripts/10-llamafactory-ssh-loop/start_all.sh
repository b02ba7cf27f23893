#!/bin/bash
# starts every node from the first one, Ctrl-C stops them all
HOSTS=(
  ga-017
  ga-018
  # ga-019    ECC errors, back on Monday
  ga-021
  ga-022
)
PER_NODE=8
PORT=29555
WORK=$PWD

trap 'kill 0' INT TERM

for i in "${!HOSTS[@]}"; do
  ssh -tt -o StrictHostKeyChecking=no "${HOSTS[$i]}" \
    "cd $WORK && source /opt/lf/bin/activate && \
     NCCL_SOCKET_IFNAME=bond0 NCCL_DEBUG=WARN \
     FORCE_TORCHRUN=1 NNODES=${#HOSTS[@]} NODE_RANK=$i NPROC_PER_NODE=$PER_NODE \
     MASTER_ADDR=${HOSTS[0]} MASTER_PORT=$PORT \
     llamafactory-cli train qwen32b_full.yaml" > logs/node$i.log 2>&1 &
done
wait
