#include <split-c/am.h>
#include <split-c/split-c.h>

void none(int source);
void one(int source, am_word a);
void real(int source, am_word a, double d);
void block(int source, void *address, splitc_size n, am_word arg);
void no_source(void);
void structure(int source, union splitc_argument *a, float f);
void unknown();
void old(source, a, p) int source, a; char *p; {}
void old_pointer(source) char *source; {}
void old_real(source, d) int source; double d; {}
void nothing() {}

void f(int dest, void *a, am_handler h)
{
    am_request_0(dest, one);
    am_request_1(dest, none, 1);
    am_request_1(dest, &real, 1);
    am_request_1_df(dest, one, 1, 2.0);
    am_request_2_df(dest, (real), 1, 2, 2.0);
    am_request_medium(dest, one, a, 3, 1);
    am_reply_4(dest, block, 1, 2, 3, 4);
    am_reply_0(dest, no_source);
    am_reply_1_df(dest, structure, 1, 1.0);
    am_reply_medium(dest, none, a, 3, 1);
    am_store(dest, a, a, 8, none, 1);
    am_store_async(dest, a, a, 8, one, 1, 0, 0);
    am_get(dest, a, a, 8, real, 1);
    am_request_0(dest, unknown);
    am_request_1(dest, old, 1);
    am_request_0(dest, old_pointer);
    am_request_2(dest, old_real, 1, 2);
    am_request_2_df(dest, old, 1, 2, 1.0);
    am_request_3(dest, old, 1, 2, 3);
    am_request_2(dest, nothing, 1, 2);
    am_request_2_df(dest, nothing, 1, 2, 1.0);
    am_request_0(dest, h);
    am_request_1(dest, one, 1);
    void inner(int source, am_word a);
    am_request_1(dest, inner, 1);
}
