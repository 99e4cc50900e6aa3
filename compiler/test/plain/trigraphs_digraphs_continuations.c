// SPDX-License-Identifier: BSD-3-Clause
// flags: -trigraphs
%:include <stdio.h>
%:define CAT(a, b) a%:%:b
??=define TWO 2

int main(void)
<%
    int a<:3:> = <% 1, TWO, 3 %>, lo\
ng_name = 4;
    in\
t n = a<:1:> ??! 4;
    printf("??/n%d %d ??(\
%s\n", n, CAT(long_, name), "x");
    return a??(2??) // comment continued \
       + 1000;
    ;
%>
