. ./site.sh
[ -n "$X" ] || source ${BASH_SOURCE[0]}
X="$X$X:"
