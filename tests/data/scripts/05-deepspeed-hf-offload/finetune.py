from dataclasses import dataclass, field
from typing import Optional

import torch
import transformers
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer


@dataclass
class ModelArguments:
    model_name_or_path: Optional[str] = field(default="mistralai/Mistral-7B-v0.1")
    attn_implementation: Optional[str] = field(default=None)


@dataclass
class DataArguments:
    data_file: str = field(metadata={"help": "jsonl with a field text"})


@dataclass
class TrainingArguments(transformers.TrainingArguments):
    cache_dir: Optional[str] = field(default=None)
    model_max_length: int = field(
        default=4096,
        metadata={"help": "every sample is padded and cut to this"},
    )


def main():
    parser = transformers.HfArgumentParser((ModelArguments, DataArguments, TrainingArguments))
    model_args, data_args, training_args = parser.parse_args_into_dataclasses()

    tokenizer = AutoTokenizer.from_pretrained(
        model_args.model_name_or_path,
        model_max_length=training_args.model_max_length,
        padding_side="right",
    )
    tokenizer.pad_token = tokenizer.unk_token
    model = AutoModelForCausalLM.from_pretrained(
        model_args.model_name_or_path,
        attn_implementation=model_args.attn_implementation,
        torch_dtype=torch.bfloat16,
    )
    model.config.use_cache = False

    raw = load_dataset("json", data_files=data_args.data_file, split="train")

    def encode(batch):
        return tokenizer(
            batch["text"],
            max_length=training_args.model_max_length,
            padding="max_length",
            truncation=True,
        )

    train = raw.map(encode, batched=True, remove_columns=raw.column_names)
    trainer = Trainer(
        model=model,
        args=training_args,
        train_dataset=train,
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
    )
    trainer.train()
    trainer.save_state()
    trainer.save_model()


if __name__ == "__main__":
    main()
