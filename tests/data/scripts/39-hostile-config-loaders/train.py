open("OWNED-train", "w").write("started")
