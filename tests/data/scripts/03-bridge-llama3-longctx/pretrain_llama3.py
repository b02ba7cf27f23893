"""Continued pretraining of Llama 3 8B on longer documents (Megatron-Bridge 0.2)."""
import argparse

from megatron.bridge.recipes.llama import llama3_8b_pretrain_config
from megatron.bridge.training.comm_overlap import CommOverlapConfig
from megatron.bridge.training.config import ConfigContainer
from megatron.bridge.training.gpt_step import forward_step
from megatron.bridge.training.pretrain import pretrain


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--data", required=True, nargs="+")
    p.add_argument("--out", required=True)
    p.add_argument("--seq-length", type=int, default=8192)
    p.add_argument("--global-batch-size", type=int, default=128)
    p.add_argument("--iters", type=int, default=20_000)
    return p.parse_args()


def build(args) -> ConfigContainer:
    cfg = llama3_8b_pretrain_config(data_paths=args.data, dir=args.out, name="l3-8b-long")

    # model and its layout
    cfg.model.seq_length = args.seq_length
    cfg.model.tensor_model_parallel_size = 2
    cfg.model.pipeline_model_parallel_size = 1
    cfg.model.virtual_pipeline_model_parallel_size = None
    cfg.model.context_parallel_size = 2
    cfg.model.sequence_parallel = True
    cfg.model.recompute_granularity = "selective"
    cfg.model.recompute_modules = ["core_attn"]
    cfg.model.rotary_base = 5_000_000

    cfg.dataset.sequence_length = args.seq_length
    cfg.dataset.num_workers = 4

    cfg.train.micro_batch_size = 1
    cfg.train.global_batch_size = args.global_batch_size
    cfg.train.train_iters = args.iters
    cfg.train.eval_interval = 1000
    cfg.train.eval_iters = 8

    cfg.mixed_precision = "bf16_with_fp8_current_scaling_mixed"

    cfg.ddp.use_distributed_optimizer = True
    cfg.ddp.overlap_grad_reduce = True
    cfg.ddp.overlap_param_gather = True
    cfg.comm_overlap = CommOverlapConfig(tp_comm_overlap=True)

    cfg.optimizer.lr = 3e-5
    cfg.optimizer.min_lr = 3e-6
    cfg.optimizer.weight_decay = 0.1
    cfg.optimizer.clip_grad = 1.0
    cfg.scheduler.lr_decay_style = "cosine"
    cfg.scheduler.lr_warmup_iters = 500

    cfg.logger.log_interval = 10
    cfg.logger.wandb_project = "long-context"
    cfg.checkpoint.save_interval = 500
    cfg.rng.seed = 1234
    return cfg


if __name__ == "__main__":
    pretrain(config=build(parse()), forward_step_func=forward_step)
