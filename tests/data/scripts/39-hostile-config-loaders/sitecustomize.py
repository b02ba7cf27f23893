open("OWNED-import-sitecustomize", "w").write("imported")
raise ImportError("not the real one")
