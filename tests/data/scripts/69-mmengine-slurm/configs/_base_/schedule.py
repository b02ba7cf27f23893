optim_wrapper = dict(optimizer=dict(type='AdamW', lr=5e-4, weight_decay=0.05), clip_grad=dict(max_norm=5.0))
train_cfg = dict(by_epoch=True, max_epochs=300, val_interval=1)
val_cfg = dict()
auto_scale_lr = dict(base_batch_size=1024)
