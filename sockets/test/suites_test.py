print("not run: to be written")
