int of_header(int n)
