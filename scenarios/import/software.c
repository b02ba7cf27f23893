#include "scenarios/import/software.h"

#include <stddef.h>
#include <string.h>

#include "scenarios/import/reading.h"

// clang-format off
#define PRECISIONS "no:fp32,none:fp32,fp32:fp32,32:fp32,32-true:fp32,float32:fp32,fp16:fp16,16:fp16,16-mixed:fp16,16-true:fp16,float16:fp16,amp_fp16:fp16,half:fp16,bf16:bf16,bf16-mixed:bf16,bf16-true:bf16,bfloat16:bf16,amp_bf16:bf16,bf16_mixed:bf16,fp8:fp8,amp_fp8:fp8,transformer-engine:fp8,fp8_e4m3:fp8,int8:int8,fp32_mixed:fp32,16-true:fp16," \
    "bf16_with_fp8_current_scaling_mixed:fp8,bf16_with_fp8_delayed_scaling_mixed:fp8,bf16_with_fp8_mixed:fp8,bf16_with_mxfp8_mixed:fp8,bf16_with_fp8_subchannel_scaling_mixed:fp8,fp16_mixed:fp16,nanoo_fp8:fp8"

// Megatron-LM (megatron/training/arguments.py at core 0.20), and Megatron-Bridge and NeMo, which name alike.
static const ImportOption megatron[] = {
    {"tensor_model_parallel_size|tensor_parallel_size|model-parallel-size", TAKEN, "tp", NULL},
    {"pipeline_model_parallel_size|pipeline_parallel_size|pipe-parallel-size", TAKEN, "pp", NULL},
    {"num_virtual_stages_per_pipeline_rank", TAKEN, "vpp", NULL},
    {"virtual_pipeline_model_parallel_size|virtual_pipeline_parallel_size", TAKEN, "vpp", NULL},
    {"num_layers_per_virtual_pipeline_stage", TAKEN, "layers_per_virtual_stage", NULL},
    {"context_parallel_size|ds_sequence_parallel_size", TAKEN, "cp", NULL},
    {"cp_comm_type", TAKEN, "cp-exchange", "p2p:ring,a2a:ulysses,allgather:all-gather,all_gather:all-gather"},
    {"expert_model_parallel_size|moe_expert_parallel_size", TAKEN, "ep", NULL},
    {"expert_tensor_parallel_size", TAKEN, "etp", NULL},
    {"sequence_parallel", TAKEN, "sequence-parallel", "true:true,false:false"},
    {"use_distributed_optimizer", TAKEN, "zero", "yes:1"},
    {"use_megatron_fsdp|use_custom_fsdp", TAKEN, "megatron_fsdp", "yes:true"},
    {"data_parallel_sharding_strategy", TAKEN, "fsdp_strategy", "no_shard:0,optim:1,optim_grads:2,optim_grads_params:3"},
    {"optim.name", TAKEN, "zero", "distributed_fused_adam:1,fused_adam:0"},
    {"zero_stage", TAKEN, "zero", NULL},
    {"use_torch_fsdp2", TAKEN, "zero", "yes:3"},
    {"micro_batch_size", TAKEN, "micro-batch", NULL},
    {"global_batch_size", TAKEN, "global-batch", NULL},
    {"seq_length|encoder_seq_length|sequence_length", TAKEN, "seq", NULL},
    {"num_layers", TAKEN, "layers", NULL},
    {"encoder_num_layers", TAKEN, "encoder_layers", NULL},
    {"decoder_num_layers", TAKEN, "decoder_layers", NULL},
    {"decoder_seq_length", OPEN, "the target is as long as the source, as is assumed", NULL},
    {"hidden_size", TAKEN, "hidden", NULL},
    {"num_attention_heads", TAKEN, "heads", NULL},
    {"num_query_groups", TAKEN, "kv_heads", NULL},
    {"ffn_hidden_size", TAKEN, "ffn", NULL},
    {"kv_channels", TAKEN, "head_dim", NULL},
    {"vocab_size|padded_vocab_size", TAKEN, "vocab", NULL},
    {"max_position_embeddings", TAKEN, "max_positions", NULL},
    {"num_experts|num_moe_experts", TAKEN, "experts", NULL},
    {"moe_router_topk|topk", TAKEN, "experts_per_token", NULL},
    {"moe_ffn_hidden_size", TAKEN, "expert_ffn", NULL},
    {"moe_shared_expert_intermediate_size", TAKEN, "shared_expert_ffn", NULL},
    {"moe_layer_freq", TAKEN, "expert_pattern", NULL},
    {"moe_expert_capacity_factor|moe_train_capacity_factor", TAKEN, "capacity-factor", NULL},
    {"swiglu", TAKEN, "gated_mlp", "yes:true"},
    {"model.activation", TAKEN, "gated_mlp", "swiglu:true,fast-swiglu:true,gelu:false,squared-relu:false,relu:false"},
    {"normalization|norm", TAKEN, "rms_norm", "RMSNorm:true,LayerNorm:false,layernorm1p:false,rms:true"},
    {"untie_embeddings_and_output_weights|no-weight-tying", TAKEN, "untied_embedding", "yes:true"},
    {"share_embeddings_and_output_weights", TAKEN, "untied_embedding", "no:true"},
    {"group_query_attention", IDLE, "num-query-groups says how many", NULL},
    {"bf16", TAKEN, "precision", "yes:bf16"},
    {"fp16|fp16.enabled", TAKEN, "precision", "yes:fp16"},
    {"bf16.enabled", TAKEN, "precision", "yes:bf16"},
    {"trainer.precision|mixed_precision", TAKEN, "precision", PRECISIONS},
    {"fp8_format", TAKEN, "fp8", "hybrid:true,e4m3:true,yes:true"},
    {"fp8|transformer_engine_fp8", TAKEN, "fp8", "yes:true,hybrid:true,e4m3:true"},
    {"fp8_hybrid|fp8_e4m3", TAKEN, "fp8", "yes:true"},
    {"fp8_amax_history_len|fp8_amax_compute_algo|fp8_margin|fp8_interval|fp8_param_gather|fp8_wgrad|no_fp8_wgrad|first_last_layers_bf16|fp8_dot_product_attention|fp8_multi_head_attention", OPEN, "which products are in 8 bits, and how they are scaled", NULL},
    {"fp8_recipe", TAKEN, "fp8-recipe", "delayed:delayed,tensorwise:tensorwise,mxfp8:mxfp8,blockwise:blockwise"},
    {"recompute_activations", TAKEN, "recompute", "yes:selective"},
    {"recompute_granularity|activations_checkpoint_granularity", TAKEN, "recompute", "full:full,selective:selective"},
    {"checkpoint_activations", TAKEN, "recompute", "yes:full"},
    {"recompute_num_layers|activations_checkpoint_num_layers", TAKEN, "recompute-num-layers", NULL},
    {"recompute_method|activations_checkpoint_method", TAKEN, "recompute_method", "uniform:uniform,block:block"},
    {"recompute_modules", TAKEN, "recompute-modules", NULL},
    {"overlap_grad_reduce|overlap_grad_sync", TAKEN, "overlap-grad-reduce", "true:true,false:false"},
    {"overlap_param_gather|overlap_param_sync", TAKEN, "overlap-param-gather", "true:true,false:false"},
    {"tp_comm_overlap|ub_tp_comm_overlap", TAKEN, "tp-comm-overlap", "true:true,false:false"},
    {"cross_entropy_loss_fusion", TAKEN, "fused-loss", "yes:true"},
    {"accumulate_allreduce_grads_in_fp32|grad_reduce_in_fp32", TAKEN, "fp32-grad-reduce", "true:true,false:false"},
    {"use_flash_attn|use_flash_attention", TAKEN, "attention", "yes:flash"},
    {"attention_backend", TAKEN, "attention", "flash:flash,fused:flash,unfused:plain,auto:flash"},
    {"cuda_graph_impl", TAKEN, "cuda-graphs", "none:false,local:true,transformer_engine:true,full_iteration:true"},
    {"enable_cuda_graph|external_cuda_graph", TAKEN, "cuda-graphs", "yes:true"},
    {"account_for_embedding_in_pipeline_split", TAKEN, "account-for-embedding-in-pipeline-split", "yes:true"},
    {"account_for_loss_in_pipeline_split", TAKEN, "account-for-loss-in-pipeline-split", "yes:true"},
    {"pp_partition_method|pipe-partition-method", TAKEN, "partition", "type:transformer|embedding:ends,type:transformer:even,parameters:even,uniform:even"},
    {"optimizer_cpu_offload", TAKEN, "offload-optimizer", "yes:host"},
    {"moe_token_dispatcher_type", TAKEN, "fused-dispatch", "flex:true,alltoall:false,allgather:false"},
    {"moe_enable_deepep", TAKEN, "fused-dispatch", "yes:true"},
    {"num_gpus_per_node|trainer.devices", TAKEN, "per_node", NULL},
    {"trainer.num_nodes", TAKEN, "nodes", NULL},
    {"recipe", TAKEN, "recipe", NULL},
    {"train_samples", TAKEN, "samples", NULL},
    {"train_iters|trainer.max_steps", TAKEN, "steps", NULL},
    {"position_embedding_type|pos-emb", OPEN, "how positions enter attention", "rope:,rotary:"},
    {"rampup_batch_size", OPEN, "the batch grows in the beginning; the whole is taken", NULL},
    {"overlap_p2p_comm|overlap_p2p_communication", OPEN, "sends of the pipeline beside its compute", NULL},
    {"megatron_amp_O2", OPEN, "weights in 16 bits with a 32-bit copy, as is assumed", NULL},
    {"bucket_cap_mb|grad_allreduce_chunk_size_mb|ddp_bucket_size", OPEN, "how much is reduced at once", NULL},
    {"moe_aux_loss_coeff|moe_loss_coeff|create_moe_param_group|moe_eval_capacity_factor|moe_z_loss_coeff|moe_router_bias_update_rate", IDLE, "numbers of the loss", NULL},
    {"disable_bias_linear", OPEN, "the operators of a layer", "yes:"},
    {"squared_relu|embed_layernorm|add_bias_linear|qk_layernorm|gpt-j-residual|rotary-pct", OPEN, "the operators of a layer", NULL},
    {"bias_gelu_fusion|bias_swiglu_fusion|scaled-upper-triang-masked-softmax-fusion|apply_rope_fusion|masked_softmax_fusion", OPEN, "which kernels are one", NULL},
    {"synchronize-each-layer|wall_clock_breakdown|timing_log_level", OPEN, "the GPU waits for the host at times", "0:,false:"},
    {"attention-config", TAKEN, "attention", "flash:flash,global:plain"},
    {"attention_dropout|hidden_dropout", OPEN, "0 has none; else masks are drawn and kept", "0:,0.0:"},
    {"use_mcore_models|mcore_gpt|transformer_engine|transformer_impl|deepspeed|deepspeed_config|distributed_backend|no_pipeline_parallel|make_vocab_size_divisible_by|deepspeed_activation_checkpointing|checkpoint-num-layers|num_workers|partition-activations|contiguous_grad_buffer|mock_data|dataset|rotary_base|use_rotary_position_embeddings|rotary_percentage|rotary_percent|use_checkpoint_args|no_load_optim|no_load_rng|ckpt_format|ckpt_convert_format|use_persistent_ckpt_worker|auto_detect_ckpt_format|dist_ckpt_strictness|dist_ckpt_format|ckpt_fully_parallel_save|ckpt_fully_parallel_load|profile_step_start|profile_step_end|profile_ranks|use_pytorch_profiler|log_throughput|log_progress|calculate_per_token_loss|no_create_attention_mask_in_dataloader|num_dataset_builder_threads|no_mmap_bin_files|tiktoken_pattern|no_one_logger|check_for_nan_in_loss_and_grad|attention_softmax_in_fp32|exit_duration_in_mins|target|launcher|hostfile|output-layer-parallelism|split|splits_string|bias|use_distributed_sampler|accelerator|logger", IDLE, "as is assumed, or beside the step", NULL},
    {"data_args_path|per_split_data_args_path|data_cache_path|mid_level_dataset_surplus|vocab_extra_ids|data_parallel_random_init|init_method_xavier_uniform|apply_query_key_layer_scaling|no_query_key_layer_scaling|norm_epsilon|layernorm_epsilon|eod_mask_loss|override_opt_param_scheduler|use_checkpoint_opt_param_scheduler|finetune|exit_interval|exit_on_missing_checkpoint|exit_signal_handler|hysteresis|initial_loss_scale|loss_scale|loss_scale_window|min_loss_scale|start_weight_decay|end_weight_decay|weight_decay_incr_style|decoupled_lr|decoupled_min_lr|sgd_momentum|dataloader_type|bert_no_binary_head|mask_prob|short_seq_prob|skip_train|enable_one_logger|rerun_mode|result_rejected_tracker_filename|lazy_mpu_init|use_cpu_initialization|init_model_with_meta_device|non_persistent_ckpt_type|non_persistent_save_interval|non_persistent_global_ckpt_dir|ckpt_assume_constant_structure|ckpt_step|verify_integrity|pretrained_checkpoint|load_main_params_from_ckpt|use_dist_ckpt|no_save_optim|no_save_rng|iterations_to_skip|logging_level|rotary_interleaved|rotary_seq_len_interpolation_factor|rotary_scaling_factor|mscale|mscale_all_dim|rope_type|beta_fast|beta_slow|yarn_rotary_scaling_factor|use_rope_scaling|rope_scaling_factor|no_position_embedding|no_rope_freq|data_impl|reset_iteration|one_logger_project|one_logger_run_name|one_logger_async|disable_straggler_on_startup|straggler_ctrlr_port|replication|train_tokens|lr_decay_tokens|lr_warmup_tokens|eval_interval|eval_iters|log_timers_to_tensorboard|log_params_norm|log_num_zeros_in_grad|log_memory_to_tensorboard|log_world_size_to_tensorboard|log_validation_ppl_to_tensorboard|log_batch_size_to_tensorboard|log_learning_rate_to_tensorboard|log_loss_scale_to_tensorboard|sft_tokenizer_prompt_format|legacy_tokenizer|world_size|rank|local_rank|cpu_optimizer|mmap_warmup|retro_workdir|data_sharding|no_data_sharding|moe_router_score_function|moe_router_pre_softmax|moe_router_enable_expert_bias|moe_router_topk_scaling_factor|moe_router_load_balancing_type|moe_input_jitter_eps|moe_router_num_groups|moe_router_group_topk|moe_min_capacity|moe_token_drop_policy|clip_grad", IDLE, "numbers of the optimizer, of data, of files and of logs", NULL},
    {"log_straggler|manual_gc|manual_gc_interval|train_sync_interval|deterministic_mode|empty_unused_memory_level|reset_attention_mask|reset_position_ids|sft|async_save|async_strategy", OPEN, "what else happens in a step, or beside it", "false:"},
    {NULL, IDLE, NULL, NULL},
};

// NeMo's megatron_gpt_pretraining.py (1.23): what it calls otherwise, and with the sections that it stands in.
static const ImportOption nemo[] = {
    {"trainer.devices", TAKEN, "per_node", NULL},
    {"trainer.num_nodes", TAKEN, "nodes", NULL},
    {"trainer.precision", TAKEN, "precision", PRECISIONS},
    {"model.num_layers|num_layers", TAKEN, "layers", NULL},
    {"model.hidden_size|hidden_size", TAKEN, "hidden", NULL},
    {"model.num_attention_heads|num_attention_heads", TAKEN, "heads", NULL},
    {"model.num_query_groups|num_query_groups", TAKEN, "kv_heads", NULL},
    {"model.ffn_hidden_size|ffn_hidden_size", TAKEN, "ffn", NULL},
    {"model.kv_channels|kv_channels", TAKEN, "head_dim", NULL},
    {"model.max_position_embeddings|max_position_embeddings", TAKEN, "max_positions", NULL},
    {"model.override_vocab_size|override_vocab_size|vocab_size|padded_vocab_size", TAKEN, "vocab", NULL},
    {"model.normalization|normalization", TAKEN, "rms_norm", "rmsnorm:true,layernorm:false,layernorm1p:false"},
    {"model.activation", TAKEN, "gated_mlp", "swiglu:true,fast-swiglu:true,gelu:false,squared-relu:false,relu:false"},
    {"model.share_embeddings_and_output_weights|share_embeddings_and_output_weights", TAKEN, "untied_embedding", "no:true"},
    {"model.encoder_seq_length|encoder_seq_length|seq_length", TAKEN, "seq", NULL},
    {"model.micro_batch_size|micro_batch_size", TAKEN, "micro-batch", NULL},
    {"model.global_batch_size|global_batch_size", TAKEN, "global-batch", NULL},
    {"model.tensor_model_parallel_size|tensor_model_parallel_size", TAKEN, "tp", NULL},
    {"model.pipeline_model_parallel_size|pipeline_model_parallel_size", TAKEN, "pp", NULL},
    {"model.virtual_pipeline_model_parallel_size|virtual_pipeline_model_parallel_size", TAKEN, "vpp", NULL},
    {"model.context_parallel_size|context_parallel_size", TAKEN, "cp", NULL},
    {"model.expert_model_parallel_size|expert_model_parallel_size", TAKEN, "ep", NULL},
    {"model.num_moe_experts|num_moe_experts", TAKEN, "experts", NULL},
    {"model.moe_router_topk|moe_router_topk", TAKEN, "experts_per_token", NULL},
    {"model.sequence_parallel|sequence_parallel", TAKEN, "sequence-parallel", "true:true,false:false"},
    {"model.optim.name|optim.name", TAKEN, "zero", "distributed_fused_adam:1,fused_adam:0"},
    {"model.optim.overlap_grad_sync|optim.overlap_grad_sync|overlap_grad_sync", TAKEN, "overlap-grad-reduce", "true:true,false:false"},
    {"model.optim.overlap_param_sync|optim.overlap_param_sync|overlap_param_sync", TAKEN, "overlap-param-gather", "true:true,false:false"},
    {"model.ub_tp_comm_overlap|ub_tp_comm_overlap", TAKEN, "tp-comm-overlap", "true:true,false:false"},
    {"model.cross_entropy_loss_fusion|cross_entropy_loss_fusion", TAKEN, "fused-loss", "yes:true"},
    {"model.activations_checkpoint_granularity|activations_checkpoint_granularity", TAKEN, "recompute", "full:full,selective:selective"},
    {"model.activations_checkpoint_num_layers|activations_checkpoint_num_layers", TAKEN, "recompute-num-layers", NULL},
    {"model.activations_checkpoint_method|activations_checkpoint_method", TAKEN, "recompute_method", "uniform:uniform,block:block"},
    {"model.fp8|fp8", TAKEN, "fp8", "yes:true"},
    {NULL, IDLE, NULL, NULL},
};

// Megatron-Bridge (0.6 and 0.7, ConfigContainer): what a run is told as section.name=value.
static const ImportOption bridge[] = {
    {"model.num_layers|num_layers", TAKEN, "layers", NULL},
    {"model.hidden_size|hidden_size", TAKEN, "hidden", NULL},
    {"model.num_attention_heads|num_attention_heads", TAKEN, "heads", NULL},
    {"model.num_query_groups|num_query_groups", TAKEN, "kv_heads", NULL},
    {"model.ffn_hidden_size|ffn_hidden_size", TAKEN, "ffn", NULL},
    {"model.kv_channels|kv_channels", TAKEN, "head_dim", NULL},
    {"model.vocab_size|vocab_size", TAKEN, "vocab", NULL},
    {"model.max_position_embeddings|max_position_embeddings", TAKEN, "max_positions", NULL},
    {"model.gated_linear_unit|gated_linear_unit", TAKEN, "gated_mlp", "true:true,false:false"},
    {"model.normalization|normalization", TAKEN, "rms_norm", "RMSNorm:true,LayerNorm:false"},
    {"model.share_embeddings_and_output_weights|share_embeddings_and_output_weights", TAKEN, "untied_embedding", "false:true,true:false"},
    {"model.num_moe_experts|num_moe_experts", TAKEN, "experts", NULL},
    {"model.moe_router_topk|moe_router_topk", TAKEN, "experts_per_token", NULL},
    {"model.moe_ffn_hidden_size|moe_ffn_hidden_size", TAKEN, "expert_ffn", NULL},
    {"model.moe_shared_expert_intermediate_size|moe_shared_expert_intermediate_size", TAKEN, "shared_expert_ffn", NULL},
    {"model.moe_layer_freq|moe_layer_freq", TAKEN, "expert_every", NULL},
    {"model.moe_expert_capacity_factor|moe_expert_capacity_factor", TAKEN, "capacity-factor", NULL},
    {"model.seq_length|dataset.sequence_length|seq_length", TAKEN, "seq", NULL},
    {"train.micro_batch_size|micro_batch_size", TAKEN, "micro-batch", NULL},
    {"train.global_batch_size|global_batch_size", TAKEN, "global-batch", NULL},
    {"model.tensor_model_parallel_size|tensor_model_parallel_size", TAKEN, "tp", NULL},
    {"model.sequence_parallel|sequence_parallel", TAKEN, "sequence-parallel", "true:true,false:false"},
    {"model.pipeline_model_parallel_size|pipeline_model_parallel_size", TAKEN, "pp", NULL},
    {"model.virtual_pipeline_model_parallel_size|virtual_pipeline_model_parallel_size", TAKEN, "vpp", NULL},
    {"model.account_for_embedding_in_pipeline_split", TAKEN, "account-for-embedding-in-pipeline-split", "yes:true"},
    {"model.account_for_loss_in_pipeline_split", TAKEN, "account-for-loss-in-pipeline-split", "yes:true"},
    {"model.context_parallel_size|context_parallel_size", TAKEN, "cp", NULL},
    {"model.cp_comm_type|cp_comm_type", TAKEN, "cp-exchange", "p2p:ring,a2a:ulysses,allgather:all-gather,all_gather:all-gather"},
    {"model.expert_model_parallel_size|expert_model_parallel_size", TAKEN, "ep", NULL},
    {"model.expert_tensor_parallel_size|expert_tensor_parallel_size", TAKEN, "etp", NULL},
    {"ddp.use_distributed_optimizer|use_distributed_optimizer", TAKEN, "zero", "true:1,false:0"},
    {"dist.use_megatron_fsdp|use_megatron_fsdp", TAKEN, "megatron_fsdp", "yes:true"},
    {"ddp.data_parallel_sharding_strategy|data_parallel_sharding_strategy", TAKEN, "fsdp_strategy", "no_shard:0,optim:1,optim_grads:2,optim_grads_params:3"},
    {"ddp.overlap_grad_reduce|overlap_grad_reduce", TAKEN, "overlap-grad-reduce", "true:true,false:false"},
    {"ddp.overlap_param_gather|overlap_param_gather", TAKEN, "overlap-param-gather", "true:true,false:false"},
    {"ddp.grad_reduce_in_fp32|grad_reduce_in_fp32", TAKEN, "fp32-grad-reduce", "true:true,false:false"},
    {"comm_overlap.tp_comm_overlap|tp_comm_overlap", TAKEN, "tp-comm-overlap", "true:true,false:false"},
    {"model.recompute_granularity|recompute_granularity", TAKEN, "recompute", "full:full,selective:selective"},
    {"model.recompute_method|recompute_method", TAKEN, "recompute_method", "uniform:uniform,block:block"},
    {"model.recompute_num_layers|recompute_num_layers", TAKEN, "recompute-num-layers", NULL},
    {"model.recompute_modules|recompute_modules", TAKEN, "recompute-modules", NULL},
    {"model.cross_entropy_loss_fusion|cross_entropy_loss_fusion", TAKEN, "fused-loss", "yes:true"},
    {"optimizer.optimizer_cpu_offload|optimizer_cpu_offload", TAKEN, "offload-optimizer", "yes:host"},
    {"mixed_precision", TAKEN, "precision", "bf16_mixed:bf16,fp16_mixed:fp16,fp32_mixed:fp32,bf16_with_fp8_current_scaling_mixed:fp8,bf16_with_fp8_delayed_scaling_mixed:fp8,bf16_with_fp8_subchannel_scaling_mixed:fp8,bf16_with_mxfp8_mixed:fp8,bf16_with_fp8_mixed:fp8"},
    {NULL, IDLE, NULL, NULL},
};

// NeMo 2: what a recipe is called with, and what is set of it.
static const ImportOption nemo2[] = {
    {"factory|recipe", TAKEN, "recipe", NULL},
    {"recipe.num_nodes|trainer.num_nodes|num_nodes", TAKEN, "nodes", NULL},
    {"recipe.num_gpus_per_node|trainer.devices|num_gpus_per_node", TAKEN, "per_node", NULL},
    {"trainer.plugins.precision|trainer.precision", TAKEN, "precision", PRECISIONS},
    {"ddp.use_distributed_optimizer", TAKEN, "zero", "yes:1"},
    {"recipe.dir|recipe.name|log.*|resume.*|trainer.*|optim.*|yes|executor.*|y", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// DeepSpeed's JSON (0.19), also within GPT-NeoX.
static const ImportOption deepspeed[] = {
    {"zero_optimization.stage", TAKEN, "zero", NULL},
    {"zero_optimization.offload_optimizer.device|offload_optimizer.device", TAKEN, "offload-optimizer", "cpu:host,nvme:nvme,none:gpu"},
    {"zero_optimization.offload_param.device|offload_param.device", TAKEN, "offload-parameters", "cpu:host,nvme:nvme,none:gpu"},
    {"zero_optimization.cpu_offload", TAKEN, "offload-optimizer", "yes:host"},
    {"train_micro_batch_size_per_gpu", TAKEN, "ds_micro", NULL},
    {"train_batch_size", TAKEN, "ds_batch", NULL},
    {"gradient_accumulation_steps", TAKEN, "ds_accumulation", NULL},
    {"bf16.enabled|bfloat16.enabled", TAKEN, "precision", "yes:bf16"},
    {"fp16.enabled", TAKEN, "precision", "yes:fp16"},
    {"sequence_parallel_size", TAKEN, "cp", NULL},
    {"autotp_size", TAKEN, "tp", NULL},
    {"reduce_bucket_size", TAKEN, "bucket_elements", NULL},
    {"overlap_comm", TAKEN, "overlap-grad-reduce", "true:true,false:false"},
    {"zero_quantized_weights", TAKEN, "zero-quantized-weights", "yes:true"},
    {"zero_hpz_partition_size|mics_shard_size", TAKEN, "zero-shard", NULL},
    {"activation_checkpointing.*", OPEN, "how recomputed activations are kept", NULL},
    {"allgather_bucket_size|stage3_prefetch_bucket_size|stage3_max_live_parameters|stage3_max_reuse_distance|stage3_param_persistence_threshold|sub_group_size|round_robin_gradients|communication_data_type", OPEN, "how much is gathered at once, and kept", NULL},
    {"wall_clock_breakdown", OPEN, "the GPU waits for the host at times", "false:"},
    {"pin_memory|allgather_partitions|reduce_scatter|contiguous_gradients|offload_optimizer.*|offload_param.*|stage3_gather_16bit_weights_on_model_save|zero_allow_untested_optimizer|fp16.*|bf16.*|scheduler.*|optimizer.*|aio.*", IDLE, "as is assumed, or numbers of the optimizer", NULL},
    {"tensor_parallel.autotp_size", TAKEN, "tp", NULL},
    {"prescale_gradients|gradient_predivide_factor|sparse_gradients|seq_parallel_communication_data_type|amp.*|load_from_fp32_weights|zero_quantized_gradients|zero_quantized_nontrainable_weights|memory_efficient_linear|stage3_module_granularity_threshold|offload_optimizer.ratio|super_offload|compile.*|grad_accum_dtype|dump_state|comms_logger.*|curriculum_learning.*|data_efficiency.*|ignore_unused_parameters|zero_one_adam|compression_training.*|use_all_reduce_for_fetch_params|log_trace_cache_warnings|leaf_module", OPEN, "how the step runs", "false:"},
    {"flops_profiler.*|tensorboard.*|csv_monitor.*|wandb.*|comet.*|monitor_config.*|elasticity.*|autotuning.*|checkpoint.*|elastic_checkpoint|stage3_gather_fp16_weights_on_model_save|memory_breakdown|legacy_stage1|dataloader_drop_last|zero_force_ds_cpu_optimizer|nebula.*|data_types.*|timers.*|use_node_local_storage", IDLE, "logs, files and profiles", NULL},
    {NULL, IDLE, NULL, NULL},
};

// Hugging Face's TrainingArguments, TRL, PEFT; axolotl and LLaMA-Factory, which pass them on.
static const ImportOption trainer[] = {
    {"model_name_or_path|base_model|pretrained_model_name_or_path|model_id|config_name|model_name", TAKEN, "model", NULL},
    {"per_device_train_batch_size|per_gpu_train_batch_size|micro_batch_size", TAKEN, "micro-batch", NULL},
    {"gradient_accumulation_steps", TAKEN, "grad-accumulation", NULL},
    {"block_size|max_seq_length|sequence_len|cutoff_len|max_length|model_max_length|max_seq_len|seq_length", TAKEN, "seq", NULL},
    {"bf16", TAKEN, "precision", "yes:bf16,auto:bf16,full:bf16"},
    {"fp16", TAKEN, "precision", "yes:fp16"},
    {"fp32|pure_bf16", TAKEN, "precision", "yes:bf16"},
    {"gradient_checkpointing", TAKEN, "recompute", "true:full,unsloth:full,false:none"},
    {"disable_gradient_checkpointing", TAKEN, "recompute", "true:none"},
    {"load_in_4bit", TAKEN, "nf4-weights", "yes:true"},
    {"quantization_bit", TAKEN, "nf4-weights", "4:true"},
    {"lora_r|lora_rank|lora.r", TAKEN, "lora-rank", NULL},
    {"lora_target_modules|lora_target", TAKEN, "lora-everywhere", "all-linear:true,all:true"},
    {"lora_target_linear", TAKEN, "lora-everywhere", "yes:true"},
    {"fsdp", TAKEN, "fsdp", NULL},
    {"fsdp_config.offload_params", TAKEN, "offload_both", "yes:host"},
    {"fsdp_config.reshard_after_forward|reshard_after_forward", TAKEN, "sharding", "true:FULL_SHARD,false:SHARD_GRAD_OP"},
    {"activation_checkpointing", TAKEN, "recompute", "yes:full"},
    {"backward_prefetch", TAKEN, "prefetch", "backward_pre:1,backward_post:0,no_prefetch:0"},
    {"limit_all_gathers|fsdp_limit_all_gathers|forward_prefetch", OPEN, "when weights are gathered", "false:"},
    {"instance_type", TAKEN, "instance", NULL},
    {"instance_count", TAKEN, "nodes", NULL},
    {"tokenizer_name|transformer_layer_cls_to_wrap|use_orig_params|sync_module_states|cpu_ram_efficient_loading|state_dict_type|estimator.*|warmup_ratio|beta|loss_type|max_prompt_length|no_remove_unused_columns|assistant_only_loss|completion_only_loss|eos_token|log_level", IDLE, "as is assumed, or beside the step", NULL},
    {"optim", TAKEN, "optimizer", "adamw_torch:adam,adamw_torch_fused:adam,adamw_hf:adam,adamw_apex_fused:adam,sgd:sgd"},
    {"optimizer", TAKEN, "optimizer", "adamw_torch:adam,adamw_torch_fused:adam,adamw:adam,sgd:sgd"},
    {"liger_rms_norm|liger_rope|liger_glu_activation", TAKEN, "fused-norms", "yes:true"},
    {"enable_liger_kernel|use_liger_kernel|use_liger", TAKEN, "fused-norms", "yes:true"},
    {"liger_fused_linear_cross_entropy|liger_cross_entropy", TAKEN, "fused-loss", "yes:true"},
    {"attn_implementation", TAKEN, "attention", "flash_attention_2:flash,flash_attention_3:flash,sdpa:flash,eager:plain"},
    {"flash_attention", TAKEN, "attention", "yes:flash"},
    {"flash_attn", TAKEN, "attention", "fa2:flash,fa3:flash,sdpa:flash,auto:flash,disabled:plain,true:flash"},
    {"dataloader_num_workers", TAKEN, "loader-workers", NULL},
    {"num_workers", TAKEN, "ray_workers", NULL},
    {"sequence_parallel_degree|context_parallel_size|cp_size", TAKEN, "cp", NULL},
    {"tp_size|tensor_parallel_size", TAKEN, "tp", NULL},
    {"packing|sample_packing|pad_to_sequence_len|eval_packing", OPEN, "whether samples are filled to the whole length, as is assumed", NULL},
    {"torch_compile|neftune_noise_alpha|group_by_length|ddp_bucket_cap_mb|ddp_find_unused_parameters|use_unsloth", OPEN, "how the step runs", NULL},
    {"load_in_8bit", OPEN, "weights in 8 bits", "false:"},
    {"liger.*|plugins", OPEN, "other kernels", NULL},
    {"use_peft|adapter|finetuning_type|peft.*|deepspeed|config_file|trust_remote_code|tf32|strict|val_set_size|special_tokens.*|gradient_checkpointing_kwargs.*|template|stage|do_train|do_eval|do_predict|plot_loss|ddp_timeout|lora_alpha|lora_dropout|lora_model_dir|bnb_4bit_quant_type|bnb_4bit_compute_dtype|torch_dtype|use_gpu|overwrite_cache|max_samples|preprocessing_num_workers|low_cpu_mem_usage|remove_unused_columns|use_bnb_nested_quant|chat_template|type|fsdp_config.*|fsdp_transformer_layer_cls_to_wrap|ddp_backend|upcast_layernorm|additional_target|visual_inputs|quantization_method", IDLE, "as is assumed, or beside the step", NULL},
    {"zero_stage", TAKEN, "zero", NULL},
    {"lora_dim", TAKEN, "lora-rank", "0:,*:*"},
    {"offload", TAKEN, "offload-optimizer", "yes:host"},
    {"dtype", IDLE, "taken where nothing else says the precision", NULL},
    {"flex_attention|sdp_attention|xformers_attention|use_flash_attn|use_flash_attention_2|flash_attn_2", TAKEN, "attention", "yes:flash"},
    {"eager_attention", TAKEN, "attention", "yes:plain"},
    {"packing_strategy|padding_free|pad_to_multiple_of|multipack_real_batches|sample_packing_eff_est|batch_flattening|neat_packing|group_by_length|efficient_eos|pad_to_max_length|padding|dynamic_batching", OPEN, "how samples fill a step", "false:"},
    {"torch_compile_backend|torch_compile_mode|torchdynamo|auto_find_batch_size|full_determinism|torch_empty_cache_steps|activation_offloading|dispatch_batches|split_batches|use_dora|modules_to_save|lora_modules_to_save|lora_mlp_kernel|lora_qkv_kernel|lora_o_kernel|unfrozen_parameters|freeze_trainable_layers|freeze_extra_modules|freeze_vision_tower|freeze_multi_modal_projector|use_galore|use_apollo|use_badam|shift_attn|mixture_of_depths|resize_vocab|rope_scaling|rope_theta|s2_attention|flash_attn_cross_entropy|flash_attn_rms_norm|flash_attn_fuse_mlp|flash_optimum|optim_target_modules|relora_steps|peft_layers_to_transform|layers_to_transform|gradient_checkpointing_layers|only_optimize_lora|compute_fp32_loss|enable_tensorboard_profile|ddp_static_graph|parallelism_config.*|liger_kernel_config.*|tensor_parallel|use_cache", OPEN, "how the step runs, and what is trained", "false:"},
    {"model_revision|dataset_config|dataset_text_field|dataset_kwargs.*|dataset_num_proc|dataset_prepared_path|dataset_processes|dataset_keep_in_memory|shuffle_merged_datasets|train_on_inputs|pad_token|bos_token|unk_token|model_init_kwargs.*|model_type|tokenizer_type|tokenizer_config|tokenizer_use_fast|tokenizer_legacy|is_falcon_derived_model|is_llama_derived_model|is_mistral_derived_model|is_qwen_derived_model|hub_model_id|hub_strategy|hub_token|hub_private_repo|early_stopping_patience|auto_resume_from_checkpoints|resume_from_checkpoint|evaluation_strategy|eval_strategy|eval_accumulation_steps|eval_delay|eval_on_start|prediction_loss_only|load_best_model_at_end|metric_for_best_model|greater_is_better|log_on_each_node|log_level_replica|data_seed|jit_mode_eval|bf16_full_eval|fp16_full_eval|fp16_opt_level|fp16_backend|half_precision_backend|past_index|disable_tqdm|label_names|label_smoothing_factor|ignore_data_skip|accelerator_config.*|optim_args|length_column_name|dataloader_pin_memory|dataloader_drop_last|dataloader_persistent_workers|dataloader_prefetch_factor|skip_memory_metrics|include_tokens_per_second|include_num_input_tokens_seen|average_tokens_across_devices|predict_with_generate|generation_max_length|generation_num_beams|use_legacy_prediction_loop|ray_scope|use_mps_device|no_cuda|tpu_num_cores|use_rslora|lora_bias|lora_task_type|pissa_init|loraplus_lr_ratio|loraplus_lr_embedding|use_swanlab|swanlab_project|dataset_dir|mix_strategy|interleave_probs|tokenized_path|media_dir|streaming|buffer_size|mask_history|ignore_pad_token_for_loss|image_max_pixels|video_max_pixels|max_train_samples|max_eval_samples|validation_split_percentage|line_by_line|mlm_probability|keep_linebreaks|pad_to_max_tokens|train_file|validation_file|test_file|text_column|summary_column|task_name|max_source_samples|data_path|data_output_path|data_split|inference_tp_size|print_loss|lora_module_name|lora_learning_rate|image_folder|mm_tunable_parts|version|lazy_preprocess|conv_type|evals_per_epoch|saves_per_epoch|eval_table_size|eval_max_new_tokens|wandb_mode|mlflow_experiment_name|world_size|local_rank|save_only_model|save_safetensors|save_on_each_node|restore_callback_states_from_checkpoint|push_to_hub_model_id|push_to_hub_token|logging_first_step|logging_nan_inf_filter|warmup_steps|num_warmup_steps|hf_use_auth_token|hf_upload_dataset|base_model_config|base_model_ignore_patterns|revision_of_model|seed|noise_alpha", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// accelerate's YAML and its options (1.15).
static const ImportOption accelerate[] = {
    {"num_processes", TAKEN, "gpus", NULL},
    {"num_machines", TAKEN, "nodes", NULL},
    {"mixed_precision", TAKEN, "precision", PRECISIONS},
    {"fsdp_config.fsdp_sharding_strategy|fsdp_sharding_strategy", TAKEN, "sharding", NULL},
    {"fsdp_config.fsdp_reshard_after_forward|fsdp_reshard_after_forward", TAKEN, "sharding", "true:FULL_SHARD,false:SHARD_GRAD_OP,FULL_SHARD:FULL_SHARD,SHARD_GRAD_OP:SHARD_GRAD_OP,NO_SHARD:NO_SHARD,HYBRID_SHARD:HYBRID_SHARD"},
    {"fsdp_config.fsdp_activation_checkpointing|fsdp_activation_checkpointing", TAKEN, "recompute", "yes:full"},
    {"fsdp_config.fsdp_offload_params|fsdp_offload_params", TAKEN, "offload_both", "yes:host"},
    {"zero_stage", TAKEN, "zero", NULL},
    {"offload_optimizer_device", TAKEN, "offload-optimizer", "cpu:host,nvme:nvme,none:gpu"},
    {"offload_param_device", TAKEN, "offload-parameters", "cpu:host,nvme:nvme,none:gpu"},
    {"deepspeed_config.gradient_accumulation_steps", TAKEN, "grad-accumulation", NULL},
    {"parallelism_config_tp_size", TAKEN, "tp", NULL},
    {"parallelism_config_cp_size|parallelism_config_sp_size", TAKEN, "cp", NULL},
    {"fsdp_config.fsdp_backward_prefetch|fsdp_backward_prefetch", TAKEN, "prefetch", "BACKWARD_PRE:1,BACKWARD_POST:0,NO_PREFETCH:0"},
    {"dynamo_backend|dynamo_config.*", OPEN, "compiled kernels", "no:"},
    {"fsdp_forward_prefetch|fsdp_limit_all_gathers", OPEN, "when weights are gathered", "false:"},
    {"distributed_type|compute_environment|debug|downcast_bf16|enable_cpu_affinity|fsdp_config.*|fsdp_version|fsdp_auto_wrap_policy|fsdp_transformer_layer_cls_to_wrap|fsdp_state_dict_type|machine_rank|main_training_function|main_process_ip|main_process_port|rdzv_backend|same_network|tpu_env|tpu_use_cluster|tpu_use_sudo|use_cpu|deepspeed_multinode_launcher|zero3_init_flag|zero3_save_16bit_model|gpu_ids|use_fsdp|use_deepspeed|multi_gpu|deepspeed_config.*|num_cpu_threads_per_process", IDLE, "as is assumed, or beside the step", NULL},
    {"parallelism_config.*", OPEN, "how replicas and shards lie", NULL},
    {"main_process_ip|max_restarts|monitor_interval|role|log_dir|tee|rdzv_conf|same_network|quiet|cpu|mps|hpu|xpu|ipex_config.*|mpirun_config.*|enable_cpu_affinity|fp8_config.*|megatron_lm_config.*|fsdp_sync_module_states|fsdp_cpu_ram_efficient_loading|deepspeed_hostfile|deepspeed_config_file|deepspeed_moe_layer_cls_names|gradient_clipping|zero3_init_flag|main_training_function|command_file|commands|tpu_name|tpu_zone", IDLE, "as is assumed, or beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// torchtitan v0.2.2's TOML.
static const ImportOption torchtitan[] = {
    {"model.name", TAKEN, "titan_model", NULL},
    {"model.flavor|flavor", TAKEN, "titan_flavor", NULL},
    {"training.local_batch_size|local_batch_size|training.batch_size", TAKEN, "local_batch", NULL},
    {"training.global_batch_size|global_batch_size", TAKEN, "titan_global", NULL},
    {"gradient_accumulation_steps", TAKEN, "grad-accumulation", NULL},
    {"training.seq_len", TAKEN, "seq", NULL},
    {"training.steps", TAKEN, "steps", NULL},
    {"parallelism.data_parallel_replicate_degree|data_parallel_replicate_degree", TAKEN, "replicate", NULL},
    {"parallelism.data_parallel_shard_degree|data_parallel_shard_degree", TAKEN, "shard_degree", NULL},
    {"parallelism.tensor_parallel_degree|tensor_parallel_degree", TAKEN, "tp", NULL},
    {"parallelism.pipeline_parallel_degree|pipeline_parallel_degree", TAKEN, "pp", NULL},
    {"parallelism.context_parallel_degree|context_parallel_degree", TAKEN, "cp", NULL},
    {"parallelism.context_parallel_rotate_method|context_parallel_rotate_method", TAKEN, "cp-exchange", "allgather:all-gather,alltoall:ring"},
    {"parallelism.expert_parallel_degree|expert_parallel_degree", TAKEN, "ep", NULL},
    {"parallelism.expert_tensor_parallel_degree|expert_tensor_parallel_degree", TAKEN, "etp", NULL},
    {"parallelism.pipeline_parallel_schedule|pipeline_parallel_schedule", TAKEN, "schedule_word", NULL},
    {"parallelism.pipeline_parallel_layers_per_stage|pipeline_parallel_layers_per_stage", TAKEN, "layers_per_virtual_stage", NULL},
    {"parallelism.pipeline_parallel_microbatch_size|pipeline_parallel_microbatch_size", TAKEN, "pipeline_micro", NULL},
    {"parallelism.fsdp_reshard_after_forward|fsdp_reshard_after_forward", TAKEN, "reshard", "always:always,never:never,default:"},
    {"activation_checkpoint.mode", TAKEN, "recompute", "full:full,selective:operations,none:none"},
    {"activation_checkpoint.selective_ac_option|selective_ac_option", TAKEN, "selective_ac", NULL},
    {"training.mixed_precision_param|mixed_precision_param", TAKEN, "precision", "bfloat16:bf16,float32:fp32"},
    {"training.mixed_precision_reduce|mixed_precision_reduce", TAKEN, "fp32-grad-reduce", "float32:true,bfloat16:false"},
    {"converters", TAKEN, "converters", NULL},
    {"parallelism.enable_async_tensor_parallel|enable_async_tensor_parallel", TAKEN, "tp-comm-overlap", "yes:true"},
    {"training.enable_cpu_offload|enable_cpu_offload", TAKEN, "offload-optimizer", "yes:host"},
    {"optimizer.name", TAKEN, "optimizer", "adamw:adam,adam:adam"},
    {"enable_fsdp_float8_all_gather|precompute_float8_dynamic_scale_for_fsdp|filter_fqns|recipe_name|quantize.*", OPEN, "which products are in 8 bits, and what is gathered so", NULL},
    {"compile.*|training.compile", OPEN, "compiled kernels", "false:"},
    {"async_mode", OPEN, "how checkpoints are written", NULL},
    {"disable_loss_parallel", OPEN, "whether logits are gathered", "false:"},
    {"hf_assets_path|job.*|dump_folder|profiling.*|metrics.*|dataset|optimizer.*|checkpoint.*|comm.*|validation.*|experimental.*|activation_checkpoint.*|tokenizer_path|deterministic", IDLE, "beside the step", NULL},
    {"optimizer.implementation|early_step_in_backward", OPEN, "how the optimizer runs", "false:"},
    {"module_fqns_per_model_part|pipeline_parallel_first_stage_less_layers|pipeline_parallel_last_stage_less_layers|pipeline_parallel_schedule_csv|pipeline_parallel_split_points|pipeline_parallel_expert_parallel_overlap|enable_compiled_autograd|expert_parallel_comm_backend|context_parallel_load_balancer|ulysses_degree|memory_budget|early_stop|debug_moe_force_load_balance|enable_symm_mem|mxfp8.*|float8.*|mx.*", OPEN, "how the step runs", "false:"},
    {"gc_freq|gc_debug|dataset_path|fault_tolerance.*|memory_estimation.*|lr_scheduler.*|debug.*|custom_config_module|custom_import|print_config|print_args|model.tokenizer_path|visualize_moe_expert_routing|load_balance_coeff|model.print_after_conversion", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// llm-foundry and Composer.
static const ImportOption foundry[] = {
    {"model.d_model", TAKEN, "hidden", NULL},
    {"model.n_heads", TAKEN, "heads", NULL},
    {"model.n_layers", TAKEN, "layers", NULL},
    {"kv_n_heads", TAKEN, "kv_heads", NULL},
    {"model.expansion_ratio", TAKEN, "expansion", NULL},
    {"model.ffn_hidden_size", TAKEN, "ffn", NULL},
    {"model.vocab_size", TAKEN, "vocab", NULL},
    {"max_seq_len", TAKEN, "seq", NULL},
    {"pretrained_model_name_or_path", TAKEN, "model", NULL},
    {"global_train_batch_size", TAKEN, "global-batch", NULL},
    {"device_train_microbatch_size", TAKEN, "micro-batch", NULL},
    {"precision", TAKEN, "precision", PRECISIONS},
    {"fsdp_config.sharding_strategy", TAKEN, "sharding", NULL},
    {"activation_checkpointing", TAKEN, "recompute", "true:full,false:none"},
    {"attn_impl", TAKEN, "attention", "flash:flash,triton:flash,torch:plain"},
    {"alibi", OPEN, "how positions enter attention", NULL},
    {"fsdp_config.mixed_precision", OPEN, "in what weights are gathered and gradients reduced", NULL},
    {"limit_all_gathers|activation_cpu_offload|forward_prefetch|backward_prefetch", OPEN, "when weights are gathered", "false:"},
    {"variables.*|run_name|tokenizer.*|train_loader.*|eval_loader.*|optimizer.*|scheduler.*|algorithms.*|progress_bar|log_to_console|callbacks.*|loggers.*|activation_checkpointing_reentrant|init_device|model.name|autoresume|load_path|python_log_level|console_log_interval|init_config.*", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// OLMo's configurations (allenai/OLMo 0.5).
static const ImportOption olmo[] = {
    {"model.d_model", TAKEN, "hidden", NULL},
    {"model.n_heads", TAKEN, "heads", NULL},
    {"model.n_kv_heads", TAKEN, "kv_heads", NULL},
    {"model.n_layers", TAKEN, "layers", NULL},
    {"model.mlp_hidden_size", TAKEN, "olmo_ffn", NULL},
    {"model.mlp_ratio", TAKEN, "olmo_ratio", NULL},
    {"model.max_sequence_length", TAKEN, "seq", NULL},
    {"model.embedding_size", TAKEN, "vocab", NULL},
    {"model.weight_tying", TAKEN, "untied_embedding", "no:true"},
    {"model.layer_norm_type", TAKEN, "rms_norm", "rms:true,default:false,low_precision:false"},
    {"model.flash_attention", TAKEN, "attention", "yes:flash,false:plain"},
    {"global_train_batch_size", TAKEN, "global-batch", NULL},
    {"device_train_microbatch_size", TAKEN, "micro-batch", NULL},
    {"precision", TAKEN, "precision", PRECISIONS},
    {"fsdp.sharding_strategy", TAKEN, "sharding", NULL},
    {"distributed_strategy", TAKEN, "ddp", "ddp:true,fsdp:"},
    {"activation_checkpointing", TAKEN, "recompute", "whole_layer:full,one_in_two:full,one_in_three:full,one_in_four:full,fine_grained:operations"},
    {"data.num_workers", TAKEN, "loader-workers", NULL},
    {"compile|compile.*|fused_loss", OPEN, "compiled kernels", "null:,none:,false:"},
    {"fsdp.precision|fsdp.wrapping_strategy", OPEN, "what is gathered at once, and in what", NULL},
    {"model.alibi|multi_query_attention|attention_layer_norm", OPEN, "the operators of a layer", "false:"},
    {"model.*|wandb.*|scheduler.*|optimizer.*|speed_monitor.*|evaluators.*|fsdp.*|dry_run|eval_interval|save_overwrite|canceled_check_interval|remote_save_folder|save_num_checkpoints_to_keep|console_log_interval|gen1_gc_interval|python_profiling|torch_profiling", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// PyTorch Lightning's Trainer.
static const ImportOption lightning[] = {
    {"trainer.devices", TAKEN, "per_node", NULL},
    {"trainer.num_nodes", TAKEN, "nodes", NULL},
    {"trainer.strategy", TAKEN, "lightning_strategy", NULL},
    {"strategy.class_path", TAKEN, "lightning_strategy", NULL},
    {"strategy.init_args.stage|strategy.stage", TAKEN, "zero", NULL},
    {"strategy.init_args.offload_optimizer|strategy.offload_optimizer", TAKEN, "offload-optimizer", "yes:host"},
    {"strategy.init_args.offload_parameters|strategy.offload_parameters", TAKEN, "offload-parameters", "yes:host"},
    {"sharding_strategy", TAKEN, "sharding", NULL},
    {"trainer.precision", TAKEN, "precision", PRECISIONS},
    {"accumulate_grad_batches", TAKEN, "grad-accumulation", NULL},
    {"batch_size|train_batch_size|per_device_batch_size", TAKEN, "micro-batch", NULL},
    {"num_workers", TAKEN, "loader-workers", NULL},
    {"n_layer|n_layers|num_layers|num_hidden_layers", TAKEN, "layers", NULL},
    {"n_head|n_heads|num_heads|num_attention_heads", TAKEN, "heads", NULL},
    {"n_embd|d_model|hidden_size|embed_dim|dim|n_embed", TAKEN, "hidden", NULL},
    {"n_kv_head|n_query_groups|num_key_value_heads|n_kv_heads", TAKEN, "kv_heads", NULL},
    {"intermediate_size|ffn_dim|d_ff", TAKEN, "ffn", NULL},
    {"vocab_size", TAKEN, "vocab", NULL},
    {"block_size|max_seq_len|seq_len|context_length|max_seq_length|sequence_length", TAKEN, "seq", NULL},
    {"model_name|model_name_or_path|pretrained", TAKEN, "model", NULL},
    {"activation_checkpointing|gradient_checkpointing", TAKEN, "recompute", "yes:full"},
    {"strategy.activation_checkpointing_policy|strategy.activation_checkpointing|activation_checkpointing_policy", TAKEN, "checkpointed", NULL},
    {"strategy.tensor_parallel_size|init_args.tensor_parallel_size", TAKEN, "tp", NULL},
    {"strategy.cpu_offload|init_args.cpu_offload", TAKEN, "offload_both", "yes:host"},
    {"benchmark", OPEN, "cuDNN times its kernels", NULL},
    {"trainer.*|model.class_path|data.class_path|class_path|root|pin_memory|fit.*", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// MaxText's base.yml.
static const ImportOption maxtext[] = {
    {"base_emb_dim", TAKEN, "hidden", NULL},
    {"base_num_query_heads", TAKEN, "heads", NULL},
    {"base_num_kv_heads", TAKEN, "kv_heads", NULL},
    {"base_num_decoder_layers", TAKEN, "layers", NULL},
    {"base_mlp_dim", TAKEN, "ffn", NULL},
    {"head_dim", TAKEN, "head_dim", NULL},
    {"vocab_size", TAKEN, "vocab", NULL},
    {"num_experts", TAKEN, "experts", NULL},
    {"num_experts_per_tok", TAKEN, "experts_per_token", NULL},
    {"model_name", TAKEN, "model", NULL},
    {"decoder_block", TAKEN, "gated_mlp", "llama2:true,mistral:true,mixtral:true,default:false,gpt3:false,qwen3:true,deepseek:true"},
    {"mlp_activations", IDLE, "the decoder block says it", NULL},
    {"logits_via_embedding", TAKEN, "untied_embedding", "no:true"},
    {"ici_data_parallelism", TAKEN, "ici_data", NULL},
    {"ici_fsdp_parallelism", TAKEN, "ici_fsdp", NULL},
    {"ici_tensor_parallelism", TAKEN, "ici_tensor", NULL},
    {"ici_pipeline_parallelism", TAKEN, "ici_pipeline", NULL},
    {"ici_context_parallelism|ici_sequence_parallelism", TAKEN, "ici_context", NULL},
    {"ici_expert_parallelism", TAKEN, "ici_expert", NULL},
    {"dcn_data_parallelism", TAKEN, "dcn_data", NULL},
    {"dcn_fsdp_parallelism", TAKEN, "dcn_fsdp", NULL},
    {"dcn_pipeline_parallelism", TAKEN, "dcn_pipeline", NULL},
    {"dcn_tensor_parallelism", TAKEN, "dcn_tensor", NULL},
    {"per_device_batch_size", TAKEN, "per_device", NULL},
    {"gradient_accumulation_steps", TAKEN, "grad-accumulation", NULL},
    {"max_target_length", TAKEN, "seq", NULL},
    {"remat_policy", TAKEN, "recompute", "full:full,minimal:operations,none:none,save_qkv_proj:operations,save_dot_except_mlp:operations,save_dot_except_mlpwi:operations,save_out_proj:operations,minimal_flash:operations,minimal_with_context:operations,custom:operations"},
    {"dtype", TAKEN, "precision", PRECISIONS},
    {"quantization", TAKEN, "quantization", "fp8:fp8,nanoo_fp8:fp8,int8:int8"},
    {"opt_type", TAKEN, "optimizer", "adamw:adam,sgd:sgd"},
    {"attention", TAKEN, "attention", "cudnn_flash_te:flash,flash:flash,autoselected:flash,dot_product:plain"},
    {"scan_layers|weight_dtype|hardware|megablox|sparse_matmul", OPEN, "how XLA lays the step out", NULL},
    {"base_config|run_name|base_output_directory|enable_dropout|steps|dataset_type|enable_checkpointing|profiler|skip_first_n_steps_for_profiler|profiler_steps|log_period|async_checkpointing|reuse_example_batch", IDLE, "beside the step", NULL},
    {"optimizer_memory_host_offload", TAKEN, "offload-optimizer", "yes:host"},
    {"parameter_memory_host_offload", TAKEN, "offload-parameters", "yes:host"},
    {"use_iota_embed|logits_dot_in_fp32|shard_mode|num_slices|capacity_factor|use_ring_of_experts|fused_qkv|fused_mlp|matmul_precision|activations_in_float32|float32_logits|float32_qk_product|cast_logits_to_fp32|mu_dtype|grad_dtype|use_vmap|num_layers_per_pipeline_stage|num_pipeline_repeats|num_pipeline_microbatches|pipeline_delay_activation_forwarding|pipeline_fsdp_ag_once|scan_pipeline_iterations|set_remat_policy_on_pipeline_iterations|allow_split_physical_axes|sa_block_q|sa_block_kv|optimize_mesh_for_tpu_v6e|custom_mesh|context_parallel_load_balance|packing|attention_type|sliding_window_size|decoder_layer_input|mlpwi|mlpwo|query_proj|key_proj|value_proj|out_proj|context|quantize_kvcache|jax_cache_dir|compiled_trainstep_file|compile_topology", OPEN, "how XLA lays the step out", "false:"},
    {"load_parameters_path|load_full_state_path|enable_goodput_recording|monitor_goodput|monitor_step_time_deviation|goodput_upload_interval_seconds|checkpoint_period|max_checkify|eval_interval|eval_steps|eval_per_device_batch_size|tokenizer_path|tokenizer_type|dataset_path|dataset_name|hf_path|hf_train_files|grain_train_files|grain_worker_count|train_split|eval_split|add_bos|add_eos|gcs_metrics|save_config_to_gcs|log_config|metrics_file|upload_all_profiler_results|learning_rate_schedule_steps|cosine_learning_rate_final_fraction|adam_b1|adam_b2|adam_eps|adam_weight_decay|gradient_clipping_threshold|warmup_steps_fraction|data_shuffle_seed|init_weights_seed|enable_single_controller|enable_emergency_checkpoint|vertex_tensorboard_project|use_vertex_tensorboard|collect_stack_trace|stack_trace_interval_seconds|dump_hlo|enable_tensorboard|tensorboard_dir", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// NeMo AutoModel's recipes.
static const ImportOption automodel[] = {
    {"pretrained_model_name_or_path", TAKEN, "model", NULL},
    {"step_scheduler.global_batch_size", TAKEN, "global-batch", NULL},
    {"step_scheduler.local_batch_size|dataloader.batch_size|local_batch_size", TAKEN, "micro-batch", NULL},
    {"step_scheduler.grad_acc_steps", TAKEN, "grad-accumulation", NULL},
    {"distributed._target_|distributed.strategy|strategy", TAKEN, "automodel", NULL},
    {"distributed.tp_size", TAKEN, "tp", NULL},
    {"distributed.cp_size", TAKEN, "cp", NULL},
    {"distributed.pp_size", TAKEN, "pp", NULL},
    {"distributed.dp_replicate_size", TAKEN, "replicate", NULL},
    {"distributed.sequence_parallel", TAKEN, "sequence-parallel", "true:true,false:false"},
    {"activation_checkpointing", TAKEN, "recompute", "yes:full"},
    {"peft.dim|peft.r", TAKEN, "lora-rank", NULL},
    {"packed_sequence.packed_sequence_size|seq_length|seq_len|max_seq_length|dataset.seq_length", TAKEN, "seq", NULL},
    {"fp8.enabled", TAKEN, "fp8", "yes:true"},
    {"dp_size|distributed.*", IDLE, "follows from the rest", NULL},
    {"compile.*|attn_implementation", OPEN, "which kernels run", NULL},
    {"peft.*|dataset.*|validation_dataset.*|packed_sequence.*|dataloader.*|validation_dataloader.*|optimizer.*|lr_scheduler.*|loss_fn.*|checkpoint.*|rng.*|dist_env.*|model._target_|step_scheduler.*|_target_", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// Horovod's examples for PyTorch, and its environment.
static const ImportOption horovod[] = {
    {"batches-per-allreduce", TAKEN, "grad-accumulation", NULL},
    {"amp|use-amp|use-mixed-precision", TAKEN, "precision", "yes:amp"},
    {"fp16-allreduce|gradient-predivide-factor|use-adasum", OPEN, "how gradients travel", NULL},
    {"train-dir|val-dir|data-dir|checkpoint-format|base-lr|wd|no-cuda", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// ColossalAI's examples.
static const ImportOption colossal[] = {
    {"pretrained|model_path|config|model_name_or_path", TAKEN, "model", NULL},
    {"plugin", TAKEN, "colossal_plugin", NULL},
    {"tp|tp_size", TAKEN, "tp", NULL},
    {"pp|pp_size", TAKEN, "pp", NULL},
    {"sp|sp_size", TAKEN, "cp", NULL},
    {"zero_stage|zero", TAKEN, "zero", NULL},
    {"batch_size|b", TAKEN, "rank_batch", NULL},
    {"microbatch_size|mbs", TAKEN, "rank_micro", NULL},
    {"accumulation_steps", TAKEN, "rank_accumulation", NULL},
    {"max_length|max_len|l", TAKEN, "seq", NULL},
    {"mixed_precision", TAKEN, "precision", PRECISIONS},
    {"use_grad_checkpoint|grad_checkpoint|grad_ckpt|g", TAKEN, "recompute", "yes:full"},
    {"use_flash_attn|flash_attention|xformers|x", TAKEN, "attention", "yes:flash"},
    {"lora_rank", TAKEN, "lora-rank", NULL},
    {NULL, IDLE, NULL, NULL},
};

// torchtune's recipes (0.6).
static const ImportOption torchtune[] = {
    {"config", TAKEN, "tune_config", NULL},
    {"model._component_", TAKEN, "tune_component", NULL},
    {"data_parallel_dim|data_parallel_shard_dim", OPEN, "over how many weights lie", "-1:"},
    {"data_parallel_replicate_dim", TAKEN, "replicate", NULL},
    {"context_parallel_dim", TAKEN, "cp", NULL},
    {"optimizer.fused|custom_sharded_layers|loss._component_|optimizer._component_|activation_offloading_use_streams|async_checkpointing", OPEN, "how the step runs", "false:,torch.optim.AdamW:"},
    {"batch_size", TAKEN, "micro-batch", NULL},
    {"gradient_accumulation_steps", TAKEN, "grad-accumulation", NULL},
    {"tokenizer.max_seq_len", TAKEN, "seq", NULL},
    {"enable_activation_checkpointing", TAKEN, "recompute", "true:full,false:none"},
    {"dtype", TAKEN, "precision", PRECISIONS},
    {"tensor_parallel_dim", TAKEN, "tp", NULL},
    {"fsdp_cpu_offload", TAKEN, "offload-optimizer", "yes:host"},
    {"model.lora_rank|lora_rank", TAKEN, "lora-rank", NULL},
    {"compile|enable_activation_offloading|packed|dataset.packed|optimizer_in_bwd", OPEN, "how the step runs", "false:"},
    {"optimizer.*|dataset.*|checkpointer.*|lr_scheduler.*|loss.*|metric_logger.*|tokenizer.*|model.*|profiler.*|max_steps_per_epoch", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// LitGPT's command line (0.5).
static const ImportOption litgpt[] = {
    {"model_name|checkpoint_dir", TAKEN, "model", NULL},
    {"devices", TAKEN, "per_node", NULL},
    {"num_nodes", TAKEN, "nodes", NULL},
    {"train.micro_batch_size", TAKEN, "micro-batch", NULL},
    {"train.global_batch_size", TAKEN, "global-batch", NULL},
    {"train.max_seq_length|max_seq_length", TAKEN, "seq", NULL},
    {"precision", TAKEN, "precision", PRECISIONS},
    {"lora_r", TAKEN, "lora-rank", NULL},
    {"train.epochs|train.max_tokens|train.max_steps|train.save_interval|train.log_interval|train.lr_warmup_steps|train.max_norm|eval.*|data.*|optimizer.*|initial_checkpoint_dir", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// nanoGPT's train.py.
static const ImportOption nanogpt[] = {
    {"n_layer", TAKEN, "layers", NULL},
    {"n_head", TAKEN, "heads", NULL},
    {"n_embd", TAKEN, "hidden", NULL},
    {"block_size", TAKEN, "seq", NULL},
    {"batch_size", TAKEN, "micro-batch", NULL},
    {"gradient_accumulation_steps", TAKEN, "all_accumulation", NULL},
    {"dtype", TAKEN, "precision", PRECISIONS},
    {"compile", OPEN, "compiled kernels", "false:"},
    {"vocab_size", TAKEN, "vocab", NULL},
    {"wandb_log|wandb_project|wandb_run_name|init_from|out_dir|always_save_checkpoint|eval_iters|lr_decay_iters|warmup_iters|decay_lr|grad_clip|device|bias|config|backend|device|eval_interval|max_iters", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// PyTorch's imagenet example: a process a GPU by itself, and the batch of a machine.
static const ImportOption imagenet[] = {
    {"arch|a", TAKEN, "model", NULL},
    {"batch-size|b", TAKEN, "node_batch", NULL},
    {"world-size", TAKEN, "nodes", NULL},
    {"workers|j", TAKEN, "node_workers", NULL},
    {"multiprocessing-distributed|rank|dist-url|dist-backend|print-freq|p|lr|learning-rate|wd|evaluate|e|pretrained|dummy|gpu|no-accel", IDLE, "as is assumed, or beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// Diffusers' examples.
static const ImportOption diffusers[] = {
    {"pretrained_model_name_or_path|pretrained_model_name", TAKEN, "model", NULL},
    {"train_batch_size", TAKEN, "micro-batch", NULL},
    {"gradient_accumulation_steps", TAKEN, "grad-accumulation", NULL},
    {"gradient_checkpointing", TAKEN, "recompute", "yes:full"},
    {"mixed_precision", TAKEN, "precision", PRECISIONS},
    {"allow_tf32", TAKEN, "precision", "yes:tf32"},
    {"enable_xformers_memory_efficient_attention", TAKEN, "attention", "yes:flash"},
    {"rank", TAKEN, "lora-rank", NULL},
    {"dataloader_num_workers", TAKEN, "loader-workers", NULL},
    {"resolution", OPEN, "the library's model has 512 x 512", "512:"},
    {"use_ema", OPEN, "a second copy of the weights, that follows", "false:"},
    {"use_8bit_adam", OPEN, "the optimizer's state in 8 bits", "false:"},
    {"train_text_encoder|noise_offset|snr_gamma|with_prior_preservation", OPEN, "what is trained", "false:"},
    {"center_crop|random_flip|max_train_steps|max_train_samples|lr_scheduler|lr_warmup_steps|checkpointing_steps|checkpoints_total_limit|validation_prompt|validation_prompts|validation_epochs|image_column|caption_column|instance_prompt|instance_data_dir|class_data_dir|class_prompt|push_to_hub|variant|revision|scale_lr|num_validation_images|train_data_dir", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// PyTorch's own examples, timm: what a script of one's own is usually told.
static const ImportOption plain[] = {
    {"model|arch|a|model_name|model_name_or_path", TAKEN, "model", NULL},
    {"batch-size|b|batch-size-per-gpu|batch_size_per_device", TAKEN, "micro-batch", NULL},
    {"grad-accum-steps|gradient_accumulation_steps|accum_steps|accum_iter", TAKEN, "grad-accumulation", NULL},
    {"amp|native-amp|apex-amp|use-amp", TAKEN, "precision", "yes:amp"},
    {"amp-dtype|dtype|mixed_precision", TAKEN, "precision", PRECISIONS},
    {"bf16", TAKEN, "precision", "yes:bf16"},
    {"fp16", TAKEN, "precision", "yes:fp16"},
    {"grad-checkpointing|gradient_checkpointing|use_checkpoint", TAKEN, "recompute", "yes:full"},
    {"workers|num_workers|j", TAKEN, "loader-workers", NULL},
    {"block_size|seq_len|seq_length|max_seq_len|max_seq_length", TAKEN, "seq", NULL},
    {"channels-last|torchcompile|compile|fuser|torchscript|sync-bn|fast-norm", OPEN, "which kernels run", "false:"},
    {"model-ema|ema|use_ema|model-ema-v2", OPEN, "a second copy of the weights, that follows", "false:"},
    {"train-crop-size|img-size|input-size|image-size|resolution|initial-image-size", OPEN, "the library's model has its own size of images", "224:"},
    {"drop-path|drop|clip-mode|layer-decay|label-smoothing|smoothing|mixup|mixup-alpha|mixup-prob|cutmix|cutmix-alpha|aa|auto-augment|reprob|remode|recount|random-erase|ra-sampler|ra-reps|hflip|color-jitter|sched|opt|opt-eps|opt-betas|norm-weight-decay|bias-weight-decay|model-ema-decay|model-ema-steps|val-resize-size|val-crop-size|cooldown-epochs|decay-rate|wd|gamma|train-num-samples|train-data|dataset-type|imagenet-val|warmup-epochs|warmup-lr|print-freq|p|dist-url|dist-backend|pretrained|num-classes|crop-pct|interpolation|train-interpolation|mean|std|pin-mem|checkpoint-hist|experiment|lr-scheduler|lr-step-size|lr-gamma|world-size|rank", IDLE, "numbers of the optimizer, of data and of logs", NULL},
    {NULL, IDLE, NULL, NULL},
};

// OpenRLHF's train_sft (0.8).
static const ImportOption openrlhf[] = {
    {"pretrain", TAKEN, "model", NULL},
    {"micro_train_batch_size", TAKEN, "micro-batch", NULL},
    {"train_batch_size", TAKEN, "global-batch", NULL},
    {"max_len", TAKEN, "seq", NULL},
    {"zero_stage", TAKEN, "zero", NULL},
    {"bf16", TAKEN, "precision", "yes:bf16"},
    {"param_dtype", TAKEN, "precision", PRECISIONS},
    {"gradient_checkpointing", TAKEN, "recompute", "yes:full"},
    {"adam_offload", TAKEN, "offload-optimizer", "yes:host"},
    {"flash_attn", TAKEN, "attention", "yes:flash"},
    {"attn_implementation", TAKEN, "attention", "flash_attention_2:flash,flash_attention_3:flash,sdpa:flash,eager:plain"},
    {"ring_attn_size", TAKEN, "cp", NULL},
    {"ds_tensor_parallel_size", TAKEN, "tp", NULL},
    {"zpg", TAKEN, "zero-shard", "1:,*:*"},
    {"lora_rank", TAKEN, "lora-rank", "0:,*:*"},
    {"load_in_4bit", TAKEN, "nf4-weights", "yes:true"},
    {"overlap_comm", TAKEN, "overlap-grad-reduce", "yes:true"},
    {"use_liger_kernel", TAKEN, "fused-norms", "yes:true"},
    {"packing_samples", OPEN, "whether samples are filled to the whole length, as is assumed", "false:"},
    {"ring_head_stride|grad_accum_dtype|deepcompile|disable_trace_cache|universal_ckpt|disable_fast_tokenizer|aux_loss_coef|target_modules|zero3_offload", OPEN, "how the step runs", "false:"},
    {"max_samples|input_key|output_key|input_template|apply_chat_template|tokenizer_chat_template|multiturn|pretrain_mode|train_split|eval_split|save_steps|eval_steps|logging_steps|save_path|ckpt_path|save_hf_ckpt|disable_ds_ckpt|max_ckpt_num|max_ckpt_mem|load_checkpoint|use_wandb|wandb_org|wandb_group|wandb_project|wandb_run_name|use_tensorboard|use_ms|l2|lr_warmup_ratio|lr_scheduler|adam_betas|gradient_checkpointing_use_reentrant|dataset_probs|max_norm|lora_alpha|lora_dropout", IDLE, "numbers of the optimizer, of data and of logs", NULL},
    {NULL, IDLE, NULL, NULL},
};

// verl's trainers for supervised tuning (0.5), in Hydra's words.
static const ImportOption verl[] = {
    {"model.partial_pretrain|model.path|model.model_path|partial_pretrain", TAKEN, "model", NULL},
    {"data.train_batch_size", TAKEN, "global-batch", NULL},
    {"data.micro_batch_size_per_gpu|data.micro_batch_size", TAKEN, "micro-batch", NULL},
    {"data.max_length|data.max_seq_length", TAKEN, "seq", NULL},
    {"ulysses_sequence_parallel_size", TAKEN, "cp", NULL},
    {"enable_gradient_checkpointing", TAKEN, "recompute", "true:full,false:none"},
    {"fsdp_config.model_dtype|engine.model_dtype", TAKEN, "precision", PRECISIONS},
    {"fsdp_config.cpu_offload|fsdp_config.offload_params|engine.param_offload", TAKEN, "offload_both", "yes:host"},
    {"engine.optimizer_offload", TAKEN, "offload-optimizer", "yes:host"},
    {"model.lora_rank", TAKEN, "lora-rank", "0:,*:*"},
    {"model.target_modules", TAKEN, "lora-everywhere", "all-linear:true"},
    {"use_liger", TAKEN, "fused-norms", "yes:true"},
    {"trainer.n_gpus_per_node", TAKEN, "per_node", NULL},
    {"trainer.nnodes", TAKEN, "nodes", NULL},
    {"fsdp_config.fsdp_size|engine.fsdp_size", TAKEN, "zero-shard", "-1:,*:*"},
    {"use_remove_padding|use_dynamic_bsz|data.balance_dp_token|max_token_len_per_gpu|wrap_policy.*|data.pad_mode|fsdp_config.wrap_policy.*|engine.*|use_torch_compile", OPEN, "how samples fill a step", "false:"},
    {"data.*|optim.*|trainer.*|model.*|checkpoint.*|fsdp_config.*", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// fairseq's command line (0.12), of language models.
static const ImportOption fairseq[] = {
    {"decoder-layers", TAKEN, "layers", NULL},
    {"decoder-embed-dim", TAKEN, "hidden", NULL},
    {"decoder-ffn-embed-dim", TAKEN, "ffn", NULL},
    {"decoder-attention-heads", TAKEN, "heads", NULL},
    {"tokens-per-sample|max-target-positions|max-source-positions", TAKEN, "seq", NULL},
    {"batch-size|max-sentences", TAKEN, "micro-batch", NULL},
    {"max-tokens", TAKEN, "micro_tokens", NULL},
    {"update-freq|optimization.update_freq", TAKEN, "grad-accumulation", NULL},
    {"ddp-backend|distributed_training.ddp_backend", TAKEN, "zero", "fully_sharded:3,c10d:0,pytorch_ddp:0,legacy_ddp:0,no_c10d:0,slowmo:0"},
    {"zero-sharding", TAKEN, "zero", "os:1,none:0"},
    {"fp16|memory-efficient-fp16|common.fp16", TAKEN, "precision", "yes:fp16"},
    {"bf16|memory-efficient-bf16|common.bf16", TAKEN, "precision", "yes:bf16"},
    {"checkpoint-activations", TAKEN, "recompute", "yes:full"},
    {"cpu-offload", TAKEN, "offload_both", "yes:host"},
    {"optimizer", TAKEN, "optimizer", "adam:adam,sgd:sgd,nag:sgd,cpu_adam:adam,adafactor:adafactor"},
    {"distributed-world-size|distributed_training.distributed_world_size", TAKEN, "gpus", NULL},
    {"distributed-num-procs|nprocs-per-node|distributed_training.nprocs_per_node", TAKEN, "per_node", NULL},
    {"num-workers", TAKEN, "loader-workers", NULL},
    {"share-decoder-input-output-embed", TAKEN, "untied_embedding", "no:true"},
    {"bucket-cap-mb|fp32-reduce-scatter|no-reshard-after-forward|offload-activations|empty-cache-freq|required-batch-size-multiple|find-unused-parameters|fast-stat-sync|adaptive-softmax-cutoff|fp16-no-flatten-grads", OPEN, "how the step runs", "false:,1:"},
    {"arch", TAKEN, "model", "transformer_lm_gpt3_small:gpt3-125m,transformer_lm_gpt3_medium:gpt3-350m,transformer_lm_gpt3_large:gpt3-760m,transformer_lm_gpt3_xl:gpt3-1.3b,transformer_lm_gpt3_2_7:gpt3-2.7b,transformer_lm_gpt3_6_7:gpt3-6.7b,transformer_lm_gpt3_13:gpt3-13b,transformer_lm_gpt3_175:gpt3-175b,transformer_lm_gpt2_small:gpt2-124m,transformer_lm_gpt2_medium:gpt2-355m,transformer_lm_gpt2_big:gpt2-1.5b"},
    {"task|activation-fn|criterion|adam-betas|adam-eps|clip-norm|lr|lr-scheduler|warmup-updates|warmup-init-lr|total-num-update|max-update|max-epoch|dropout|attention-dropout|activation-dropout|no-save|no-epoch-checkpoints|keep-interval-updates|keep-last-epochs|keep-best-checkpoints|save-interval-updates|patience|log-format|log-interval|tensorboard-logdir|train-subset|valid-subset|skip-invalid-size-inputs-valid-test|sample-break-mode|restore-file|reset-optimizer|reset-dataloader|reset-meters|reset-lr-scheduler|fp16-init-scale|fp16-scale-window|fp16-scale-tolerance|min-loss-scale|threshold-loss-scale|distributed-port|distributed-init-method|distributed-rank|user-dir|wandb-project|disable-validation|validate-interval|max-tokens-valid|stop-min-lr|end-learning-rate|label-smoothing|left-pad-source|data-buffer-size|dataset-impl|bpe|sentencepiece-model|fixed-validation-seed|eval-bleu|checkpoint.*|dataset.*|optimization.*|common.*|model._name|lr_scheduler.*|hydra.*", IDLE, "numbers of the optimizer, of data and of logs", NULL},
    {NULL, IDLE, NULL, NULL},
};

// OLMo-core's configurations in Python (2.0), and what its command line sets of them; batches are tokens.
static const ImportOption olmo_core[] = {
    {"model.preset", TAKEN, "model", NULL},
    {"model.d_model", TAKEN, "hidden", NULL},
    {"model.n_layers", TAKEN, "layers", NULL},
    {"model.n_heads", TAKEN, "heads", NULL},
    {"model.n_kv_heads", TAKEN, "kv_heads", NULL},
    {"model.vocab_size", TAKEN, "vocab", NULL},
    {"model.hidden_size_multiplier", TAKEN, "core_multiplier", NULL},
    {"model.hidden_size_multiple_of", TAKEN, "core_multiple", NULL},
    {"data_loader.global_batch_size|global_batch_size", TAKEN, "global_tokens", NULL},
    {"train_module.rank_microbatch_size|rank_microbatch_size", TAKEN, "micro_tokens", NULL},
    {"train_module.max_sequence_length|dataset.sequence_length|sequence_length", TAKEN, "seq", NULL},
    {"dp_config.name", TAKEN, "core_parallel", "ddp:ddp,fsdp:fsdp,hsdp:hsdp"},
    {"dp_config.shard_degree", TAKEN, "shard_degree", NULL},
    {"dp_config.num_replicas", TAKEN, "replicate", NULL},
    {"dp_config.param_dtype|train_module.autocast_precision|autocast_precision", TAKEN, "precision", PRECISIONS},
    {"dp_config.reduce_dtype", TAKEN, "fp32-grad-reduce", "float32:true,bfloat16:false"},
    {"tp_config.degree", TAKEN, "tp", NULL},
    {"cp_config.degree", TAKEN, "cp", NULL},
    {"pp_config.degree", TAKEN, "pp", NULL},
    {"ep_config.degree", TAKEN, "ep", NULL},
    {"ac_config.mode", TAKEN, "recompute", "full:full,selected_blocks:full,selected_modules:operations,selected_ops:operations,budget:operations"},
    {"float8_config.enabled", TAKEN, "fp8", "yes:true"},
    {"data_loader.num_workers", TAKEN, "loader-workers", NULL},
    {"model.use_flash", TAKEN, "attention", "true:flash,false:plain"},
    {"model.qk_norm|model.block_name|model.rope_scaling|model.fused_ops|model.sliding_window.*", OPEN, "the operators of a layer", "false:"},
    {"compile_model|optim.compile|dp_config.wrapping_strategy|dp_config.prefetch_factor|ac_config.*|float8_config.*|cp_config.*|pp_config.*|tp_config.*|compile_loss", OPEN, "how the step runs", "false:"},
    {"model.*|train_module.*|optim.*|trainer.*|data_loader.*|dataset.*|launch.*|init_seed", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// nanochat's scripts.base_train: a model by its depth, and a batch in tokens.
static const ImportOption nanochat[] = {
    {"num_layers|n_layer", TAKEN, "layers", NULL},
    {"model_dim|n_embd", TAKEN, "hidden", NULL},
    {"num_heads|n_head", TAKEN, "heads", NULL},
    {"num_kv_heads|n_kv_head", TAKEN, "kv_heads", NULL},
    {"vocab_size", TAKEN, "vocab", NULL},
    {"max_seq_len", TAKEN, "seq", NULL},
    {"device_batch_size", TAKEN, "micro-batch", NULL},
    {"total_batch_size", TAKEN, "global_tokens", "-1:,*:*"},
    {"depth", TAKEN, "chat_depth", NULL},
    {"aspect_ratio", TAKEN, "chat_aspect", NULL},
    {"head_dim", TAKEN, "chat_head", NULL},
    {"fp8", TAKEN, "fp8", "yes:true"},
    {"window_pattern", OPEN, "which layers see all tokens", "l:"},
    {"run|matrix_lr|embedding_lr|unembedding_lr|scalar_lr|grad_clip|target_param_data_ratio|target_flops|num_iterations|eval_every|eval_tokens|core_metric_every|core_metric_max_per_task|sample_every|save_every|resume_from_step|warmup_ratio|warmdown_ratio|final_lr_frac|model_tag|device_type|adam_beta1|adam_beta2|model_step", IDLE, "numbers of the optimizer, of data and of logs", NULL},
    {NULL, IDLE, NULL, NULL},
};

// ms-swift's command line (3.8), over the trainer's.
static const ImportOption swift[] = {
    {"model", TAKEN, "model", NULL},
    {"train_type|tuner_type|sft_type", TAKEN, "swift_type", "lora:lora,full:full,longlora:lora,adalora:lora,dora:lora"},
    {"deepspeed", TAKEN, "deepspeed_word", "zero0:0,zero1:1,zero2:2,zero3:3,zero2_offload:2+,zero3_offload:3+"},
    {"sequence_parallel_size", TAKEN, "cp", NULL},
    {"attn_impl", TAKEN, "attention", "flash_attn:flash,flash_attention_2:flash,flash_attention_3:flash,sdpa:flash,eager:plain"},
    {"target_modules", TAKEN, "lora-everywhere", "all-linear:true"},
    {"quant_method", IDLE, "quant_bits says how many", NULL},
    {"quant_bits", TAKEN, "nf4-weights", "4:true"},
    {"padding_free|freeze_vit|freeze_llm|freeze_aligner|max_pixels|lazy_tokenize|group_by_length", OPEN, "what is trained, and how samples fill a step", "false:"},
    {"dataset|val_dataset|split_dataset_ratio|system|load_from_cache_file|dataset_num_proc|dataset_shuffle|model_author|model_name|model_type|streaming|custom_register_path|add_version|metric_for_best_model|load_args|use_hf|loss_scale|truncation_strategy|bnb_4bit_quant_storage", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// nanotron's YAML (0.4).
static const ImportOption nanotron[] = {
    {"parallelism.dp", TAKEN, "replicas", NULL},
    {"parallelism.tp", TAKEN, "tp", NULL},
    {"parallelism.pp", TAKEN, "pp", NULL},
    {"parallelism.context_parallel_size", TAKEN, "cp", NULL},
    {"parallelism.expert_parallel_size", TAKEN, "ep", NULL},
    {"parallelism.tp_mode", TAKEN, "sequence-parallel", "reduce_scatter:true,all_reduce:false"},
    {"parallelism.pp_engine", TAKEN, "schedule", "1f1b:1f1b,afab:gpipe"},
    {"parallelism.recompute_layer", TAKEN, "recompute", "yes:full"},
    {"tokens.micro_batch_size", TAKEN, "micro-batch", NULL},
    {"tokens.batch_accumulation_per_replica", TAKEN, "grad-accumulation", NULL},
    {"tokens.sequence_length", TAKEN, "seq", NULL},
    {"model.dtype", TAKEN, "precision", PRECISIONS},
    {"optimizer.zero_stage", TAKEN, "zero", NULL},
    {"accumulate_grad_in_fp32", TAKEN, "fp32-grad-reduce", "true:true,false:false"},
    {"model_config.num_hidden_layers", TAKEN, "layers", NULL},
    {"model_config.hidden_size", TAKEN, "hidden", NULL},
    {"model_config.num_attention_heads", TAKEN, "heads", NULL},
    {"model_config.num_key_value_heads", TAKEN, "kv_heads", NULL},
    {"model_config.intermediate_size", TAKEN, "ffn", NULL},
    {"model_config.vocab_size", TAKEN, "vocab", NULL},
    {"model_config.max_position_embeddings", TAKEN, "max_positions", NULL},
    {"model_config.tie_word_embeddings", TAKEN, "untied_embedding", "no:true"},
    {"model_config.num_local_experts|model_config.moe_config.num_experts", TAKEN, "experts", NULL},
    {"model_config.num_experts_per_tok|model_config.moe_config.top_k", TAKEN, "experts_per_token", NULL},
    {"num_loading_workers", TAKEN, "loader-workers", NULL},
    {"model_config.hidden_act", TAKEN, "gated_mlp", "silu:true,swiglu:true,gelu:false"},
    {"tp_linear_async_communication", TAKEN, "tp-comm-overlap", "yes:true"},
    {"torch_adam_is_fused|tp_recompute_allgather|model_config._attn_implementation|ddp_bucket_cap_mb|model_config._use_qkv_packed|model_config._fused_rotary_emb|model_config._fused_rms_norm", OPEN, "how the step runs", NULL},
    {"checkpoints.*|data_stages.*|general.*|lighteval|logging.*|model.*|optimizer.*|profiler.*|tokenizer.*|tokens.*|s3_upload.*|metrics_logging.*|parallelism.*", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// open_clip's training (3.0).
static const ImportOption open_clip[] = {
    {"model", TAKEN, "model", "ViT-B-32:clip-vit-base-patch32,ViT-B-32-quickgelu:clip-vit-base-patch32,ViT-B-16:clip-vit-base-patch16,ViT-B-16-quickgelu:clip-vit-base-patch16,ViT-L-14:clip-vit-large-patch14,ViT-L-14-quickgelu:clip-vit-large-patch14"},
    {"batch-size", TAKEN, "micro-batch", NULL},
    {"accum-freq", TAKEN, "grad-accumulation", NULL},
    {"precision", TAKEN, "precision", "amp:amp,amp_bf16:bf16,amp_bfloat16:bf16,bf16:bf16,pure_bf16:bf16,fp16:fp16,pure_fp16:fp16,fp32:fp32"},
    {"grad-checkpointing", OPEN, "recomputation of what is no transformer is not simulated", "false:"},
    {"workers", TAKEN, "loader-workers", NULL},
    {"local-loss|gather-with-grad|ddp-static-graph|horovod|siglip|force-image-size|force-patch-dropout|lock-image|lock-text|lock-image-unlocked-groups|torchcompile|torchscript|use-bn-sync|use-bnb-linear|distill-model|coca-caption-loss-weight", OPEN, "what is trained and gathered", "false:"},
    {"train-data|train-num-samples|train-data-upsampling-factors|val-data|val-num-samples|dataset-type|dataset-resampled|csv-img-key|csv-caption-key|imagenet-val|imagenet-v2|zeroshot-frequency|save-frequency|save-most-recent|delete-previous-checkpoint|warmup|wd|lr-scheduler|lr-cooldown-end|beta1|beta2|eps|opt|skip-scheduler|grad-clip-norm|pretrained|pretrained-image|logs|log-local|log-every-n-steps|name|report-to|wandb-notes|wandb-project-name|debug|copy-codebase|remote-sync|dist-url|dist-backend|no-set-device-rank|aug-cfg|image-mean|image-std", IDLE, "numbers of the optimizer, of data and of logs", NULL},
    {NULL, IDLE, NULL, NULL},
};

// detectron2's tools/train_net.py (0.6), with settings by name and value.
static const ImportOption detectron[] = {
    {"config-file", TAKEN, "detectron_config", NULL},
    {"num-gpus", TAKEN, "per_node", NULL},
    {"num-machines", TAKEN, "nodes", NULL},
    {"SOLVER.IMS_PER_BATCH", TAKEN, "global-batch", NULL},
    {"SOLVER.AMP.ENABLED", TAKEN, "precision", "yes:amp"},
    {"DATALOADER.NUM_WORKERS", TAKEN, "loader-workers", NULL},
    {"INPUT.*|DATALOADER.*|MODEL.ROI_HEADS.*|MODEL.RPN.*|MODEL.BACKBONE.FREEZE_AT|MODEL.RESNETS.*", OPEN, "sizes of images, and what is trained", NULL},
    {"SOLVER.*|MODEL.*|DATASETS.*|TEST.*|OUTPUT_DIR|VIS_PERIOD|SEED|machine-rank|dist-url|eval-only|resume|opts", IDLE, "beside the step", NULL},
    {NULL, IDLE, NULL, NULL},
};

// A model that a program spells in words of its own, and how it is sharded: beside `plain`.
static const ImportOption spelt[] = {
    {"n_layer|n_layers|num_layers|num_hidden_layers|layers|decoder_layers|num_decoder_layers|num_blocks|n_blocks|depth", TAKEN, "layers", NULL},
    {"n_embd|d_model|hidden_size|hidden_width|hidden_dim|embed_dim|dim|model_dim|emb_dim|embedding_dim|n_embed|width", TAKEN, "hidden", NULL},
    {"n_head|n_heads|num_heads|num_attention_heads|attention_heads|heads", TAKEN, "heads", NULL},
    {"n_kv_head|n_kv_heads|num_kv_heads|num_key_value_heads|kv_heads|num_query_groups", TAKEN, "kv_heads", NULL},
    {"intermediate_size|ffn_dim|d_ff|ffn_hidden_size|mlp_dim|ffn_size|ff_dim", TAKEN, "ffn", NULL},
    {"vocab_size|padded_vocab_size", TAKEN, "vocab", NULL},
    {"num_experts|n_experts|num_local_experts", TAKEN, "experts", NULL},
    {"num_experts_per_tok|experts_per_token|top_k_experts|moe_top_k", TAKEN, "experts_per_token", NULL},
    {"max_context_width|context_length|context_len|ctx_len|ctx_length|sequence_length|max_seq_length|max_length|seq_len|seq_length|max_sequence_length|n_ctx|context_window", TAKEN, "seq", NULL},
    {"train_batch_size|per_gpu_batch_size|per_device_batch_size|local_batch_size|device_batch_size|micro_batch_size|microbatch_size|mbs|bs|batch_size_training|per_device_train_batch_size|train_micro_batch_size", TAKEN, "micro-batch", NULL},
    {"global_batch_size|total_batch_size|gbs", TAKEN, "global-batch", NULL},
    {"grad_accum|grad_accumulation_steps|accumulation_steps|grad_acc_steps|accumulate_grad_batches|update_freq", TAKEN, "grad-accumulation", NULL},
    {"sharding_strategy|fsdp_sharding_strategy|fsdp_strategy", TAKEN, "sharding", "full:FULL_SHARD,full_shard:FULL_SHARD,shard_grad_op:SHARD_GRAD_OP,hybrid:HYBRID_SHARD,hybrid_shard:HYBRID_SHARD,no_shard:NO_SHARD,ddp:NO_SHARD"},
    {"fsdp|use_fsdp|enable_fsdp", TAKEN, "sharding", "yes:FULL_SHARD"},
    {"cpu_offload|fsdp_cpu_offload|fsdp_config.fsdp_cpu_offload|offload_params", TAKEN, "offload_both", "yes:host"},
    {"activation_checkpointing|fsdp_activation_checkpointing|checkpoint_activations|use_activation_checkpointing|grad_checkpoint|enable_activation_checkpointing|recompute|ckpt_activations", TAKEN, "recompute", "yes:full"},
    {"tp|tp_size|tensor_parallel|tensor_parallel_size|tensor_parallel_degree|model_parallel_size", TAKEN, "tp", NULL},
    {"pp|pp_size|pipeline_parallel|pipeline_parallel_size|pipeline_parallel_degree", TAKEN, "pp", NULL},
    {"cp|cp_size|context_parallel|context_parallel_size|context_parallel_degree|sp_size|sequence_parallel_size", TAKEN, "cp", NULL},
    {"ep|ep_size|expert_parallel_size|expert_parallel_degree|moe_ep_size", TAKEN, "ep", NULL},
    {"zero|zero_stage", TAKEN, "zero", NULL},
    {"precision|param_dtype|amp_dtype", TAKEN, "precision", PRECISIONS},
    {"mixed_precision|use_fp16|pure_fp16", TAKEN, "precision", "yes:amp,no:fp32,fp16:fp16,bf16:bf16,amp:amp,fp8:fp8"},
    {"pure_bf16|use_bf16|bfloat16|fsdp_config.pure_bf16", TAKEN, "precision", "yes:bf16"},
    {"fp8|use_fp8", TAKEN, "fp8", "yes:true"},
    {"lora_rank|lora_r|lora_dim|lora.r|lora_config.r|peft_config.r", TAKEN, "lora-rank", NULL},
    {"use_flash_attn|flash_attn|use_flash_attention|flash_attention|flash", TAKEN, "attention", "yes:flash"},
    {"dataloader_num_workers|num_workers_dataloader|workers_per_gpu|num_data_workers", TAKEN, "loader-workers", NULL},
    {"num_nodes|nnodes|num_machines", TAKEN, "nodes", NULL},
    {"gpus_per_node|num_gpus_per_node|nproc_per_node|devices|ngpus_per_node|num_gpus", TAKEN, "per_node", NULL},
    {"offload_activations|limit_all_gathers|forward_prefetch|backward_prefetch|use_orig_params|static_graph|find_unused_parameters|gradient_as_bucket_view|bucket_cap_mb|ddp_bucket_cap_mb|cudnn_benchmark|torch_compile|use_compile|use_torch_compile|batching_strategy|use_fast_kernels", OPEN, "how the step runs", "false:,0:"},
    {"checkpoint_freq|validation_freq|val_batch_size|eval_batch_size|validation_batches|model_type|checkpoint_dir|resume_from_checkpoint|dataset_config_name|val_frac|max_train_steps|num_steps|train_steps|total_steps|ckpt_every|patience", IDLE, "numbers of the optimizer, of data and of logs", NULL},
    {NULL, IDLE, NULL, NULL},
};

const ImportOption import_any[] = {
    {"config|m", IDLE, "a file or a module that is named", NULL},
    {"local_rank|node_rank|lr|min_lr|learning_rate|weight_decay|betas|eps|beta1|beta2|momentum|max_norm|max_grad_norm|clip_grad|gradient_clipping|gradient_clip_val|seed|seed_everything|epochs|num_epochs|num_train_epochs|max_epochs|max_steps|train_iters|max_duration|steps|report_to|output_dir|dataset|dataset_name|data_path|data|train_data_path|valid_data_path|test_data_path|cache_dir|save|load|save_interval|save_dir|save_folder|resume|name|run_name|description|dropout|lora_alpha|lora_dropout|vocab_file|merge_file|exp_dir|init_method_std|splits_string|split|restore_from_path|ckpt_path|overwrite_output_dir|steps_per_print|log_interval|tensorboard_dir|distributed_timeout_minutes|datasets.*|dataset.*|logger.*|exp_manager.*|callbacks.*|checkpoint.*|wandb.*|logging.*|tokenizer.*|data.*|hydra.*|sched.*|optim.*|lr_scheduler.*|profiling.*", IDLE, "numbers of the optimizer, of data and of logs", NULL},
    {NULL, IDLE, NULL, NULL},
};

const ImportOption import_environment[] = {
    {"HOROVOD_FUSION_THRESHOLD", TAKEN, "fusion_bytes", NULL},
    {"HOROVOD_CYCLE_TIME", TAKEN, "cycle_ms", NULL},
    {"TORCH_NCCL_AVOID_RECORD_STREAMS", OPEN, "when memory of what was sent is free again", "false:,0:"},
    {"NCCL_DEBUG|NCCL_DEBUG_SUBSYS|NCCL_DEBUG_FILE|NCCL_ASYNC_ERROR_HANDLING|TORCH_NCCL_ASYNC_ERROR_HANDLING|TORCH_DISTRIBUTED_DEBUG|NCCL_IB_TIMEOUT|NCCL_IB_RETRY_CNT|NCCL_BLOCKING_WAIT|TORCH_NCCL_BLOCKING_WAIT", IDLE, "messages and time-outs", NULL},
    {"TORCH_NCCL_TRACE_BUFFER_SIZE|TORCH_NCCL_DUMP_ON_TIMEOUT|TORCH_NCCL_ENABLE_MONITORING|TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC|TORCH_CPP_LOG_LEVEL|TORCH_SHOW_CPP_STACKTRACES|TORCH_LOGS|TORCH_HOME|TORCHDYNAMO_VERBOSE|TORCH_EXTENSIONS_DIR|TORCHINDUCTOR_CACHE_DIR|NCCL_SOCKET_RETRY_CNT|TORCH_DIST_INIT_BARRIER|UCX_RC_TIMEOUT|UCX_LOG_LEVEL|UCX_WARN_UNUSED_ENV_VARS|FI_LOG_LEVEL|NVTE_DEBUG|NVTE_DEBUG_LEVEL|TORCH_CUDA_ARCH_LIST|CUDA_HOME|CUDA_CACHE_DISABLE|CUDA_CACHE_PATH|CUDA_MODULE_LOADING|CUDA_DEVICE_ORDER|TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", IDLE, "messages, time-outs and files", NULL},
    {"HF_*|HUGGINGFACE_*|WANDB_*|TRANSFORMERS_*|TOKENIZERS_*|PYTHON*|LOGLEVEL|LOG_LEVEL|TRITON_CACHE_DIR|HDF5_*|MIOPEN_*|MPLCONFIGDIR|XDG_*|HYDRA_*|COMET_*|MLFLOW_*|NEPTUNE_*|CLEARML_*|DISABLE_MLFLOW_INTEGRATION|http_proxy|https_proxy|no_proxy|HTTP_PROXY|HTTPS_PROXY|NO_PROXY|GLOO_*|LD_LIBRARY_PATH|SINGULARITY_*|APPTAINER_*|AXOLOTL_DO_NOT_TRACK|FORCE_COLOR|BITSANDBYTES_NOWELCOME|TF_CPP_MIN_LOG_LEVEL|LC_ALL|LANG|TMPDIR|SRUN_CPUS_PER_TASK|MODELSCOPE_*|DS_SKIP_CUDA_CHECK|ACCELERATE_LOG_LEVEL|SLURM_EXPORT_ENV|NLTK_DATA|JAX_COMPILATION_CACHE_DIR|RAY_DEDUP_LOGS|OPENBLAS_NUM_THREADS|MKL_NUM_THREADS|NUMEXPR_MAX_THREADS", IDLE, "messages, keys and files", NULL},
    {"LD_PRELOAD|HSA_*|HIP_*|AMD_*|GPU_MAX_HW_QUEUES|MKL_SERVICE_FORCE_INTEL|MALLOC_*", OPEN, "what libraries do", NULL},
    {"OMP_NUM_THREADS|CUDA_DEVICE_MAX_CONNECTIONS|PYTORCH_CUDA_ALLOC_CONF|PYTORCH_HIP_ALLOC_CONF|PYTORCH_ALLOC_CONF|MASTER_ADDR|MASTER_PORT|CUDA_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES", IDLE, "as is assumed, or addresses", NULL},
    {NULL, IDLE, NULL, NULL},
};

#define TABLES(...) (const ImportOption *const[]){__VA_ARGS__, NULL}
const ImportSoftware import_software[] = {
    {"OpenRLHF", "transformers", "micro_train_batch_size|@openrlhf", TABLES(openrlhf, trainer, deepspeed, import_any), "zero:2,precision:bf16", NULL}, // OpenRLHF/OpenRLHF 0.8
    {"verl", "pytorch fsdp", "@verl.trainer|partial_pretrain", TABLES(verl, import_any), "zero:3,precision:bf16,recompute:full", NULL}, // volcengine/verl 0.5
    {"fairseq", "pytorch fsdp", "@fairseq", TABLES(fairseq, import_any), "zero:0,precision:fp32", NULL}, // facebookresearch/fairseq 0.12
    {"OLMo-core", "pytorch fsdp", "train_module.rank_microbatch_size|rank_microbatch_size", TABLES(olmo_core, import_any), "precision:bf16", settle_olmo_core}, // allenai/OLMo-core 2
    {"nanochat", NULL, "@scripts.base_train|@scripts.mid_train|device_batch_size+total_batch_size", TABLES(nanochat, import_any), "precision:bf16,zero:0", settle_nanochat}, // karpathy/nanochat
    {"open_clip", NULL, "@open_clip|local-loss+gather-with-grad", TABLES(open_clip, import_any), "zero:0,precision:amp", NULL}, // mlfoundations/open_clip 3
    {"detectron2", NULL, "SOLVER.IMS_PER_BATCH|@train_net", TABLES(detectron, import_any), "zero:0,precision:fp32", NULL}, // facebookresearch/detectron2 0.6
    {"ms-swift", "transformers", "@swift", TABLES(swift, trainer, accelerate, deepspeed, import_any), "micro-batch:1,precision:bf16,recompute:full", settle_swift}, // modelscope/ms-swift 3.8
    {"nanotron", NULL, "batch_accumulation_per_replica", TABLES(nanotron, import_any), "", NULL}, // huggingface/nanotron 0.4
    {"LitGPT", "litgpt", "@litgpt", TABLES(litgpt, import_any), "zero:3", NULL}, // Lightning-AI/litgpt
    {"Megatron-DeepSpeed", "megatron-deepspeed", "deepspeed_config+tensor_model_parallel_size|deepspeed_config+num_layers", TABLES(megatron, deepspeed, import_any), "", NULL}, // deepspeedai/Megatron-DeepSpeed
    {"GPT-NeoX", "megatron-deepspeed", "pipe-parallel-size|model-parallel-size|@deepy.py", TABLES(deepspeed, megatron, import_any), "", NULL}, // EleutherAI/gpt-neox
    {"NeMo 2", "nemo", "recipe.num_nodes|recipe.num_gpus_per_node|factory|trainer.strategy.tensor_model_parallel_size|@nemo llm", TABLES(nemo2, megatron, import_any), "zero:1,precision:bf16", NULL}, // NVIDIA/NeMo 2.2
    {"NeMo", "nemo", "exp_manager.*+num_layers|trainer.devices+tensor_model_parallel_size|megatron_amp_O2|mcore_gpt|@megatron_gpt", TABLES(nemo, megatron, import_any), "", NULL}, // NVIDIA/NeMo 2.6
    {"Megatron-Bridge", "megatron bridge", "train.global_batch_size|train.micro_batch_size|@run_recipe|@megatron-bridge", TABLES(bridge, megatron, import_any), "zero:1,precision:bf16", NULL}, // NVIDIA-NeMo/Megatron-Bridge 0.6
    {"Megatron-LM", "megatron-lm", "tensor_model_parallel_size|pipeline_model_parallel_size|micro_batch_size+num_layers|@pretrain_gpt|@pretrain_", TABLES(megatron, deepspeed, import_any), "sequence-parallel:false,overlap-grad-reduce:false,precision:fp32", NULL}, // NVIDIA/Megatron-LM core 0.20
    {"torchtitan", "torchtitan", "tensor_parallel_degree|data_parallel_shard_degree|training.local_batch_size|@torchtitan", TABLES(torchtitan, import_any), "precision:bf16", settle_torchtitan}, // pytorch/torchtitan v0.2.2
    {"MaxText", "maxtext", "ici_fsdp_parallelism|ici_tensor_parallelism|dcn_data_parallelism|base_emb_dim|per_device_batch_size+max_target_length|@MaxText", TABLES(maxtext, import_any), "precision:bf16", settle_maxtext}, // AI-Hypercomputer/maxtext
    {"OLMo", "pytorch fsdp", "model.mlp_hidden_size|fsdp.wrapping_strategy|model.mlp_ratio", TABLES(olmo, import_any), "sharding:FULL_SHARD", settle_olmo}, // allenai/OLMo
    {"llm-foundry", "llm-foundry fsdp", "device_train_microbatch_size|global_train_batch_size", TABLES(foundry, import_any), "", NULL}, // mosaicml/llm-foundry
    {"NeMo AutoModel", "fsdp2", "step_scheduler.*|@nemo_automodel|@automodel", TABLES(automodel, import_any), "precision:bf16", settle_automodel}, // NVIDIA-NeMo/Automodel
    {"Lightning", "lightning", "trainer.devices|trainer.strategy|trainer.accelerator|accumulate_grad_batches", TABLES(lightning, deepspeed, import_any), "precision:fp32", settle_lightning}, // Lightning-AI/pytorch-lightning 2.3
    {"ColossalAI", NULL, "@colossalai", TABLES(colossal, import_any), "", settle_colossal}, // hpcaitech/ColossalAI
    {"LLaMA-Factory", "llama factory", "finetuning_type|cutoff_len|@llamafactory", TABLES(trainer, accelerate, deepspeed, import_any), "recompute:full", NULL}, // hiyouga/LLaMA-Factory
    {"axolotl", "axolotl", "base_model|@axolotl", TABLES(trainer, accelerate, deepspeed, import_any), "", NULL}, // axolotl-ai-cloud/axolotl
    {"torchtune", "torchtune", "@torchtune", TABLES(torchtune, import_any), "zero:3", settle_torchtune}, // pytorch/torchtune
    {"nanoGPT", NULL, "n_embd+block_size", TABLES(nanogpt, import_any), "precision:bf16", settle_nanogpt}, // karpathy/nanoGPT
    {"Horovod", NULL, "batches-per-allreduce|fp16-allreduce|@horovod|@hvd", TABLES(horovod, plain, import_any), "strategy:horovod,precision:fp32", NULL}, // horovod/horovod
    {"Hugging Face Trainer", "transformers", "per_device_train_batch_size|model_name_or_path|distributed_type|zero_optimization.stage|train_micro_batch_size_per_gpu", TABLES(trainer, accelerate, deepspeed, import_any), "micro-batch:8,precision:fp32", NULL}, // huggingface/transformers, trl, accelerate 1.15
    {"Diffusers", NULL, "@train_text_to_image|@train_dreambooth|@train_controlnet|@train_unconditional|pretrained_model_name_or_path+train_batch_size", TABLES(diffusers, accelerate, import_any), "zero:0,precision:fp32", NULL}, // huggingface/diffusers 0.35
    {"PyTorch's imagenet example", NULL, "multiprocessing-distributed", TABLES(imagenet, import_any), "precision:fp32", settle_imagenet}, // pytorch/examples
    {"a script of its own", NULL, "", TABLES(plain, spelt, accelerate, import_any), "precision:fp32", NULL},
};
// clang-format on
const int import_software_count = sizeof import_software / sizeof *import_software;

const ImportSoftware *import_software_called(const char *title) {
    for (int s = 0; s < import_software_count; s++)
        if (strcmp(import_software[s].title, title) == 0) return &import_software[s];
    return NULL;
}

const ImportOption *import_option(const ImportSoftware *software, const char *name) {
    const ImportOption *best = NULL;
    size_t most = 0;
    for (int t = 0; software->tables[t]; t++)
        for (const ImportOption *row = software->tables[t]; row->spelling; row++) {
            size_t length = spelling_length(row->spelling, name);
            if (length > most) most = length, best = row;
        }
    return best;
}

// ---- The other way.

static const char *first_spelling(Arena *arena, const char *spelling) {
    return arena_printf(arena, "%.*s", (int)strcspn(spelling, "|"), spelling);
}

// What `how` makes the value of; NULL: nothing.
static const char *said_for(Arena *arena, const char *how, const char *value) {
    if (!how || (strlen(how) > 4 && strcmp(how + strlen(how) - 4, ",*:*") == 0)) return value;
    for (const char *at = how; *at;) {
        size_t length = strcspn(at, ",");
        const char *colon = memrchr(at, ':', length);
        if (strlen(value) == length - (size_t)(colon - at) - 1 && strncmp(colon + 1, value, strlen(value)) == 0) {
            const char *said = arena_printf(arena, "%.*s", (int)(colon - at), at);
            return strcmp(said, "yes") == 0 ? "true" : strcmp(said, "no") == 0 ? "false" : said;
        }
        at += length + (at[length] == ',');
    }
    return NULL;
}

const char *import_say_as(Arena *arena, const ImportSoftware *software, const char *name, const char *value) {
    const ImportOption *row = import_option(software, name);
    return row && row->effect == TAKEN ? said_for(arena, row->how, value) : NULL;
}

ImportSpelling import_spell(Arena *arena, const ImportOption *table, const char *to, const char *value,
                            const char *avoid) {
    for (const ImportOption *row = table; row->spelling; row++) {
        if (row->effect != TAKEN || strcmp(row->to, to) != 0) continue;
        const char *name = first_spelling(arena, row->spelling), *said = said_for(arena, row->how, value);
        if (said && !strstr(avoid, name)) return (ImportSpelling){name, said};
    }
    return (ImportSpelling){NULL, NULL};
}
