source ./cluster.sh
for f in *.sh; do . ./$f; done
. ./job.sbatch
