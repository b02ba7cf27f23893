import subprocess
from dataclasses import dataclass, field, asdict
@dataclass
class Slurm:
    nodes: int = 2
    gres: str = "gpu:h100:8"
    ntasks_per_node: int = 1
@dataclass
class Model:
    num_layers: int = 32
    hidden_size: int = 4096
    num_attention_heads: int = 32
    seq_length: int = 4096
    max_position_embeddings: int = 4096
    micro_batch_size: int = 1
    global_batch_size: int = 256
    tensor_model_parallel_size: int = 2
def header(s):
    return "\n".join(["#!/bin/bash"] + [f"#SBATCH --{k.replace('_', '-')}={v}" for k, v in asdict(s).items()])
def main():
    s, m = Slurm(nodes=4), Model()
    lines = [header(s), "export CUDA_DEVICE_MAX_CONNECTIONS=1"]
    flags = " ".join(f"--{k.replace('_', '-')} {v}" for k, v in vars(m).items())
    lines.append(f"srun torchrun --nnodes={s.nodes} --nproc_per_node=8 pretrain_gpt.py {flags} --bf16")
    script = "\n".join(lines)
    proc = subprocess.Popen("sbatch", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    print(proc.communicate(input=script.encode())[0])
main()
