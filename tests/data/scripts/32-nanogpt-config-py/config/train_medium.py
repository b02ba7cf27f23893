# about 0.35 B parameters, two machines of eight
# launch: torchrun --nproc_per_node=8 --nnodes=2 ... train.py config/train_medium.py

wandb_log = True
wandb_project = 'nano-owt'
wandb_run_name = 'medium'

# sequences in an update: batch_size * gradient_accumulation_steps
# (train.py shares the accumulation steps among all processes)
batch_size = 12
block_size = 1024
gradient_accumulation_steps = 4 * 16

n_layer = 24
n_head = 16
n_embd = 1024
dropout = 0.0
bias = False

# the whole is about 300B tokens
max_iters = 600000
lr_decay_iters = 600000
learning_rate = 3e-4
min_lr = 3e-5
warmup_iters = 2000
beta2 = 0.95
weight_decay = 1e-1
grad_clip = 1.0

eval_interval = 1000
eval_iters = 200
log_interval = 10

dtype = 'bfloat16'
compile = True
