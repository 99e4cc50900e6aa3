int VAR(a) = EOF + VAR(lost) + 1;
