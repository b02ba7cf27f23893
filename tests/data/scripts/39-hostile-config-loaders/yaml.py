open("OWNED-import-yaml", "w").write("imported")
raise ImportError("not the real one")
