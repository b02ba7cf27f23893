include mk/cards.mk # itself
CARDS ?= 2,3,6
