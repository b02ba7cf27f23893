import argparse

import torch
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--num-workers", type=int, default=8)
    p.add_argument("--batch-size-per-device", type=int, default=8)
    p.add_argument("--grad-accum", type=int, default=2)
    p.add_argument("--lr", type=float, default=2e-5)
    p.add_argument("--model-id", default="Qwen/Qwen2.5-7B")
    return p.parse_args()


def train_func(config):
    model = AutoModelForCausalLM.from_pretrained(config["model_id"], torch_dtype=torch.bfloat16)
    args = TrainingArguments(
        output_dir="/mnt/ckpt",
        per_device_train_batch_size=config["bs"],
        gradient_accumulation_steps=config["accum"],
        learning_rate=config["lr"],
        bf16=True,
        gradient_checkpointing=True,
        deepspeed={
            "zero_optimization": {"stage": 3, "overlap_comm": True},
            "bf16": {"enabled": "auto"},
            "train_micro_batch_size_per_gpu": "auto",
            "gradient_accumulation_steps": "auto",
        },
        logging_steps=5,
        max_steps=2000,
        report_to="none",
    )
    trainer = Trainer(model=model, args=args, train_dataset=load(config["seq"]))
    trainer.train()


def main():
    a = parse()
    trainer = TorchTrainer(
        train_func,
        train_loop_config={"model_id": a.model_id, "bs": a.batch_size_per_device, "accum": a.grad_accum,
                           "lr": a.lr, "seq": 2048},
        scaling_config=ScalingConfig(num_workers=a.num_workers, use_gpu=True, accelerator_type="A100"),
        run_config=RunConfig(storage_path="/mnt/ray", name="qwen-sft"),
    )
    trainer.fit()


if __name__ == "__main__":
    main()
