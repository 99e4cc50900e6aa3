// flags: -std=c99
%:include <stdio.h>
%:define CAT(a, b) a%:%:b

int main(void)
<%
    int a<:3:> = <%1, 2, 3%>, b = 5, *p = &b;
    int CAT(x, y) = a<:1:>;
    b = b+++a[0];
    b = a[2]-- - --a[1];
    b=-*p;b=+ +b;b=- -b;
    int q = b/ *p, r = a[0]?b:a[1]?q:-1;
    ??<
        r = r ??' 1;
    ??>
    printf("%d %d %d %d %d\n", b, xy, q, r, 1?2:-3);
    return (1, 2, 3);
%>
