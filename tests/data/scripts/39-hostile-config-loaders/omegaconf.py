open("OWNED-import-omegaconf", "w").write("imported")
raise ImportError("not the real one")
