#!/bin/bash -l
#SBATCH --job-name=lm2b
#SBATCH --nodes=4
#SBATCH --gres=gpu:h100:8
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=12
#SBATCH --mem=0
#SBATCH --time=1-12:00:00
#SBATCH --signal=SIGUSR1@90

module load cuda/12.4
source $HOME/venvs/lm/bin/activate

export NCCL_DEBUG=WARN
export PYTHONFAULTHANDLER=1

srun python train.py --nodes $SLURM_NNODES --accumulate 2 --data /scratch/fineweb/tokens.bin
