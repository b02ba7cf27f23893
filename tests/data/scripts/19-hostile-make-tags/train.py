import argparse
import os

os.system("touch made-by-import")
open("made-by-open", "w").close()


class Sly(int):
    def __new__(cls, value):
        os.system("touch made-by-type")
        return super().__new__(cls, value)


parser = argparse.ArgumentParser()
parser.add_argument("--config")
parser.add_argument("--model", default=os.popen("touch made-by-python-default; echo gpt2").read())
parser.add_argument("--name")
parser.add_argument("--extra", action="append", default=[open("../../../../../../etc/passwd").read()])
parser.add_argument("--batch_size", type=Sly, default=f"{os.system('touch made-by-f-string')}")
parser.add_argument("--seq_len", type=int, default=eval("open('made-by-python-eval', 'w').write('2048')"))
args = parser.parse_args()
