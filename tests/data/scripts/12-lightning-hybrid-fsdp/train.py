import argparse

import lightning as L
import numpy as np
import torch
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from lightning.pytorch.strategies import FSDPStrategy
from torch.utils.data import DataLoader, Dataset
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama.modeling_llama import LlamaDecoderLayer

SEQ_LEN = 2048
BATCH_SIZE = 4          # per GPU

CONFIG = LlamaConfig(
    vocab_size=32000,
    hidden_size=2560,
    intermediate_size=6912,
    num_hidden_layers=32,
    num_attention_heads=20,
    num_key_value_heads=4,
    max_position_embeddings=SEQ_LEN,
    rms_norm_eps=1e-5,
    rope_theta=500000.0,
    tie_word_embeddings=False,
    attn_implementation="sdpa",
    use_cache=False,
)


class Tokens(Dataset):
    def __init__(self, path):
        self.tokens = np.memmap(path, dtype=np.uint16, mode="r")

    def __len__(self):
        return (len(self.tokens) - 1) // SEQ_LEN

    def __getitem__(self, i):
        a = i * SEQ_LEN
        return torch.from_numpy(self.tokens[a : a + SEQ_LEN].astype(np.int64))


class LM(L.LightningModule):
    def __init__(self, lr=3e-4, warmup=1000, total=60_000):
        super().__init__()
        self.save_hyperparameters()
        self.model = None

    def configure_model(self):
        if self.model is None:
            self.model = LlamaForCausalLM(CONFIG)

    def training_step(self, batch, _):
        loss = self.model(input_ids=batch, labels=batch).loss
        self.log("loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=self.hparams.lr, betas=(0.9, 0.95), weight_decay=0.1)
        sched = torch.optim.lr_scheduler.OneCycleLR(
            opt, max_lr=self.hparams.lr, total_steps=self.hparams.total,
            pct_start=self.hparams.warmup / self.hparams.total,
        )
        return {"optimizer": opt, "lr_scheduler": {"scheduler": sched, "interval": "step"}}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--nodes", type=int, default=1)
    p.add_argument("--devices", type=int, default=8)
    p.add_argument("--accumulate", type=int, default=1)
    p.add_argument("--data", default="tokens.bin")
    args = p.parse_args()

    L.seed_everything(20)

    strategy = FSDPStrategy(
        auto_wrap_policy={LlamaDecoderLayer},
        activation_checkpointing_policy={LlamaDecoderLayer},
        sharding_strategy="HYBRID_SHARD",      # shards inside a machine, copies across
        state_dict_type="sharded",
        limit_all_gathers=True,
        cpu_offload=False,
    )
    trainer = L.Trainer(
        accelerator="gpu",
        devices=args.devices,
        num_nodes=args.nodes,
        strategy=strategy,
        precision="bf16-mixed",
        accumulate_grad_batches=args.accumulate,
        max_steps=60_000,
        log_every_n_steps=20,
        enable_progress_bar=False,
        logger=CSVLogger("logs"),
        callbacks=[
            ModelCheckpoint(every_n_train_steps=2000, save_top_k=-1),
            LearningRateMonitor("step"),
        ],
    )
    loader = DataLoader(Tokens(args.data), batch_size=BATCH_SIZE, shuffle=True, num_workers=8,
                        pin_memory=True, drop_last=True)
    trainer.fit(LM(), loader)


if __name__ == "__main__":
    main()
