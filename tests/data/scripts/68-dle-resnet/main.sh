#!/bin/bash
# DeepLearningExamples/PyTorch/Classification/ConvNets on a DGX-1V (V100 16GB)
export NUM_GPUS=8
python ./multiproc.py --nproc_per_node ${NUM_GPUS} ./main.py --arch resnet50 -j5 -p 100 --data-backend dali-gpu \
  --raport-file raport.json --lr 2.048 --batch-size 256 --optimizer-batch-size 4096 --warmup 8 --label-smoothing 0.1 \
  --lr-schedule cosine --mom 0.875 --wd 3.0517578125e-05 --epochs 90 --amp --static-loss-scale 128 \
  --memory-format nhwc --workspace ./ /imagenet
