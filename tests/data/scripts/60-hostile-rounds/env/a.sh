export DEPTH=$(( ${DEPTH:-0} + 1 ))
export PATHS=$PATHS:$PATHS:/opt/a
source "$(dirname "${BASH_SOURCE[0]}")/b.sh"
source env/b.sh
