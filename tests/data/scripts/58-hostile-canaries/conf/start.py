__import__("os").system("touch canary-50")
