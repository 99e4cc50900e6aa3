// flags: -std=gnu89
// with: parts/undeclared_results.c
#include <split-c/split-c.h>
#include "../check.h"
/* no header of the C library, but for <stdio.h> */

struct node {
    struct node *next;
    int key;
};

uses_before_a_block()
{
    char *text = (char *)said_by_a_block(1);

    return text[0];
}

block_says()
{
    char *said_by_a_block();
    double half();
    struct node *kept_static();
    struct node *n = kept_static(7);

    EXPECT(n->key, 7);
    EXPECT(half(5) == 2.5, 1);
    return said_by_a_block(2)[0];
}

uses_behind_a_block()
{
    struct node *n = kept_static(8);
    double sum = half(3) + half(4);

    EXPECT(n->key, 8);
    EXPECT(sum == 3.5, 1);
    return *said_by_a_block(1);
}

sum_of_two(n, m)
struct node *n, *m;
{
    return n->key + m->key;
}

splitc_main()
{
    struct node *n = (struct node *)make_node(1, 0), *m, *global far;
    int *global numbers;
    long start = 0;
    char line[40], words[8], *text;
    int sum;

    if ((m = (struct node *)make_node(2, n)) == 0)
        splitc_exit(2);
    EXPECT(m->next->key + m->key, 3);
    strcpy(words, "a b");
    text = (char *)strtok(words, " ");
    text = strtok(0, " ");
    EXPECT(text[0], 'b');
    if (getenv("PATH") && getenv("PATH") != NULL)
        text = (char *)getenv("PATH");
    else if (!getenv("PATH"))
        text = "none";
    EXPECT(text != 0 && text[0] != 1, 1);
    m = make_node(3, make_node(4, 0));
    EXPECT(m->next->key, 4);
    m = sum_of_two(m, make_node(5, 0)) == 8 ? make_node(6, 0) : make_node(7, 0);
    EXPECT(m->key, 6);
    far = toglobal(MYPROC, make_node(8, 0));
    EXPECT(far->key, 8);
    far = (struct node *global)malloc(sizeof(struct node)); /* the C compiler knows it */
    far->key = 9;
    numbers = toglobal(MYPROC, malloc(40));
    numbers[3] = far->key;
    EXPECT(((int *)numbers)[3], 9);
    sprintf(line, "%5.1f%% %-*s|%s", 2.5, 5, text_of(1), text_of(0)); /* text to nobody else */
    EXPECT(strcmp(line, "  2.5% one  |none"), 0);
    sprintf(line, "%.3s", asctime(gmtime(&start)));
    EXPECT(strcmp(line, "Thu"), 0);
    sum = minus_one() + 2 * minus_one();
    EXPECT(sum, -3);
    EXPECT(uses_before_a_block() + block_says() + uses_behind_a_block(), 'b' + 'c' + 'b');
    return failures;
}

char *said_by_a_block(i)
{
    return &"abc"[i];
}

double half(i)
{
    return i / 2.0;
}

static struct node *kept_static(i)
{
    return (struct node *)make_node(i, 0);
}
