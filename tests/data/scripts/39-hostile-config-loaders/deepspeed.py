open("OWNED-import-deepspeed", "w").write("imported")
raise ImportError("not the real one")
