#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gres=gpu:a100:8
srun composer --nproc 8 --world_size 16 --node_rank $SLURM_NODEID \
    llm-foundry/scripts/train/train.py run.yaml \
    deepspeed_config=deep.json icl_tasks=deep.yaml
