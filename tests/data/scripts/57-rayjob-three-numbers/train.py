import argparse

import deepspeed
import ray.train
from ray.train import ScalingConfig
from ray.train.torch import TorchTrainer
from transformers import AutoModelForCausalLM

from data import token_loader


def loop(config):
    model = AutoModelForCausalLM.from_pretrained(config["model"], torch_dtype="bfloat16")
    engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config["deepspeed"])
    for batch in token_loader(config["seq_len"], engine.train_micro_batch_size_per_gpu()):
        loss = engine(input_ids=batch, labels=batch).loss
        engine.backward(loss)
        engine.step()
        ray.train.report({"loss": loss.item()})


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--num-workers", type=int, default=8)
    p.add_argument("--deepspeed", default="ds.json")
    p.add_argument("--model", default="tiiuae/falcon-7b")
    p.add_argument("--seq-len", type=int, default=2048)
    a = p.parse_args()
    TorchTrainer(
        loop,
        train_loop_config=vars(a),
        scaling_config=ScalingConfig(num_workers=a.num_workers, use_gpu=True),
    ).fit()
