/* SPDX-License-Identifier: BSD-3-Clause
 *
 * boot.c - the one file of the runtime that knows PMIx.
 */
#include "boot.h"

#include "alone.h"
#include "runtime.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <pmix.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#define KEY_KEY "splitc.key"
#define KEY_DIGITS 32

enum { WAITING = 0, MET = 1 }; /* PMIx's errors are negative */
enum { START_BYTES = 1 << 20 };

static bool launched;          /* a launcher is there, */
static bool by_unetrun;        /* and it is ours */
static pmix_proc_t self;       /* this rank; its nspace names the job */
static pmix_proc_t everybody;  /* all ranks of it */
static pmix_info_t collecting; /* of a fence: all get what each has told */
static int met;                /* WAITING, MET, or a pmix_status_t that is an error */

static void check(pmix_status_t status, const char *what)
{
    if (status != PMIX_SUCCESS)
        splitc_die("cannot join the job: %s: %s", what, PMIx_Error_string(status));
}

/* A fence fails because somebody does not come to it any more. */
static void check_fence(pmix_status_t status)
{
    if (status == PMIX_ERR_PARTIAL_SUCCESS || status == PMIX_ERR_LOST_CONNECTION)
        splitc_other_gone();
    check(status, "PMIx_Fence");
}

/* ---- who we are --------------------------------------------------------------- */

static uint32_t job_number(const char *key)
{
    pmix_proc_t job;
    pmix_value_t *value;
    uint32_t number;

    PMIX_LOAD_PROCID(&job, self.nspace, PMIX_RANK_WILDCARD);
    check(PMIx_Get(&job, key, NULL, 0, &value), key);
    if (value->type != PMIX_UINT32)
        splitc_die("cannot join the job: the launcher gives no number for %s", key);
    number = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return number;
}

static int by_rank(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* PMIx lists them as text, "0,1,4". */
static void read_local_ranks(const char *list, struct splitc_boot *boot)
{
    static uint32_t *local;
    uint32_t n = 0;
    bool found = false;

    local = calloc(boot->local_ranks, sizeof *local);
    if (!local)
        splitc_die("no memory for the list of %u ranks", boot->local_ranks);
    for (const char *at = list; *at && n < boot->local_ranks; n++) {
        char *end;
        unsigned long rank = strtoul(at, &end, 10);

        if (end == at || rank >= boot->ranks || (*end && *end != ','))
            break;
        local[n] = (uint32_t)rank;
        found |= rank == boot->rank;
        at = *end ? end + 1 : end;
    }
    if (n != boot->local_ranks || !found)
        splitc_die("cannot join the job: the launcher lists the %u ranks of this node as \"%s\"",
                   boot->local_ranks, list);
    qsort(local, n, sizeof *local, by_rank);
    boot->local = local;
}

static void find_local_ranks(struct splitc_boot *boot)
{
    pmix_proc_t job;
    pmix_value_t *value;

    PMIX_LOAD_PROCID(&job, self.nspace, PMIX_RANK_WILDCARD);
    check(PMIx_Get(&job, PMIX_LOCAL_PEERS, NULL, 0, &value), PMIX_LOCAL_PEERS);
    if (value->type != PMIX_STRING)
        splitc_die("cannot join the job: the launcher gives no list for %s", PMIX_LOCAL_PEERS);
    read_local_ranks(value->data.string, boot);
    PMIX_VALUE_RELEASE(value);
}

static void *nothing(void *arg)
{
    return arg;
}

/* Where it gets no memory or no thread, PMIx ends the process, or tells much but not why. */
static void try_limits(void)
{
    void *memory = malloc(START_BYTES);
    pthread_t thread;
    int error = memory ? pthread_create(&thread, NULL, nothing, NULL) : ENOMEM;

    free(memory);
    if (error != 0)
        splitc_die("cannot start: there is no %s: %s; raise the limits of memory (ulimit -d, -v) "
                   "and of processes (ulimit -u)",
                   memory ? "thread to be had" : "memory", strerror(error));
    pthread_join(thread, NULL);
}

/* Of this machine, where PMIx meets its server. */
static bool ports_are_left(void)
{
    const struct sockaddr_in any = {.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool left =
        bind(fd, (const struct sockaddr *)&any, sizeof any) == 0 || errno != EADDRINUSE;

    if (fd >= 0)
        close(fd);
    return left;
}

static _Noreturn void launcher_unreachable(void)
{
    if (!ports_are_left())
        splitc_die("cannot reach the launcher: all TCP ports of 127.0.0.1 are in use; end what "
                   "holds them (ss -tanp), or widen net.ipv4.ip_local_port_range (sysctl)");
    splitc_die("cannot reach the launcher that PMIX_NAMESPACE names; start the program under "
               "a launcher that runs, or unset PMIX_NAMESPACE to run it as one rank");
}

/* Who speaks, should we come no further. */
static void read_rank(void)
{
    const char *text = getenv("PMIX_RANK");

    if (text)
        splitc_runtime.rank = (uint32_t)strtoul(text, NULL, 10);
}

static void join_launcher(struct splitc_boot *boot)
{
    pmix_status_t status;

    read_rank();
    try_limits();
    status = PMIx_Init(&self, NULL, 0);
    if (status == PMIX_ERR_UNREACH)
        launcher_unreachable();
    check(status, "PMIx_Init");
    launched = true;
    boot->rank = self.rank;
    boot->ranks = job_number(PMIX_JOB_SIZE);
    boot->local_ranks = job_number(PMIX_LOCAL_SIZE);
    if (boot->ranks == 0 || boot->ranks > GAM_RANKS_MAX || boot->rank >= boot->ranks)
        splitc_die("rank %u of %u: a job has 1 to %u ranks", boot->rank, boot->ranks,
                   GAM_RANKS_MAX);
    if (boot->local_ranks == 0 || boot->local_ranks > boot->ranks)
        splitc_die("cannot join the job: the launcher says that %u of %u ranks are on this node",
                   boot->local_ranks, boot->ranks);
    find_local_ranks(boot);
}

void splitc_boot_join(struct splitc_boot *boot)
{
    static const uint32_t alone[1] = {0};

    *boot = (struct splitc_boot){.rank = 0, .ranks = 1, .local_ranks = 1, .local = alone};
    if (getenv("PMIX_NAMESPACE"))
        join_launcher(boot);
    else
        splitc_expect_alone();
}

/* ---- telling and asking -------------------------------------------------------- */

static void put(const char *key, const void *bytes, size_t n)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT};

    value.data.bo.bytes = (char *)bytes;
    value.data.bo.size = n;
    check(PMIx_Put(PMIX_GLOBAL, key, &value), "PMIx_Put");
}

/* Errors: -EHOSTUNREACH the rank has told no such thing, or not n bytes. */
static int get(uint32_t rank, const char *key, void *bytes, size_t n)
{
    pmix_proc_t proc;
    pmix_value_t *value;
    int error = -EHOSTUNREACH;

    PMIX_LOAD_PROCID(&proc, self.nspace, rank);
    if (PMIx_Get(&proc, key, NULL, 0, &value) != PMIX_SUCCESS)
        return error;
    if (value->type == PMIX_BYTE_OBJECT && value->data.bo.size == n) {
        memcpy(bytes, value->data.bo.bytes, n);
        error = 0;
    }
    PMIX_VALUE_RELEASE(value);
    return error;
}

void splitc_boot_tell(const char *key, const void *bytes, size_t n)
{
    if (launched)
        put(key, bytes, n);
}

int splitc_boot_ask(uint32_t rank, const char *key, void *bytes, size_t n)
{
    return launched ? get(rank, key, bytes, n) : -EHOSTUNREACH;
}

static void fence(void)
{
    const bool collect = true;

    PMIX_LOAD_PROCID(&everybody, self.nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&collecting, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    check_fence(PMIx_Fence(&everybody, 1, &collecting, 1));
}

/* ---- the key --------------------------------------------------------------------- */

static void make_key(uint64_t key[2])
{
    if (getrandom(key, 2 * sizeof key[0], 0) != 2 * sizeof key[0])
        splitc_die("cannot make the job's key: getrandom: %s", strerror(errno));
}

/* Errors: -EINVAL anything but 32 hexadecimal digits. */
static int read_key(const char *text, uint64_t key[2])
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 0; i < KEY_DIGITS; i++) {
        const char *digit = text[i] ? strchr(digits, tolower((unsigned char)text[i])) : NULL;

        if (!digit)
            return -EINVAL;
        key[i / 16] = key[i / 16] << 4 | (uint64_t)(digit - digits);
    }
    return text[KEY_DIGITS] ? -EINVAL : 0;
}

/* What unetrun gives to its ranks; other launchers give nothing. */
static bool told_key(uint64_t key[2])
{
    const char *text = getenv("SPLITC_JOB_KEY");

    if (text && read_key(text, key) < 0)
        splitc_die("SPLITC_JOB_KEY is not a key of %d hexadecimal digits; "
                   "unset it, the launcher sets it",
                   KEY_DIGITS);
    return text != NULL;
}

static void publish_in_job(uint64_t key[2])
{
    const size_t n = 2 * sizeof key[0];

    by_unetrun = told_key(key);
    if (!by_unetrun && self.rank == 0) {
        make_key(key);
        put(KEY_KEY, key, n);
    }
    check(PMIx_Commit(), "PMIx_Commit");
    fence();
    if (!by_unetrun && self.rank != 0 && get(0, KEY_KEY, key, n) < 0)
        splitc_die("cannot join the job: rank 0 has published no key");
}

void splitc_boot_publish(uint64_t key[2])
{
    if (launched)
        publish_in_job(key);
    else
        make_key(key);
}

/* ---- the end ----------------------------------------------------------------------- */

/* Called by PMIx's own thread. */
static void all_have_come(pmix_status_t status, void *arg)
{
    (void)arg;
    __atomic_store_n(&met, status == PMIX_SUCCESS ? MET : status, __ATOMIC_RELEASE);
}

/* A fence that collects nothing lets the ranks of a node go by themselves under Slurm (22.05), so
 * only unetrun, which keeps them, is spared what everybody has been told already. */
void splitc_boot_meet(void)
{
    const size_t directives = by_unetrun ? 0 : 1;

    if (launched)
        check(PMIx_Fence_nb(&everybody, 1, &collecting, directives, all_have_come, NULL),
              "PMIx_Fence");
    else
        met = MET;
}

bool splitc_boot_met(void)
{
    const int status = __atomic_load_n(&met, __ATOMIC_ACQUIRE);

    if (status != MET && status != WAITING)
        check_fence(status);
    return status == MET;
}

void splitc_boot_leave(void)
{
    if (launched)
        PMIx_Finalize(NULL, 0);
    launched = false;
}
