int f(int *global g, double d)
{
	int	a = 1;
	a	= a	+	*g + (g	+ d);
		return	a + wrong;
}
