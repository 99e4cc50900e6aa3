/* SPDX-License-Identifier: BSD-3-Clause
 *
 * boot.c - the one file of the runtime that knows PMIx.
 */
#include "boot.h"

#include "runtime.h"

#include <ctype.h>
#include <errno.h>
#include <pmix.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unet/unet.h>

#define ADDRESS_KEY "splitc.address"
#define SECRET_KEY "splitc.secret"

static bool launched;            /* a launcher is there */
static pmix_proc_t self;         /* this rank; its nspace names the job */
static struct unet_address home; /* our own endpoint's */

static void check(pmix_status_t status, const char *what)
{
    if (status != PMIX_SUCCESS)
        splitc_die("cannot join the job: %s: %s", what, PMIx_Error_string(status));
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

static void join_launcher(struct splitc_boot *boot)
{
    pmix_status_t status = PMIx_Init(&self, NULL, 0);

    if (status == PMIX_ERR_UNREACH)
        splitc_die("cannot reach the launcher that PMIX_NAMESPACE names; start the program under "
                   "a launcher that runs, or unset PMIX_NAMESPACE to run it as one rank");
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

static void fence(bool collect)
{
    pmix_proc_t job;
    pmix_info_t info;

    PMIX_LOAD_PROCID(&job, self.nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    check(PMIx_Fence(&job, 1, &info, 1), "PMIx_Fence");
}

/* ---- the secret ------------------------------------------------------------------ */

static uint64_t make_secret(void)
{
    uint64_t secret;

    if (getrandom(&secret, sizeof secret, 0) != sizeof secret)
        splitc_die("cannot make the job's secret: getrandom: %s", strerror(errno));
    return secret;
}

/* Fold hexadecimal digits into 64 bits.  Errors: -EINVAL other characters, or too few digits. */
static int fold_digits(const char *text, uint64_t *secret)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t folded = 0;
    size_t n = 0;

    for (; text[n]; n++) {
        const char *digit = strchr(digits, tolower((unsigned char)text[n]));

        if (!digit)
            return -EINVAL;
        folded = (folded << 4 | folded >> 60) ^ (uint64_t)(digit - digits);
    }
    if (n < 16)
        return -EINVAL;
    *secret = folded;
    return 0;
}

/* What unetrun gives to its ranks; other launchers give nothing. */
static bool told_secret(uint64_t *secret)
{
    const char *text = getenv("SPLITC_JOB_KEY");

    if (text && fold_digits(text, secret) < 0)
        splitc_die("SPLITC_JOB_KEY is not a key of at least 16 hexadecimal digits; "
                   "unset it, the launcher sets it");
    return text != NULL;
}

static uint64_t publish_in_job(const struct unet_address *address)
{
    uint64_t secret = 0;
    bool told = told_secret(&secret);

    put(ADDRESS_KEY, address, sizeof *address);
    if (!told && self.rank == 0) {
        secret = make_secret();
        put(SECRET_KEY, &secret, sizeof secret);
    }
    check(PMIx_Commit(), "PMIx_Commit");
    fence(true);
    if (!told && self.rank != 0 && get(0, SECRET_KEY, &secret, sizeof secret) < 0)
        splitc_die("cannot join the job: rank 0 has published no secret");
    return secret;
}

uint64_t splitc_boot_publish(const struct unet_address *address)
{
    home = *address;
    return launched ? publish_in_job(address) : make_secret();
}

int splitc_boot_resolve(void *arg, uint32_t rank, struct unet_address *address)
{
    struct unet_address told;

    (void)arg;
    if (rank == self.rank) {
        *address = home;
        return 0;
    }
    if (get(rank, ADDRESS_KEY, &told, sizeof told) < 0 || told.length > UNET_ADDRESS_MAX)
        return -EHOSTUNREACH;
    *address = told;
    return 0;
}

/* ---- the end ----------------------------------------------------------------------- */

void splitc_boot_meet(void)
{
    if (launched)
        fence(false);
}

void splitc_boot_leave(void)
{
    if (launched)
        PMIx_Finalize(NULL, 0);
    launched = false;
}
