_base_ = ['./_base_/schedule.py', './_base_/imagenet.py']
model = dict(
    type='ImageClassifier',
    backbone=dict(type='SwinTransformer', arch='tiny', img_size=224, drop_path_rate=0.2),
    neck=dict(type='GlobalAveragePooling'),
    head=dict(type='LinearClsHead', num_classes=1000, in_channels=768))
default_scope = 'mmpretrain'
default_hooks = dict(logger=dict(type='LoggerHook', interval=100), checkpoint=dict(type='CheckpointHook', interval=1))
env_cfg = dict(cudnn_benchmark=True, dist_cfg=dict(backend='nccl'))
randomness = dict(seed=None)
