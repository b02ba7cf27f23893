open("OWNED-import-tomllib", "w").write("imported")
raise ImportError("not the real one")
