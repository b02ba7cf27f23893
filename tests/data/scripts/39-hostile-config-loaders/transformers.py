open("OWNED-import-transformers", "w").write("imported")
raise ImportError("not the real one")
