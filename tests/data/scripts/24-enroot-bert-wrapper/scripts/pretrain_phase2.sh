#!/bin/bash
# train_batch_size: what a GPU contributes to an update. run_pretraining.py divides it by
# gradient_accumulation_steps to get the size of one forward pass.
train_batch_size=${1:-8192}
learning_rate=${2:-"6e-3"}
precision=${3:-"fp16"}
num_gpus=${4:-4}
warmup_proportion=${5:-"0.2843"}
train_steps=${6:-7038}
save_checkpoint_steps=${7:-200}
create_logfile=${8:-"true"}
gradient_accumulation_steps=${9:-128}
seed=${10:-12439}
init_checkpoint=${11:-"results/checkpoints"}

DATA=data/hdf5_lower_case_1_seq_len_512_max_pred_80
RESULTS=results
BERT_CONFIG=bert_configs/large.json
mkdir -p $RESULTS

PREC=""
if [ "$precision" = "fp16" ] ; then
   PREC="--fp16"
elif [ "$precision" = "fp32" ] ; then
   PREC=""
elif [ "$precision" = "tf32" ] ; then
   PREC=""
else
   echo "Unknown <precision> argument"
   exit 2
fi

ACCUM=""
if [ "$gradient_accumulation_steps" -gt 1 ] ; then
   ACCUM="--gradient_accumulation_steps=$gradient_accumulation_steps"
   ACCUM+=" --allreduce_post_accumulation --allreduce_post_accumulation_fp16"
fi

CMD=" run_pretraining.py"
CMD+=" --input_dir=$DATA"
CMD+=" --output_dir=$RESULTS/checkpoints"
CMD+=" --config_file=$BERT_CONFIG"
CMD+=" --bert_model=bert-large-uncased"
CMD+=" --train_batch_size=$train_batch_size"
CMD+=" --max_seq_length=512"
CMD+=" --max_predictions_per_seq=80"
CMD+=" --max_steps=$train_steps"
CMD+=" --warmup_proportion=$warmup_proportion"
CMD+=" --num_steps_per_checkpoint=$save_checkpoint_steps"
CMD+=" --learning_rate=$learning_rate"
CMD+=" --seed=$seed"
CMD+=" $PREC $ACCUM"
CMD+=" --do_train --phase2 --resume_from_checkpoint --phase1_end_step=7038"
CMD+=" --json-summary $RESULTS/dllogger.json"

CMD="python3 -m torch.distributed.launch --nproc_per_node=$num_gpus $CMD"

if [ "$create_logfile" = "true" ] ; then
  LOGFILE=$RESULTS/phase2_$(date +%y%m%d%H%M%S).log
fi

set -x
if [ -z "$LOGFILE" ] ; then
   $CMD
else
   ( $CMD ) |& tee $LOGFILE
fi
