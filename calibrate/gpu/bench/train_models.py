"""The models that train_steps.py trains: their shapes, their parameters counted and, with PyTorch, themselves."""


def transformer(kind, layers, hidden, heads, ffn, vocab, seq, **more):
    """gpt, bert: learned positions, GELU, biases, tied, dropout. llama: rotary, RMSNorm, SwiGLU, no biases, untied."""
    row = dict(kind=kind, layers=layers, hidden=hidden, heads=heads, kv_heads=heads, ffn=ffn, vocab=vocab, seq=seq)
    row.update(more)
    return row


MODELS = {
    "gpt2-124m": transformer("gpt", 12, 768, 12, 3072, 50257, 1024),
    "gpt2-355m": transformer("gpt", 24, 1024, 16, 4096, 50257, 1024),
    "gpt2-774m": transformer("gpt", 36, 1280, 20, 5120, 50257, 1024),
    "gpt2-1.5b": transformer("gpt", 48, 1600, 25, 6400, 50257, 1024),
    "llama-1b": transformer("llama", 22, 2048, 32, 5632, 32000, 2048, kv_heads=4),
    "llama-8b-4layers": transformer("llama", 4, 4096, 32, 14336, 128256, 2048, kv_heads=8),
    "bert-base": transformer("bert", 12, 768, 12, 3072, 30522, 512),
    "bert-large": transformer("bert", 24, 1024, 16, 4096, 30522, 512),
    "vit-b-16": transformer("vit", 12, 768, 12, 3072, 1000, 197, image=224, patch=16),
    "vit-l-16": transformer("vit", 24, 1024, 16, 4096, 1000, 197, image=224, patch=16),
    "resnet-50": dict(kind="resnet", blocks=(3, 4, 6, 3), image=224),
    "resnet-152": dict(kind="resnet", blocks=(3, 8, 36, 3), image=224),
}


def parameter_count(model):
    """From the shapes alone; the models themselves are held against it before they are timed."""
    row = MODELS[model]
    if row["kind"] == "resnet":
        count, width_in = 3 * 64 * 49 + 2 * 64, 64
        for stage, blocks in enumerate(row["blocks"]):
            width = 64 << stage
            for block in range(blocks):
                out = 4 * width
                count += width_in * width + width * width * 9 + width * out + 2 * (2 * width + out)
                count += (width_in * out + 2 * out) if block == 0 else 0
                width_in = out
        return count + width_in * 1000 + 1000
    h, ffn, layers, vocab = row["hidden"], row["ffn"], row["layers"], row["vocab"]
    if row["kind"] == "llama":
        kv = h // row["heads"] * row["kv_heads"]
        return layers * (2 * h * h + 2 * h * kv + 3 * h * ffn + 2 * h) + 2 * vocab * h + h
    block = 4 * h * h + 4 * h + 2 * h * ffn + ffn + h + 4 * h
    if row["kind"] == "gpt":
        return layers * block + vocab * h + row["seq"] * h + 2 * h
    if row["kind"] == "bert":  # embeddings and their norm, the blocks, the head of masked words with tied weights
        return layers * block + (vocab + row["seq"] + 2) * h + 2 * h + h * h + h + 2 * h + vocab
    patches = 3 * row["patch"] ** 2 * h + h
    return layers * block + patches + h + row["seq"] * h + 2 * h + h * vocab + vocab


# ---- Models. Only called once PyTorch is there.

DROPOUT = 0.1  # of GPT-2 and BERT as published: of embeddings and of what joins the residual stream; plain scores too


def build(torch, row, flash):
    """The model of a row; its attention by flash kernels (without dropout, as usual) or operator by operator."""
    nn, functional = torch.nn, torch.nn.functional
    dropout = DROPOUT if row["kind"] in ("gpt", "bert") else 0.0

    def drop():
        return nn.Dropout(dropout) if dropout else nn.Identity()

    def attend_plainly(q, k, v, causal):
        group = q.shape[1] // k.shape[1]
        if group > 1:
            k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)
        if causal:
            scores = scores + scores.new_full(scores.shape[-2:], float("-inf")).triu(1)
        shares = functional.softmax(scores, -1)
        return (functional.dropout(shares, dropout) if dropout else shares) @ v

    def attend(q, k, v, causal):
        if not flash:
            return attend_plainly(q, k, v, causal)
        grouped = q.shape[1] != k.shape[1]
        return functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=grouped)

    class Attention(nn.Module):
        def __init__(self, causal):
            super().__init__()
            h = row["hidden"]
            self.causal, self.heads = causal, row["heads"]
            self.qkv, self.out = nn.Linear(h, 3 * h), nn.Linear(h, h)

        def forward(self, x):
            batch, seq, h = x.shape
            q, k, v = self.qkv(x).view(batch, seq, 3, self.heads, h // self.heads).permute(2, 0, 3, 1, 4)
            return self.out(attend(q, k, v, self.causal).transpose(1, 2).reshape(batch, seq, h))

    class Block(nn.Module):  # GPT-2, BERT and ViT; BERT normalises after, the others before
        def __init__(self, causal, norm_first):
            super().__init__()
            h = row["hidden"]
            self.norm_first, self.attention = norm_first, Attention(causal)
            self.norm1, self.norm2, self.drop = nn.LayerNorm(h), nn.LayerNorm(h), drop()
            self.mlp = nn.Sequential(nn.Linear(h, row["ffn"]), nn.GELU(), nn.Linear(row["ffn"], h))

        def forward(self, x):
            if self.norm_first:
                x = x + self.drop(self.attention(self.norm1(x)))
                return x + self.drop(self.mlp(self.norm2(x)))
            x = self.norm1(x + self.drop(self.attention(x)))
            return self.norm2(x + self.drop(self.mlp(x)))

    class RmsNorm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(row["hidden"]))

        def forward(self, x):
            return functional.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), 1e-5)

    class LlamaBlock(nn.Module):
        def __init__(self):
            super().__init__()
            h, ffn, kv = row["hidden"], row["ffn"], row["hidden"] // row["heads"] * row["kv_heads"]
            linear = lambda a, b: nn.Linear(a, b, bias=False)
            self.q, self.k, self.v, self.out = linear(h, h), linear(h, kv), linear(h, kv), linear(h, h)
            self.gate, self.up, self.down = linear(h, ffn), linear(h, ffn), linear(ffn, h)
            self.norm1, self.norm2 = RmsNorm(), RmsNorm()
            width = h // row["heads"]
            angles = torch.outer(
                torch.arange(row["seq"]).float(), 10000.0 ** (-torch.arange(0, width, 2).float() / width)
            )
            self.register_buffer("cos", angles.cos().repeat(1, 2), persistent=False)
            self.register_buffer("sin", angles.sin().repeat(1, 2), persistent=False)

        def rotate(self, x):
            a, b = x.chunk(2, -1)
            return x * self.cos.to(x.dtype) + torch.cat((-b, a), -1) * self.sin.to(x.dtype)

        def forward(self, x):
            batch, seq, h = x.shape
            y, width = self.norm1(x), h // row["heads"]
            split = lambda z: z.view(batch, seq, -1, width).transpose(1, 2)
            q, k, v = self.rotate(split(self.q(y))), self.rotate(split(self.k(y))), split(self.v(y))
            x = x + self.out(attend(q, k, v, True).transpose(1, 2).reshape(batch, seq, h))
            y = self.norm2(x)
            return x + self.down(functional.silu(self.gate(y)) * self.up(y))

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            kind, h, vocab = row["kind"], row["hidden"], row["vocab"]
            self.kind, self.recompute = kind, False
            make = LlamaBlock if kind == "llama" else lambda: Block(kind == "gpt", kind != "bert")
            self.blocks = nn.ModuleList(make() for _ in range(row["layers"]))
            if kind == "vit":
                self.patches = nn.Conv2d(3, h, row["patch"], row["patch"])
                self.first = nn.Parameter(torch.zeros(1, 1, h))
                self.norm, self.head = nn.LayerNorm(h), nn.Linear(h, vocab)
            else:
                self.words = nn.Embedding(vocab, h)
                nn.init.normal_(self.words.weight, std=0.02)  # as in GPT-2: tied to the head, wider ones overflow FP16
                self.norm = RmsNorm() if kind == "llama" else nn.LayerNorm(h)
                self.head = nn.Linear(h, vocab, bias=kind == "bert")
                if kind != "llama":
                    self.head.weight = self.words.weight
            if kind == "bert":
                self.types, self.dense, self.last_norm = nn.Embedding(2, h), nn.Linear(h, h), nn.LayerNorm(h)
            if kind != "llama":
                self.places = nn.Parameter(0.02 * torch.randn(row["seq"], h))
            self.drop = drop()

        def embed(self, x):
            if self.kind == "vit":
                patches = self.patches(x).flatten(2).transpose(1, 2)
                return torch.cat((self.first.expand(len(x), -1, -1), patches), 1) + self.places
            x = self.words(x)
            if self.kind == "bert":
                return self.drop(self.norm(x + self.places + self.types.weight[0]))
            return x if self.kind == "llama" else self.drop(x + self.places)

        def forward(self, x, target):
            x = self.embed(x)
            for block in self.blocks:
                if self.recompute:
                    x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
                else:
                    x = block(x)
            if self.kind == "bert":
                x = self.last_norm(functional.gelu(self.dense(x)))
            else:
                x = self.norm(x)
            logits = self.head(x[:, 0] if self.kind == "vit" else x)
            return functional.cross_entropy(logits.float().flatten(0, -2), target.flatten())

    class Bottleneck(nn.Module):
        def __init__(self, width_in, width, stride):
            super().__init__()
            out = 4 * width
            conv = lambda a, b, size, step: nn.Conv2d(a, b, size, step, size // 2, bias=False)
            self.path = nn.Sequential(
                conv(width_in, width, 1, 1), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
                conv(width, width, 3, stride), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
                conv(width, out, 1, 1), nn.BatchNorm2d(out),
            )
            first = width_in != out
            self.past = nn.Sequential(conv(width_in, out, 1, stride), nn.BatchNorm2d(out)) if first else nn.Identity()

        def forward(self, x):
            return functional.relu(self.path(x) + self.past(x), inplace=True)

    class ResNet(nn.Module):
        def __init__(self):
            super().__init__()
            parts = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)]
            parts.append(nn.MaxPool2d(3, 2, 1))
            width_in = 64
            for stage, blocks in enumerate(row["blocks"]):
                for block in range(blocks):
                    parts.append(Bottleneck(width_in, 64 << stage, 2 if stage > 0 and block == 0 else 1))
                    width_in = 4 * (64 << stage)
            self.body, self.head = nn.Sequential(*parts), nn.Linear(width_in, 1000)

        def forward(self, x, target):
            return functional.cross_entropy(self.head(self.body(x).mean((2, 3))).float(), target)

    return ResNet() if row["kind"] == "resnet" else Transformer()


def data_for(torch, row, batch, device):
    if row["kind"] in ("resnet", "vit"):
        images = torch.randn(batch, 3, row["image"], row["image"], device=device)
        if row["kind"] == "resnet":
            images = images.contiguous(memory_format=torch.channels_last)
        return images, torch.randint(0, 1000, (batch,), device=device)
    words = torch.randint(0, row["vocab"], (batch, row["seq"]), device=device)
    return words, torch.randint(0, row["vocab"], (batch, row["seq"]), device=device)
