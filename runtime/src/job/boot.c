/* SPDX-License-Identifier: BSD-3-Clause
 *
 * boot.c - the one file of the runtime that knows PMIx.
 */
#include "boot.h"

#include "alone.h"
#include "observe/observe.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <pmix.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#define KEY_KEY "splitc.key"
#define KEY_DIGITS 32

enum { WAITING = 0, MET = 1 }; /* PMIx's errors are negative */
enum { START_BYTES = 1 << 20 };

static bool launched;          /* by a launcher that speaks PMIx, */
static bool by_unetrun;        /* which is unetrun */
static pmix_proc_t self;       /* this rank; its nspace names the job */
static pmix_proc_t everybody;  /* all ranks of the job */
static pmix_info_t collecting; /* for a fence after which all have what each has told */
static int met;                /* WAITING, MET, or a pmix_status_t that is an error */

static void boot_check(pmix_status_t status, const char *what)
{
    if (status != PMIX_SUCCESS)
        splitc_die("cannot join the job: %s: %s", what, PMIx_Error_string(status));
}

/* A fence fails because a rank has ended before it. */
static void boot_check_fence(pmix_status_t status)
{
    if (status == PMIX_ERR_PARTIAL_SUCCESS || status == PMIX_ERR_LOST_CONNECTION)
        splitc_other_gone();
    boot_check(status, "PMIx_Fence");
}

/* ---- which rank this is --------------------------------------------------------------- */

static uint32_t job_number(const char *key)
{
    pmix_proc_t job;
    pmix_value_t *value;
    uint32_t number;

    PMIX_LOAD_PROCID(&job, self.nspace, PMIX_RANK_WILDCARD);
    boot_check(PMIx_Get(&job, key, NULL, 0, &value), key);
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
    boot_check(PMIx_Get(&job, PMIX_LOCAL_PEERS, NULL, 0, &value), PMIX_LOCAL_PEERS);
    if (value->type != PMIX_STRING)
        splitc_die("cannot join the job: the launcher gives no list for %s", PMIX_LOCAL_PEERS);
    read_local_ranks(value->data.string, boot);
    PMIX_VALUE_RELEASE(value);
}

static void *do_nothing(void *arg)
{
    return arg;
}

/* Without memory, or without a thread, PMIx ends the process or prints much, but not the reason. */
static void try_limits(void)
{
    void *memory = malloc(START_BYTES);
    pthread_t thread;
    int error = memory ? pthread_create(&thread, NULL, do_nothing, NULL) : ENOMEM;

    free(memory);
    if (error != 0)
        splitc_die("cannot start: there is no %s: %s; raise the limits of memory (ulimit -d, -v) "
                   "and of processes (ulimit -u)",
                   memory ? "thread to be had" : "memory", strerror(error));
    pthread_join(thread, NULL);
}

/* Ports of the loopback address, by which PMIx reaches its server. */
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

/* For the errors of what follows. */
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
    boot_check(status, "PMIx_Init");
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

static void boot_put(const char *key, const void *bytes, size_t n)
{
    pmix_value_t value = {.type = PMIX_BYTE_OBJECT};

    value.data.bo.bytes = (char *)bytes;
    value.data.bo.size = n;
    boot_check(PMIx_Put(PMIX_GLOBAL, key, &value), "PMIx_Put");
}

/* Errors: -EHOSTUNREACH the rank has told nothing under that key, or not n bytes. */
static int boot_get(uint32_t rank, const char *key, void *bytes, size_t n)
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
        boot_put(key, bytes, n);
}

int splitc_boot_ask(uint32_t rank, const char *key, void *bytes, size_t n)
{
    return launched ? boot_get(rank, key, bytes, n) : -EHOSTUNREACH;
}

static void boot_fence(void)
{
    const bool collect = true;

    PMIX_LOAD_PROCID(&everybody, self.nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&collecting, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    boot_check_fence(PMIx_Fence(&everybody, 1, &collecting, 1));
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

/* The key that unetrun gives to its ranks; other launchers give none. */
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
        boot_put(KEY_KEY, key, n);
    }
    boot_check(PMIx_Commit(), "PMIx_Commit");
    boot_fence();
    if (!by_unetrun && self.rank != 0 && boot_get(0, KEY_KEY, key, n) < 0)
        splitc_die("cannot join the job: rank 0 has published no key");
}

void splitc_boot_publish(uint64_t key[2])
{
    if (launched)
        publish_in_job(key);
    else
        make_key(key);
}

/* ---- standing still -------------------------------------------------------------------- */

struct errand {
    void (*work)(void *arg);
    void *arg;
    int done;
};

/* Called by PMIx's own thread, which does nothing else until it returns. */
static void boot_run_errand(pmix_status_t status, pmix_value_t *value, void *arg)
{
    struct errand *errand = arg;

    (void)status;
    (void)value;
    errand->work(errand->arg);
    __atomic_store_n(&errand->done, 1, __ATOMIC_RELEASE);
}

/* PMIx looks for what is asked in this process and calls back, whether or not it finds it. */
void splitc_boot_hold(void (*work)(void *arg), void *arg)
{
    struct errand errand = {.work = work, .arg = arg};
    pmix_proc_t job;

    if (!launched) {
        work(arg);
        return;
    }
    PMIX_LOAD_PROCID(&job, self.nspace, PMIX_RANK_WILDCARD);
    boot_check(PMIx_Get_nb(&job, PMIX_JOB_SIZE, NULL, 0, boot_run_errand, &errand), "PMIx_Get_nb");
    while (!__atomic_load_n(&errand.done, __ATOMIC_ACQUIRE))
        sched_yield();
}

/* ---- the end ----------------------------------------------------------------------- */

/* Called by PMIx's own thread. */
static void all_have_come(pmix_status_t status, void *arg)
{
    (void)arg;
    __atomic_store_n(&met, status == PMIX_SUCCESS ? MET : status, __ATOMIC_RELEASE);
}

/* Under Slurm (22.05) a fence that collects nothing does not wait for the ranks of other nodes.  So
 * only under unetrun, which waits for all, the data that all have already is not collected again.
 */
void splitc_boot_meet(void)
{
    const size_t directives = by_unetrun ? 0 : 1;

    if (launched)
        boot_check(PMIx_Fence_nb(&everybody, 1, &collecting, directives, all_have_come, NULL),
                   "PMIx_Fence");
    else
        met = MET;
}

bool splitc_boot_met(void)
{
    const int status = __atomic_load_n(&met, __ATOMIC_ACQUIRE);

    if (status != MET && status != WAITING)
        boot_check_fence(status);
    return status == MET;
}

void splitc_boot_leave(void)
{
    if (launched)
        PMIx_Finalize(NULL, 0);
    launched = false;
}
