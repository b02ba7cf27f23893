batch_size = 9 ** 9 ** 9 ** 9
block_size = 1 << (1 << 62)
n_layer = "a" * 10 ** 12
n_head = [0] * 10 ** 11
n_embd = len(list(range(10 ** 15)))
dropout = sum(i for i in iter(int, 1))
vocab = "%0999999999d" % 1
width = f"{1:>2000000000}"
while True:
    gradient_accumulation_steps = batch_size * batch_size
