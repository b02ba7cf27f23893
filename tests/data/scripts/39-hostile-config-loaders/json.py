open("OWNED-import-json", "w").write("imported")
raise ImportError("not the real one")
