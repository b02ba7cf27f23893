touch OWNED-env
export MICRO=$(touch OWNED-env-subst; echo 4)
scontrol show hostnames
nvidia-smi --query-gpu=name --format=csv
