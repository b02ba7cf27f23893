#!/bin/bash
# bash pretrain.sh   from the login node; the jobs are queued by submitit
JOB_DIR=/checkpoint/$USER/mae/vitl_800e
IMAGENET_DIR=/datasets/imagenet_full_size

python slurm_submit.py \
    --job_dir ${JOB_DIR} \
    --nodes 4 \
    --use_volta32 \
    --batch_size 64 \
    --accum_iter 2 \
    --model mae_vit_large_patch16 \
    --norm_pix_loss \
    --mask_ratio 0.75 \
    --epochs 800 \
    --warmup_epochs 40 \
    --blr 1.5e-4 --weight_decay 0.05 \
    --data_path ${IMAGENET_DIR}
