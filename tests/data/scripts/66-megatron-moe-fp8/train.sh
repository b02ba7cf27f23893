#!/bin/bash
#SBATCH --job-name=moe
#SBATCH --nodes=16 --ntasks-per-node=1 --gres=gpu:H100:8
set -eux -o pipefail

TP=${TP:-2}; PP=${PP:-4}; EP=${EP:-8}
SEQ=4096
declare -A MODEL=(
  [layers]=32 [hidden]=4096 [ffn]=14336 [heads]=32 [groups]=8
)
DISTRIBUTED_ARGS=(
    --nproc_per_node 8
    --nnodes $SLURM_NNODES
    --rdzv-backend c10d
    --rdzv-endpoint $(hostname):6000
)
MODEL_ARGS=(
    --use-mcore-models --disable-bias-linear
    --seq-length $SEQ --max-position-embeddings 32768
    --num-layers ${MODEL[layers]} --hidden-size ${MODEL[hidden]}
    --ffn-hidden-size ${MODEL[ffn]} --num-attention-heads ${MODEL[heads]}
    --init-method-std 0.01 --attention-dropout 0.0 --hidden-dropout 0.0
    --normalization RMSNorm --position-embedding-type rope --swiglu
    --untie-embeddings-and-output-weights
    --group-query-attention --num-query-groups ${MODEL[groups]}
    --no-masked-softmax-fusion --no-position-embedding --rotary-base 1000000
)
MOE_ARGS=(
    --num-experts 8 --moe-router-topk 2 --moe-router-load-balancing-type aux_loss
    --moe-aux-loss-coeff 1e-2 --moe-grouped-gemm --moe-token-dispatcher-type alltoall
    --overlap-param-gather --overlap-grad-reduce
)
(( SEQ > 8192 )) && MODEL_ARGS+=(--context-parallel-size 2)
TRAIN=(
    --micro-batch-size 1 --global-batch-size 256 --lr 1e-4 --train-iters 500000
    --lr-decay-style cosine --min-lr 1.0e-5 --weight-decay 0.1 --clip-grad 1.0 --bf16
    --fp8-format hybrid --fp8-recipe delayed --fp8-amax-history-len 1024 --fp8-amax-compute-algo max
    --recompute-granularity selective
)
PARALLEL=(
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size $PP
    --num-layers-per-virtual-pipeline-stage 4
    --expert-model-parallel-size $EP --expert-tensor-parallel-size 1
    --use-distributed-optimizer --sequence-parallel
)
srun torchrun "${DISTRIBUTED_ARGS[@]}" pretrain_gpt.py "${MODEL_ARGS[@]}" "${MOE_ARGS[@]}" "${TRAIN[@]}" "${PARALLEL[@]}" \
   --tokenizer-type Llama2Tokenizer --tokenizer-model /m/tokenizer.model --data-path 1.0 /d/c4 --split 99990,8,2 \
   --log-interval 1 --save-interval 10000 --eval-iters 10 --no-load-optim --no-load-rng
