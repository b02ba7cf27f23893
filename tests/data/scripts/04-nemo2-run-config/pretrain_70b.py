# NeMo 2 (25.04), NeMo-Run.  python pretrain_70b.py
import nemo_run as run
import torch
from megatron.core.distributed import DistributedDataParallelConfig
from megatron.core.optimizer import OptimizerConfig
from nemo import lightning as nl
from nemo.collections import llm
from nemo.collections.common.tokenizers import AutoTokenizer
from nemo.collections.llm.recipes.precision.mixed_precision import bf16_mixed
from nemo.lightning.pytorch.callbacks.megatron_comm_overlap import MegatronCommOverlapCallback
from nemo.utils.exp_manager import TimingCallback

SEQ = 8192
OUT = "/results/l3-70b"


def model() -> run.Config:
    return run.Config(
        llm.LlamaModel,
        config=run.Config(llm.Llama3Config70B, seq_length=SEQ),
    )


def strategy() -> run.Config:
    return run.Config(
        nl.MegatronStrategy,
        tensor_model_parallel_size=4,
        pipeline_model_parallel_size=4,
        virtual_pipeline_model_parallel_size=5,
        context_parallel_size=2,
        sequence_parallel=True,
        pipeline_dtype=torch.bfloat16,
        gradient_as_bucket_view=True,
        ckpt_async_save=True,
        ckpt_parallel_load=True,
        ddp=run.Config(
            DistributedDataParallelConfig,
            check_for_nan_in_grad=True,
            grad_reduce_in_fp32=True,
            overlap_grad_reduce=True,
            overlap_param_gather=True,
            average_in_collective=True,
        ),
    )


def trainer(nodes: int = 4, gpus: int = 8) -> run.Config:
    return run.Config(
        nl.Trainer,
        accelerator="gpu",
        accumulate_grad_batches=1,
        devices=gpus,
        num_nodes=nodes,
        strategy=strategy(),
        plugins=bf16_mixed(),
        callbacks=[
            run.Config(TimingCallback),
            run.Config(MegatronCommOverlapCallback, tp_comm_overlap=True),
        ],
        max_steps=300_000,
        val_check_interval=2000,
        limit_val_batches=16,
        log_every_n_steps=10,
        num_sanity_val_steps=0,
        use_distributed_sampler=False,
    )


def data() -> run.Config:
    return run.Config(
        llm.PreTrainingDataModule,
        paths=["/data/dclm/part0_text_document", "/data/dclm/part1_text_document"],
        seq_length=SEQ,
        micro_batch_size=1,
        global_batch_size=256,
        tokenizer=run.Config(AutoTokenizer, pretrained_model_name="meta-llama/Meta-Llama-3-70B"),
        split="999,1,0",
        num_workers=8,
    )


def optim() -> run.Config:
    return run.Config(
        nl.MegatronOptimizerModule,
        config=run.Config(
            OptimizerConfig,
            optimizer="adam",
            lr=1.5e-4,
            weight_decay=0.1,
            adam_beta1=0.9,
            adam_beta2=0.95,
            adam_eps=1e-8,
            clip_grad=1.0,
            bf16=True,
            use_distributed_optimizer=True,
        ),
        lr_scheduler=run.Config(
            nl.lr_scheduler.CosineAnnealingScheduler,
            warmup_steps=2000,
            constant_steps=0,
            min_lr=1.5e-5,
        ),
    )


def executor(nodes: int) -> run.SlurmExecutor:
    return run.SlurmExecutor(
        account="fm",
        partition="batch",
        time="4-00:00:00",
        nodes=nodes,
        ntasks_per_node=8,
        gres="gpu:h100:8",
        mem="0",
        exclusive=True,
        container_image="nvcr.io/nvidia/nemo:25.04",
        container_mounts=["/lustre/data:/data", "/lustre/results:/results"],
        env_vars={"TORCH_NCCL_AVOID_RECORD_STREAMS": "1", "NCCL_NVLS_ENABLE": "0"},
        tunnel=run.LocalTunnel(job_dir="/lustre/results/nemo_run"),
    )


def main():
    nodes = 16
    recipe = run.Partial(
        llm.pretrain,
        model=model(),
        trainer=trainer(nodes=nodes),
        data=data(),
        optim=optim(),
        log=run.Config(
            nl.NeMoLogger,
            name="l3-70b",
            log_dir=OUT,
            ckpt=run.Config(nl.ModelCheckpoint, save_last=True, save_top_k=3, every_n_train_steps=500,
                            monitor="reduced_train_loss"),
        ),
        resume=run.Config(nl.AutoResume, resume_if_exists=True, resume_ignore_no_checkpoint=True),
    )
    with run.Experiment("l3-70b") as exp:
        exp.add(recipe, executor=executor(nodes), name="pretrain")
        exp.run(detach=True)


if __name__ == "__main__":
    main()
