# stands before the library of that name where the folder is on the path
open("made-by-shadowing", "w").close()
