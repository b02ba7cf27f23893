NAME := yi-6b
