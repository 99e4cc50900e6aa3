/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A PMIx client for the tests of unetrun: says who it is, exchanges a card with every
 * other rank, and ends as told:
 *
 *   pmix_client [exit CODE RANK | abort CODE RANK | quit RANK | hang]
 */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In builds with a sanitizer: libpmix 4.2 keeps some bytes of each value it has given. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpmix.so";
}

const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}

static pmix_proc_t me;

static void check(pmix_status_t status, const char *what)
{
    if (status == PMIX_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(status));
    exit(90);
}

static pmix_value_t *get(pmix_rank_t rank, const char *key)
{
    pmix_proc_t process = me;
    pmix_value_t *value = NULL;
    process.rank = rank;
    check(PMIx_Get(&process, key, NULL, 0, &value), key);
    return value;
}

static unsigned number(pmix_rank_t rank, const char *key)
{
    pmix_value_t *value = get(rank, key);
    unsigned n = value->type == PMIX_UINT16 ? value->data.uint16 : value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return n;
}

static void put_card(void)
{
    char card[32];
    pmix_value_t value = {.type = PMIX_STRING, .data.string = card};
    snprintf(card, sizeof card, "card of %u", me.rank);
    check(PMIx_Put(PMIX_GLOBAL, "test.card", &value), "put");
    check(PMIx_Commit(), "commit");
}

/* Collecting or not, the data is there afterwards: in the second case the server
 * asks for it when somebody wants it. */
static void fence(bool collect)
{
    pmix_proc_t all = me;
    pmix_info_t info;
    all.rank = PMIX_RANK_WILDCARD;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    check(PMIx_Fence(&all, 1, &info, 1), "fence");
}

static unsigned cards(unsigned size)
{
    unsigned good = 0;
    for (unsigned rank = 0; rank < size; rank++) {
        char expected[32];
        pmix_value_t *value = get(rank, "test.card");
        snprintf(expected, sizeof expected, "card of %u", rank);
        good += strcmp(value->data.string, expected) == 0;
        PMIX_VALUE_RELEASE(value);
    }
    return good;
}

/* 0: the server does not tell, as Slurm's. */
static unsigned applications(void)
{
    pmix_proc_t job = me;
    pmix_value_t *value = NULL;
    unsigned n = 0;

    job.rank = PMIX_RANK_WILDCARD;
    if (PMIx_Get(&job, PMIX_JOB_NUM_APPS, NULL, 0, &value) != PMIX_SUCCESS)
        return 0;
    n = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return n;
}

static void introduce(unsigned size)
{
    pmix_value_t *peers = get(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);
    pmix_value_t *host = get(me.rank, PMIX_HOSTNAME);
    printf(
        "rank %u of %u, universe %u, local rank %u of %u, node %u of %u, app %u of %u, peers %s, "
        "host %s\n",
        me.rank, size, number(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE), number(me.rank, PMIX_LOCAL_RANK),
        number(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE), number(me.rank, PMIX_NODEID),
        number(PMIX_RANK_WILDCARD, PMIX_NUM_NODES), number(me.rank, PMIX_APPNUM), applications(),
        peers->data.string, *host->data.string ? "named" : "nameless");
    PMIX_VALUE_RELEASE(peers);
    PMIX_VALUE_RELEASE(host);
}

static void end_as_told(char **word)
{
    if (strcmp(word[0], "hang") == 0)
        pause();
    if (strcmp(word[0], "quit") == 0 && me.rank == (unsigned)atoi(word[1]))
        _exit(0);
    if (strcmp(word[0], "exit") == 0 && me.rank == (unsigned)atoi(word[2]))
        _exit(atoi(word[1]));
    if (strcmp(word[0], "abort") == 0 && me.rank == (unsigned)atoi(word[2]))
        PMIx_Abort(atoi(word[1]), "told\nto abort", NULL, 0);
    pause();
}

int main(int argc, char **argv)
{
    check(PMIx_Init(&me, NULL, 0), "init");
    const unsigned size = number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    introduce(size);
    put_card();
    fence(false);
    printf("rank %u got %u cards\n", me.rank, cards(size));
    fence(true);
    fflush(stdout);
    if (argc > 1)
        end_as_told(argv + 1);
    check(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}
