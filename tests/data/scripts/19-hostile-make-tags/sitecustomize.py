open("made-by-sitecustomize", "w").close()
