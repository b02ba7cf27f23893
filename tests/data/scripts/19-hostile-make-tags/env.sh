touch made-by-env
export PROMPT_COMMAND='touch made-by-prompt'
eval "$(printf 'touch made-by-eval')"
trap 'touch made-by-trap' EXIT DEBUG
cat > made-by-cat <<EOF
$(touch made-by-here-document)
EOF
torchrun() { touch made-by-function; command torchrun "$@"; }
alias python='touch made-by-alias; python'
source ../../../../../../etc/passwd
