#!/bin/bash
set -e
export RAY_ADDRESS=http://raycluster-head:8265
ray job submit --working-dir . \
    --runtime-env-json '{"env_vars": {"NCCL_DEBUG": "WARN", "NCCL_SOCKET_IFNAME": "bond0", "WORKERS": "16"}, "pip": ["transformers==4.44"]}' \
    -- python finetune.py --num-workers 16 --lr 1e-5 --batch-size-per-device 4
