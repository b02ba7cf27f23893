import lightning as L
import numpy as np
import torch
from deepspeed.ops.adam import DeepSpeedCPUAdam
from lightning.pytorch.cli import LightningCLI
from torch.utils.data import DataLoader, Dataset
from transformers import AutoModelForCausalLM, get_cosine_schedule_with_warmup


class Tokens(Dataset):
    def __init__(self, path, max_length):
        self.tokens = np.load(path, mmap_mode="r")
        self.max_length = max_length

    def __len__(self):
        return len(self.tokens) // self.max_length

    def __getitem__(self, i):
        a = self.tokens[i * self.max_length:(i + 1) * self.max_length]
        return torch.from_numpy(a.astype(np.int64))


class TextData(L.LightningDataModule):
    def __init__(self, path: str, max_length: int = 1024, batch_size: int = 1, num_workers: int = 2):
        super().__init__()
        self.save_hyperparameters()

    def train_dataloader(self):
        h = self.hparams
        return DataLoader(Tokens(h.path, h.max_length), batch_size=h.batch_size,
                          num_workers=h.num_workers, shuffle=True, drop_last=True)


class CausalLM(L.LightningModule):
    def __init__(self, model_name: str, attn_implementation: str = "sdpa", gradient_checkpointing: bool = False,
                 lr: float = 1e-5, weight_decay: float = 0.0, warmup_steps: int = 0):
        super().__init__()
        self.save_hyperparameters()
        self.net = AutoModelForCausalLM.from_pretrained(model_name, attn_implementation=attn_implementation)
        if gradient_checkpointing:
            self.net.gradient_checkpointing_enable()

    def training_step(self, batch, _):
        loss = self.net(input_ids=batch, labels=batch).loss
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        h = self.hparams
        opt = DeepSpeedCPUAdam(self.parameters(), lr=h.lr, weight_decay=h.weight_decay)
        sched = get_cosine_schedule_with_warmup(opt, h.warmup_steps, self.trainer.max_steps)
        return [opt], [{"scheduler": sched, "interval": "step"}]


if __name__ == "__main__":
    LightningCLI(CausalLM, TextData, save_config_callback=None)
