import os, subprocess, tempfile
CFG = {"nodes": 4, "gpus": 8, "model": "meta-llama/Llama-2-13b-hf", "bs": 2, "acc": 4}
SCRIPT = """#!/bin/bash
#SBATCH -N {nodes}
#SBATCH --gres=gpu:h100:{gpus}
#SBATCH --ntasks-per-node=1
srun torchrun --nnodes {nodes} --nproc_per_node {gpus} run_clm.py --model_name_or_path {model} \\
   --per_device_train_batch_size {bs} --gradient_accumulation_steps {acc} --bf16 --fsdp "full_shard auto_wrap" --block_size 4096 --gradient_checkpointing
"""
def submit(cfg):
    with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as f:
        f.write(SCRIPT.format(**cfg))
    subprocess.run(["sbatch", f.name], check=True)
if __name__ == "__main__":
    submit(CFG)
