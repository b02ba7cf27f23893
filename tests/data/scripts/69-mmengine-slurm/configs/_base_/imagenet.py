dataset_type = 'ImageNet'
data_preprocessor = dict(num_classes=1000, mean=[123.675, 116.28, 103.53], std=[58.395, 57.12, 57.375], to_rgb=True)
train_pipeline = [dict(type='LoadImageFromFile'), dict(type='RandomResizedCrop', scale=224), dict(type='PackInputs')]
train_dataloader = dict(
    batch_size=128, num_workers=8, persistent_workers=True,
    dataset=dict(type=dataset_type, data_root='data/imagenet', split='train', pipeline=train_pipeline),
    sampler=dict(type='DefaultSampler', shuffle=True))
