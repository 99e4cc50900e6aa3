// SPDX-License-Identifier: BSD-3-Clause
#include "source.h"

#include <algorithm>
#include <iterator>
#include <random>

namespace {

const char head[] = R"(#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <split-c/split-c.h>
)";

const char tail[] = R"(
int splitc_main(int argc, char **argv)
{
    return argc > 1 ? atoi(argv[1]) : 0;
}
)";

// In each, @ is the number of the variation and $ some small number.
const char *const parts[] = {
    // a list
    R"(
struct item@ {
    struct item@ *next;
    long key;
    double weight[$];
    char name[$];
};

static struct item@ *find_item@(struct item@ *list, long key)
{
    for (; list != NULL; list = list->next)
        if (list->key == key)
            return list;
    return NULL;
}

int insert_item@(struct item@ **list, long key, const char *name)
{
    struct item@ *made, **at = list;

    if (find_item@(*list, key) != NULL)
        return -$;
    made = malloc(sizeof *made);
    if (made == NULL)
        return -1;
    memset(made, 0, sizeof *made);
    made->key = key;
    strncpy(made->name, name, sizeof made->name - 1);
    while (*at != NULL && (*at)->key < key)
        at = &(*at)->next;
    made->next = *at;
    *at = made;
    return 0;
}

double total_weight@(const struct item@ *list)
{
    double sum = 0.$;
    size_t i;

    for (; list; list = list->next)
        for (i = 0; i < sizeof list->weight / sizeof list->weight[0]; i++)
            sum += list->key % $ == 0 ? list->weight[i] : -list->weight[i] / $;
    return sum;
}
)",
    // a list whose items may be anywhere
    R"(
typedef struct cell@ *global cell_ptr@;
struct cell@ {
    cell_ptr@ next;
    int value, marks[$];
    unsigned dirty : 1, age : 7;
};

static struct cell@ *spread heads@;

void make_heads@(void)
{
    heads@ = all_spread_malloc(PROCS * $, sizeof(struct cell@));
    barrier();
}

int visit_cells@(cell_ptr@ at, int limit)
{
    int seen = 0, sum = 0;

    while (at != NULL && seen < limit) {
        struct cell@ here = *at;
        sum += here.value * $;
        if (here.value > limit) {
            at->marks[$ % (sizeof here.marks / sizeof here.marks[0])] += 1;
            at->dirty = 1;
        }
        at = here.next;
        seen++;
    }
    return sum;
}

void link_cells@(int count)
{
    for (int i = MYPROC; i < count; i += PROCS) {
        struct cell@ *mine = tolocal(heads@ + i);
        mine->next = i + 1 < count ? (cell_ptr@)(heads@ + i + 1) : NULL;
        mine->value = i * $ + MYPROC;
    }
    barrier();
}
)",
    // a stencil on a spread array
    R"(
enum { WIDTH@ = 4 + $ };
static double field@[PROCS * $]::[WIDTH@];

double smooth@(const double *source, int steps)
{
    double left[WIDTH@], *here = (double *)tolocal(field@[MYPROC]), change = 0;
    int i, step, from = (MYPROC + PROCS - 1) % PROCS;

    for (step = 0; step < steps; step++) {
        for (i = 0; i < WIDTH@; i++)
            left[i] := field@[from][i];
        sync();
        change = 0;
        for (i = 1; i < WIDTH@; i++) {
            double was = here[i];
            here[i] = (left[i] + left[i - 1] + $ * was + source[i]) / ($ + 3.0);
            change += fabs(here[i] - was);
        }
        barrier();
        if (all_reduce_to_all_dadd(change) < 1e-$)
            break;
    }
    return change;
}
)",
    // a tokenizer
    R"(
enum token@ { END@, WORD@, NUMBER@, STRING@, OPEN@, CLOSE@, OTHER@ };

static enum token@ next_token@(const char **text, char *out, size_t room)
{
    const char *s = *text;
    size_t length = 0;
    enum token@ kind = OTHER@;

    while (*s == ' ' || *s == '\t' || *s == '\n')
        s++;
    switch (*s) {
    case '\0':
        kind = END@;
        break;
    case '(':
    case '[':
        kind = OPEN@, s++;
        break;
    case ')':
    case ']':
        kind = CLOSE@, s++;
        break;
    case '"':
        for (s++; *s && *s != '"'; s++)
            if (length + 1 < room)
                out[length++] = *s == '\\' && s[1] ? *++s : *s;
        kind = *s ? STRING@ : END@;
        s += *s != '\0';
        break;
    case '0' ... '9':
        for (; *s >= '0' && *s <= '9'; s++)
            if (length + 1 < room)
                out[length++] = *s;
        kind = NUMBER@;
        break;
    default:
        for (; (*s | 32) >= 'a' && (*s | 32) <= 'z'; s++)
            if (length + 1 < room)
                out[length++] = *s;
        kind = length ? WORD@ : OTHER@;
        s += length == 0;
    }
    out[length] = '\0';
    *text = s;
    return kind;
}

int count_tokens@(const char *text, int counts[OTHER@ + 1])
{
    char word[$ + 8];
    enum token@ kind;
    int all = 0;

    while ((kind = next_token@(&text, word, sizeof word)) != END@) {
        counts[kind]++;
        if (++all > 1000 * $)
            fprintf(stderr, "more than %d tokens, the last is '%s'\n", 1000 * $, word);
    }
    return all;
}
)",
    // blocks of a matrix
    R"(
static void add_product@(int n, double c[n][n], double a[n][n], double b[n][n])
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i][j] += a[i][k] * b[k][j] * $;
}

void multiply@(int v, int n, double C[v][v]::[n][n], double A[v][v]::[n][n],
               double B[v][v]::[n][n])
{
    double a[n][n], b[n][n];

    for (int i = 0; i < v; i++)
        for (int j = 0; j < v; j++) {
            double (*c)[n] = tolocal(C[i][j]);
            if ((i * v + j) % PROCS != MYPROC)
                continue;
            for (int k = 0; k < v; k++) {
                bulk_get(a, A[i][k], sizeof a);
                bulk_get(b, B[k][j], sizeof b);
                sync();
                add_product@(n, c, a, b);
            }
        }
    barrier();
}

double trace@(int v, int n, double A[v][v]::[n][n])
{
    double sum = 0;

    for (int i = 0; i < v; i++)
        for (int k = 0; k < n; k++)
            sum += A[i][i][k][k];
    return sum / ($ + v);
}
)",
    // sorting
    R"(
static int less@(const void *a, const void *b)
{
    const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return x < y ? -1 : x > y;
}

static long part@(unsigned *keys, long n)
{
    unsigned pivot = keys[n / 2], kept;
    long i = -1, j = n;

    for (;;) {
        do
            i++;
        while (keys[i] < pivot);
        do
            j--;
        while (keys[j] > pivot);
        if (i >= j)
            return j + 1;
        kept = keys[i], keys[i] = keys[j], keys[j] = kept;
    }
}

void sort_keys@(unsigned *keys, long n)
{
    while (n > $ + 8) {
        long middle = part@(keys, n);
        sort_keys@(keys, middle);
        keys += middle, n -= middle;
    }
    qsort(keys, (size_t)n, sizeof *keys, less@);
}

int is_sorted@(const unsigned *keys, long n)
{
    for (long i = 1; i < n; i++)
        if (keys[i - 1] > keys[i])
            return 0;
    return 1;
}
)",
    // a histogram by stores
    R"(
static long counts@[$ * PROCS]::;
static unsigned arrived@[$ * 64];

void histogram@(const unsigned *keys, long n)
{
    long *here, i, buckets = $ * PROCS;

    here = calloc((size_t)buckets, sizeof *here);
    for (i = 0; i < n; i++)
        here[keys[i] >> $ & 1023 & (buckets - 1)]++;
    for (i = 0; i < buckets; i++)
        if (here[i] != 0)
            fetch_add_l(&counts@[i], here[i]);
    barrier();
    free(here);
}

void scatter@(const unsigned *keys, long n)
{
    for (long i = 0; i < n; i++) {
        int to = (int)(keys[i] % (unsigned)PROCS);
        unsigned *global there = toglobal(to, &arrived@[i % ($ * 64)]);
        *there :- keys[i];
    }
    all_store_sync();
    on_one printf("%d: %u\n", MYPROC, arrived@[0]);
}
)",
    // tables and functions by number
    R"(
struct rule@ {
    const char *name;
    int (*apply)(int, int);
    int priority, flags[3];
};

static int first_rule@(int a, int b) { return a * $ + b; }
static int second_rule@(int a, int b) { return (a ^ b) >> ($ & 7); }
static int third_rule@(int a, int b) { return b ? a / b + a % b : ~a; }

static const struct rule@ rules@[] = {
    {"first", first_rule@, $, {1, 2, $}},
    {.name = "second", .apply = second_rule@, .priority = 2 * $ + 1, .flags = {[2] = $}},
    {.name = "third", .apply = third_rule@, .flags[1] = 'x'},
};

int apply_rules@(const char *name, int a, int b)
{
    int best = -1, result = 0;

    for (size_t i = 0; i < sizeof rules@ / sizeof *rules@; i++) {
        const struct rule@ *rule = &rules@[i];
        if (name && strcmp(rule->name, name) != 0)
            continue;
        if (rule->priority > best || (rule->flags[2] & 1)) {
            best = rule->priority;
            result = rule->apply(a, b) + rule->flags[0];
        }
    }
    return result;
}
)",
    // bits
    R"(
static unsigned table@[256];

static void fill_table@(void)
{
    for (unsigned i = 0; i < 256; i++) {
        unsigned c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xEDB88320u ^ (c >> 1) ^ $u : c >> 1;
        table@[i] = c;
    }
}

unsigned checksum@(const unsigned char *bytes, size_t n)
{
    unsigned c = ~0u;

    if (table@[1] == 0)
        fill_table@();
    while (n-- > 0)
        c = table@[(c ^ *bytes++) & 0xFF] ^ (c >> 8);
    return ~c;
}

unsigned long mix@(unsigned long x)
{
    union {
        unsigned long whole;
        unsigned short part[4];
        struct {
            unsigned low : 12, : 4, high : 16;
        } bits;
    } u = {.whole = x * $ + 0x9E3779B97F4A7C15ul};

    u.part[0] ^= u.part[3] + $;
    u.bits.low += u.bits.high << ($ & 3);
    return (u.whole << 31 | u.whole >> 33) * ($ | 1);
}
)",
    // numbers that all take part in
    R"(
typedef struct {
    double mean, variance, least, most;
    long n;
} summary@;

summary@ summarize@(const double *x, long n)
{
    summary@ s = {0};
    double sum = 0, squares = 0, least = HUGE_VAL, most = -HUGE_VAL;

    for (long i = 0; i < n; i++) {
        sum += x[i], squares += x[i] * x[i];
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    s.n = all_reduce_to_all_add((int)n);
    sum = all_reduce_to_all_dadd(sum);
    squares = all_reduce_to_all_dadd(squares);
    s.least = all_reduce_to_all_dmin(least);
    s.most = all_reduce_to_all_dmax(most);
    if (s.n > $) {
        s.mean = sum / s.n;
        s.variance = squares / s.n - s.mean * s.mean;
    }
    return s;
}

void print_summary@(const summary@ *s, const char *what)
{
    on_one {
        printf("%-*s %ld numbers, mean %.*g", $, what, s->n, $ % 15, s->mean);
        printf(", deviation %g, from %g to %g\n", sqrt(s->variance), s->least, s->most);
    }
}
)",
};

} // namespace

std::string make_source(long lines)
{
    std::string text = head;
    long made = std::count(text.begin(), text.end(), '\n') + 5;
    std::mt19937 random(1);

    for (size_t number = 1; made < lines; number++) {
        for (const char *c = parts[(number - 1) % std::size(parts)]; *c; c++) {
            if (*c == '@')
                text += std::to_string(number);
            else if (*c == '$')
                text += std::to_string(1 + random() % 30);
            else
                text += *c;
            made += *c == '\n';
        }
    }
    return text + tail;
}
