X := $(shell touch made-by-local-mk)
NGPU := 4
