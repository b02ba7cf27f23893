"""Small GPT trainer, DDP only.  torchrun --nproc_per_node=N train.py [options]"""
import argparse
import math
import os
import time
from contextlib import nullcontext

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.checkpoint import checkpoint

parser = argparse.ArgumentParser()
# model
parser.add_argument("--n_layer", type=int, default=12)
parser.add_argument("--n_head", type=int, default=12)
parser.add_argument("--n_embd", type=int, default=768)
parser.add_argument("--block_size", type=int, default=1024)
parser.add_argument("--vocab_size", type=int, default=50304, help="50257 rounded up to a multiple of 64")
parser.add_argument("--dropout", type=float, default=0.0)
# data
parser.add_argument("--data_dir", default="data/openwebtext")
parser.add_argument("--batch_size", type=int, default=12, help="sequences per GPU and micro-step")
parser.add_argument("--grad_accum", type=int, default=5, help="micro-steps per GPU before the optimizer steps")
# optimizer
parser.add_argument("--lr", type=float, default=6e-4)
parser.add_argument("--min_lr", type=float, default=6e-5)
parser.add_argument("--warmup_iters", type=int, default=2000)
parser.add_argument("--max_iters", type=int, default=600000)
parser.add_argument("--weight_decay", type=float, default=1e-1)
parser.add_argument("--beta2", type=float, default=0.95)
parser.add_argument("--grad_clip", type=float, default=1.0)
# system
parser.add_argument("--dtype", default="bfloat16", choices=["float32", "bfloat16", "float16"])
parser.add_argument("--compile", action="store_true")
parser.add_argument("--grad_ckpt", action="store_true", help="recompute every block in the backward pass")
parser.add_argument("--out_dir", default="out")
parser.add_argument("--log_every", type=int, default=10)
parser.add_argument("--seed", type=int, default=1337)
args = parser.parse_args()


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.proj = nn.Linear(d, d, bias=False)
        self.up = nn.Linear(d, 4 * d, bias=False)
        self.down = nn.Linear(4 * d, d, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.ln1(x)).split(C, dim=2)
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=args.dropout)
        x = x + self.proj(y.transpose(1, 2).reshape(B, T, C))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(args.vocab_size, args.n_embd)
        self.wpe = nn.Embedding(args.block_size, args.n_embd)
        self.blocks = nn.ModuleList(Block(args.n_embd, args.n_head) for _ in range(args.n_layer))
        self.ln = nn.LayerNorm(args.n_embd)
        self.head = nn.Linear(args.n_embd, args.vocab_size, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1), device=idx.device))
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if args.grad_ckpt else block(x)
        logits = self.head(self.ln(x))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def get_batch(device):
    data = np.memmap(os.path.join(args.data_dir, "train.bin"), dtype=np.uint16, mode="r")
    ix = torch.randint(len(data) - args.block_size, (args.batch_size,))
    x = torch.stack([torch.from_numpy(data[i : i + args.block_size].astype(np.int64)) for i in ix])
    y = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + args.block_size].astype(np.int64)) for i in ix])
    return x.pin_memory().to(device, non_blocking=True), y.pin_memory().to(device, non_blocking=True)


def get_lr(it):
    if it < args.warmup_iters:
        return args.lr * (it + 1) / args.warmup_iters
    r = (it - args.warmup_iters) / max(1, args.max_iters - args.warmup_iters)
    return args.min_lr + 0.5 * (1 + math.cos(math.pi * min(1.0, r))) * (args.lr - args.min_lr)


def main():
    dist.init_process_group("nccl")
    rank, local = dist.get_rank(), int(os.environ["LOCAL_RANK"])
    device = f"cuda:{local}"
    torch.cuda.set_device(device)
    torch.manual_seed(args.seed + rank)
    torch.backends.cuda.matmul.allow_tf32 = True

    model = GPT().to(device)
    if args.compile:
        model = torch.compile(model)
    model = DDP(model, device_ids=[local])
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, args.beta2),
                            weight_decay=args.weight_decay, fused=True)
    ptdtype = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[args.dtype]
    ctx = nullcontext() if args.dtype == "float32" else torch.autocast("cuda", dtype=ptdtype)
    scaler = torch.amp.GradScaler("cuda", enabled=args.dtype == "float16")

    t0 = time.time()
    for it in range(args.max_iters):
        for group in opt.param_groups:
            group["lr"] = get_lr(it)
        for micro in range(args.grad_accum):
            model.require_backward_grad_sync = micro == args.grad_accum - 1
            with ctx:
                loss = model(*get_batch(device)) / args.grad_accum
            scaler.scale(loss).backward()
        scaler.unscale_(opt)
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.grad_clip)
        scaler.step(opt)
        scaler.update()
        opt.zero_grad(set_to_none=True)
        if rank == 0 and it % args.log_every == 0:
            print(f"{it} loss {loss.item() * args.grad_accum:.4f} {time.time() - t0:.1f}s")
        if rank == 0 and it and it % 5000 == 0:
            os.makedirs(args.out_dir, exist_ok=True)
            torch.save({"model": model.module.state_dict(), "it": it}, os.path.join(args.out_dir, "ckpt.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
