#!/bin/bash
export WANDB_DISABLED=true
cd "${NEOX:-.}"
# deepy.py adds the .yml itself when it is left away
python ./deepy.py train.py -d configs 2b8.yml site.yml
