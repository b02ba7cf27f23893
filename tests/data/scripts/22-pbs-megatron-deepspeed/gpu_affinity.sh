#!/bin/bash
# nearest GPU first: they are numbered the other way round on these boards
num_gpus=4
gpu=$(( num_gpus - 1 - PMI_LOCAL_RANK % num_gpus ))
export CUDA_VISIBLE_DEVICES=$gpu
export RANK=$PMI_RANK
export LOCAL_RANK=0
export WORLD_SIZE=$PMI_SIZE
exec "$@"
