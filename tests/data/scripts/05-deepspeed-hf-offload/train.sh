MODEL=mistralai/Mistral-7B-v0.1
OUT=out/mistral-support-$(date +%m%d)

# 0-3 only, the other half of the box belongs to the evaluation people
deepspeed --include localhost:0,1,2,3 --master_port 29511 finetune.py \
    --deepspeed ds_zero2_offload.json \
    --model_name_or_path $MODEL \
    --attn_implementation flash_attention_2 \
    --data_file data/tickets_train.jsonl \
    --bf16 True \
    --output_dir $OUT \
    --num_train_epochs 3 \
    --per_device_train_batch_size 2 \
    --gradient_accumulation_steps 8 \
    --gradient_checkpointing \
    --eval_strategy no \
    --save_strategy steps --save_steps 400 --save_total_limit 2 \
    --learning_rate 1e-5 \
    --weight_decay 0. \
    --warmup_ratio 0.03 \
    --lr_scheduler_type cosine \
    --logging_steps 5 \
    --seed 7 \
    --report_to tensorboard 2>&1 | tee train.log
