touch canary-40
alias srun='touch canary-41; srun'
cd() { touch canary-42; builtin cd "$@"; }
torchrun() { touch canary-43; command torchrun "$@"; }
export LD_PRELOAD=./canary.so PYTHONSTARTUP=./conf/start.py PAGER='touch canary-44 #' EDITOR='touch canary-45 #'
