import argparse
import os
import uuid
from pathlib import Path

import submitit

import pretrain_main as trainer


def parse_args():
    parser = argparse.ArgumentParser("submit masked pretraining", parents=[trainer.get_parser()])
    parser.add_argument("--ngpus", default=8, type=int, help="GPUs to request on each node")
    parser.add_argument("--nodes", default=2, type=int, help="nodes to request")
    parser.add_argument("--timeout", default=4320, type=int, help="minutes")
    parser.add_argument("--job_dir", default="", type=str)
    parser.add_argument("--partition", default="learnlab", type=str)
    parser.add_argument("--use_volta32", action="store_true", help="ask for 32 GB V100s")
    parser.add_argument("--comment", default="", type=str)
    return parser.parse_args()


class Task:
    def __init__(self, args):
        self.args = args

    def __call__(self):
        env = submitit.JobEnvironment()
        self.args.gpu = env.local_rank
        self.args.rank = env.global_rank
        self.args.world_size = env.num_tasks
        trainer.main(self.args)

    def checkpoint(self):
        return submitit.helpers.DelayedSubmission(type(self)(self.args))


def main():
    args = parse_args()
    if args.job_dir == "":
        args.job_dir = Path(os.environ["HOME"]) / "experiments" / "%j"

    executor = submitit.AutoExecutor(folder=args.job_dir, slurm_max_num_timeout=30)
    extra = {}
    if args.use_volta32:
        extra["slurm_constraint"] = "volta32gb"
    if args.comment:
        extra["slurm_comment"] = args.comment

    executor.update_parameters(
        mem_gb=40 * args.ngpus,
        gpus_per_node=args.ngpus,
        tasks_per_node=args.ngpus,  # a task a GPU
        cpus_per_task=10,
        nodes=args.nodes,
        timeout_min=args.timeout,
        slurm_partition=args.partition,
        slurm_signal_delay_s=120,
        name="mae",
        **extra,
    )
    args.dist_url = f"file://{args.job_dir}/{uuid.uuid4().hex}_init"
    args.output_dir = args.job_dir
    job = executor.submit(Task(args))
    print("queued", job.job_id)


if __name__ == "__main__":
    main()
