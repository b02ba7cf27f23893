import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

import data
import models


def get_parser():
    p = argparse.ArgumentParser("masked pretraining", add_help=False)
    p.add_argument("--batch_size", default=32, type=int,
                   help="per GPU (an update sees batch_size * accum_iter * number of GPUs)")
    p.add_argument("--accum_iter", default=1, type=int)
    p.add_argument("--epochs", default=400, type=int)
    p.add_argument("--model", default="mae_vit_base_patch16")
    p.add_argument("--input_size", default=224, type=int)
    p.add_argument("--mask_ratio", default=0.75, type=float)
    p.add_argument("--norm_pix_loss", action="store_true")
    p.add_argument("--weight_decay", default=0.05, type=float)
    p.add_argument("--blr", default=1e-3, type=float, help="lr = blr * total_batch / 256")
    p.add_argument("--min_lr", default=0.0, type=float)
    p.add_argument("--warmup_epochs", default=40, type=int)
    p.add_argument("--data_path", default="imagenet")
    p.add_argument("--output_dir", default="")
    p.add_argument("--seed", default=0, type=int)
    p.add_argument("--num_workers", default=10, type=int)
    p.add_argument("--dist_url", default="env://")
    return p


def main(args):
    torch.cuda.set_device(args.gpu)
    dist.init_process_group("nccl", init_method=args.dist_url, rank=args.rank, world_size=args.world_size)
    torch.manual_seed(args.seed + args.rank)

    loader = data.masked_loader(args, batch_size=args.batch_size, rank=args.rank, world=args.world_size)
    model = DDP(models.build(args.model, norm_pix_loss=args.norm_pix_loss).cuda(), device_ids=[args.gpu])

    total_batch = args.batch_size * args.accum_iter * dist.get_world_size()
    lr = args.blr * total_batch / 256
    opt = torch.optim.AdamW(model.parameters(), lr=lr, betas=(0.9, 0.95), weight_decay=args.weight_decay)
    scaler = torch.cuda.amp.GradScaler()

    for epoch in range(args.epochs):
        for step, (images, _) in enumerate(loader):
            with torch.autocast("cuda", dtype=torch.float16):
                loss = model(images.cuda(non_blocking=True), mask_ratio=args.mask_ratio) / args.accum_iter
            scaler.scale(loss).backward()
            if (step + 1) % args.accum_iter == 0:
                scaler.step(opt)
                scaler.update()
                opt.zero_grad(set_to_none=True)
