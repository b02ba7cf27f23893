import argparse

import ray.train
import torch
from datasets import load_dataset
from ray.train import RunConfig, ScalingConfig
from ray.train.huggingface.transformers import RayTrainReportCallback, prepare_trainer
from ray.train.torch import TorchTrainer
from transformers import (AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling,
                          Trainer, TrainingArguments)

MODEL = "mistralai/Mistral-7B-v0.1"
MAX_LEN = 1024

DS = {
    "bf16": {"enabled": True},
    "optimizer": {
        "type": "AdamW",
        "params": {"lr": "auto", "betas": "auto", "eps": "auto", "weight_decay": "auto"},
    },
    "zero_optimization": {
        "stage": 3,
        "offload_optimizer": {"device": "cpu", "pin_memory": True},
        "overlap_comm": True,
        "contiguous_gradients": True,
        "reduce_bucket_size": "auto",
        "stage3_prefetch_bucket_size": "auto",
        "stage3_param_persistence_threshold": "auto",
        "stage3_gather_16bit_weights_on_model_save": True,
    },
    "gradient_accumulation_steps": "auto",
    "gradient_clipping": "auto",
    "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto",
    "steps_per_print": 10,
}


def train_func(config):
    tok = AutoTokenizer.from_pretrained(MODEL)
    tok.pad_token = tok.eos_token
    data = load_dataset("json", data_files="notes.jsonl", split="train")
    data = data.map(lambda r: tok(r["text"], padding="max_length", truncation=True, max_length=MAX_LEN),
                    remove_columns=data.column_names)

    args = TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=config["per_device"],
        gradient_accumulation_steps=config["accumulate"],
        learning_rate=config["lr"],
        weight_decay=0.01,
        warmup_ratio=0.05,
        num_train_epochs=1,
        logging_steps=10,
        save_strategy="no",
        bf16=True,
        gradient_checkpointing=True,
        deepspeed=DS,
        report_to="none",
        seed=11,
    )
    model = AutoModelForCausalLM.from_pretrained(MODEL, torch_dtype=torch.bfloat16, use_cache=False)
    trainer = Trainer(model=model, args=args, train_dataset=data,
                      data_collator=DataCollatorForLanguageModeling(tok, mlm=False))
    trainer.add_callback(RayTrainReportCallback())
    trainer = prepare_trainer(trainer)
    trainer.train()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--num-workers", type=int, default=4)
    p.add_argument("--per-device", type=int, default=4)
    p.add_argument("--accumulate", type=int, default=2)
    p.add_argument("--lr", type=float, default=2e-5)
    p.add_argument("--storage", default="/tmp/ray_results")
    a = p.parse_args()

    trainer = TorchTrainer(
        train_func,
        train_loop_config={"lr": a.lr, "per_device": a.per_device, "accumulate": a.accumulate},
        scaling_config=ScalingConfig(
            num_workers=a.num_workers,
            use_gpu=True,
            resources_per_worker={"GPU": 1, "CPU": 14},
            accelerator_type="A100",
        ),
        run_config=RunConfig(name="mistral-notes", storage_path=a.storage),
    )
    print(trainer.fit())


if __name__ == "__main__":
    main()
