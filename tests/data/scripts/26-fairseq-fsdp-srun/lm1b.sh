#!/bin/bash
#SBATCH --job-name=lm1.2b
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=10
#SBATCH --constraint=volta32gb
#SBATCH --mem=0
#SBATCH --time=72:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue

. /public/apps/anaconda3/2021.05/etc/profile.d/conda.sh
conda activate fairseq

DATA_BIN=/checkpoint/$USER/data-bin/news_bpe
TOKENS_PER_SAMPLE=1024
BATCH=4
UPDATE_FREQ=4
NGPU=$(( SLURM_NNODES * 8 ))
SAVE=/checkpoint/$USER/lm1.2b.ngpu${NGPU}

MODEL="--arch transformer_lm --decoder-layers 24 --decoder-embed-dim 2048 \
  --decoder-ffn-embed-dim 8192 --decoder-attention-heads 32 \
  --decoder-normalize-before --activation-fn gelu --share-decoder-input-output-embed"

OPT="--optimizer adam --adam-betas (0.9,0.98) --adam-eps 1e-8 --clip-norm 1.0 \
  --lr 0.0002 --lr-scheduler polynomial_decay --warmup-updates 715 \
  --total-num-update 100000 --max-update 100000 --weight-decay 0.01 \
  --dropout 0.1 --attention-dropout 0.1"

srun --label --output $SAVE/train.%j.log \
  fairseq-train $DATA_BIN \
    --task language_modeling --sample-break-mode none \
    --tokens-per-sample $TOKENS_PER_SAMPLE \
    --batch-size $BATCH --update-freq $UPDATE_FREQ \
    --distributed-world-size $NGPU --distributed-port 13356 \
    --ddp-backend fully_sharded --checkpoint-activations \
    --fp16 --fp16-init-scale 4 \
    $MODEL $OPT \
    --num-workers 2 --seed 7 \
    --save-dir $SAVE --save-interval-updates 5000 --keep-interval-updates 2 \
    --log-format json --log-interval 25 \
    --tensorboard-logdir $SAVE/tb
