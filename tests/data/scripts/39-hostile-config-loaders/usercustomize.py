open("OWNED-import-usercustomize", "w").write("imported")
raise ImportError("not the real one")
