# shared by all jobs of the group
export SCRATCH_ROOT=/scratch/lang-ai
export MEGATRON=/proj/lang-ai/src/Megatron-LM
export TOKENIZER=/proj/lang-ai/tok/32k.model

export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT=29411
export CUDA_DEVICE_MAX_CONNECTIONS=1
export OMP_NUM_THREADS=8
