/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ucx.c - the micro-benchmarks of two ranks over UCX's ucp, which MPIs are built on.
 *
 *   ucx pair MILLISECONDS                    active messages, and accesses to mapped memory
 *   ucx messages MILLISECONDS PID PID        active messages between these processes' networks
 *   ucx sizes MILLISECONDS PID PID BYTES...  round trips and streams of messages of those sizes
 *   ucx puts MILLISECONDS PID PID BYTES...   puts, each complete at the target, by one and by both
 *
 * A PID of 0 is for the network in which this is started.
 * The two processes are a parent and its child; they tell each other their addresses through a
 * page that they share.
 */
#define _GNU_SOURCE /* sched_setaffinity, setns */
#include "../micro/measure.h"
#include "../micro/network.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

enum { WORDS = 4, BURST = 4096, OBJECTS = 2048, REQUEST = 1, REPLY = 2, TOLD = 4096 };
enum { LONGEST = 1 << 20, STREAMS = 16, TAG = 1 };

static struct shared {
    struct blob {
        size_t length;
        char bytes[TOLD];
    } address[2], key[2];
    char *objects[2]; /* mapped memory of each */
    double told;
    int arrived;
} * shared;

static int side; /* 0 measures */
static int meetings;
static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h peer;
static ucp_rkey_h key;
static long requests, replies;
static const ucp_request_param_t plain;

static void need(ucs_status_t status, const char *what)
{
    if (status == UCS_OK)
        return;
    fprintf(stderr, "ucx: %s: %s\n", what, ucs_status_string(status));
    exit(1);
}

/* Wait for the other process, without messages but serving them. */
static void meet(void)
{
    __atomic_add_fetch(&shared->arrived, 1, __ATOMIC_ACQ_REL);
    meetings++;
    while (__atomic_load_n(&shared->arrived, __ATOMIC_ACQUIRE) < 2 * meetings)
        if (!worker || ucp_worker_progress(worker) == 0)
            sched_yield();
}

static double share(double mine)
{
    if (side == 0)
        shared->told = mine;
    meet();
    mine = shared->told;
    meet();
    return mine;
}

static void complete(ucs_status_ptr_t request)
{
    ucs_status_t status = UCS_PTR_STATUS(request);

    if (!UCS_PTR_IS_PTR(request)) {
        need(status, "an operation");
        return;
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
        ucp_worker_progress(worker);
    ucp_request_free(request);
    need(status, "an operation");
}

/* ---- active messages --------------------------------------------------------------------- */

static void send_words(unsigned id)
{
    static const long words[WORDS];

    complete(ucp_am_send_nbx(peer, id, NULL, 0, words, sizeof words, &plain));
}

static ucs_status_t on_request(void *arg, const void *header, size_t header_length, void *data,
                               size_t length, const ucp_am_recv_param_t *param)
{
    requests++;
    return UCS_OK;
}

static ucs_status_t on_reply(void *arg, const void *header, size_t header_length, void *data,
                             size_t length, const ucp_am_recv_param_t *param)
{
    replies++;
    return UCS_OK;
}

static void handle(unsigned id, ucp_am_recv_callback_t function)
{
    const ucp_am_handler_param_t param = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                                                        UCP_AM_HANDLER_PARAM_FIELD_CB,
                                          .id = id,
                                          .cb = function};

    need(ucp_worker_set_am_recv_handler(worker, &param), "a handler");
}

static void await(long *count, long value)
{
    while (*count < value)
        ucp_worker_progress(worker);
    *count -= value;
}

static double round_trips(long n)
{
    double start;

    meet();
    start = now_ns();
    for (long i = 0; i < n; i++) {
        if (side == 0) {
            send_words(REQUEST);
            await(&replies, 1);
        } else {
            await(&requests, 1);
            send_words(REPLY);
        }
    }
    return now_ns() - start;
}

static double one_way(long n)
{
    double start;

    meet();
    start = now_ns();
    for (long burst = 0; burst < n; burst++) {
        if (side == 0) {
            for (int i = 0; i < BURST; i++)
                send_words(REQUEST);
            await(&replies, 1);
        } else {
            await(&requests, BURST);
            send_words(REPLY);
        }
    }
    return now_ns() - start;
}

/* ---- messages of any size ----------------------------------------------------------------- */

static char landing[LONGEST];
static long bytes;

static ucs_status_ptr_t begin_send(size_t n)
{
    return ucp_tag_send_nbx(peer, landing, n, TAG, &plain);
}

static ucs_status_ptr_t begin_receive(size_t n)
{
    return ucp_tag_recv_nbx(worker, landing, n, TAG, UINT64_MAX, &plain);
}

static double long_round_trips(long n)
{
    double start;

    meet();
    start = now_ns();
    for (long i = 0; i < n; i++) {
        if (side == 0)
            complete(begin_send(bytes));
        complete(begin_receive(bytes));
        if (side == 1)
            complete(begin_send(bytes));
    }
    return now_ns() - start;
}

/* Several are on their way at once. */
static double stream(long n)
{
    ucs_status_ptr_t request[STREAMS] = {NULL};
    double start;

    meet();
    start = now_ns();
    for (long i = 0; i < n; i++) {
        complete(request[i % STREAMS]);
        request[i % STREAMS] = side == 0 ? begin_send(bytes) : begin_receive(bytes);
    }
    for (int i = 0; i < STREAMS; i++)
        complete(request[i]);
    complete(side == 0 ? begin_receive(sizeof(long)) : begin_send(sizeof(long)));
    return now_ns() - start;
}

static void measure_sizes(const struct team *team, const char *prefix, batch_fn *batch, char **size)
{
    char metric[64];

    for (; *size; size++) {
        bytes = atol(*size);
        snprintf(metric, sizeof metric, "%s_%ld", prefix, bytes);
        measure(team, metric, 1, batch, NULL);
    }
}

/* ---- one-sided ------------------------------------------------------------------------------ */

static uint64_t there(long i)
{
    return (uint64_t)shared->objects[!side] + (uint64_t)i * 8;
}

static void flush(void)
{
    complete(ucp_ep_flush_nbx(peer, &plain));
}

static double reads(long n)
{
    double start = now_ns();
    long value;

    for (; n > 0; n--)
        for (long i = 0; i < OBJECTS; i++)
            complete(ucp_get_nbx(peer, &value, 8, there(i), key, &plain));
    return now_ns() - start;
}

static double writes(long n)
{
    double start = now_ns();

    for (; n > 0; n--)
        for (long i = 0; i < OBJECTS; i++) {
            complete(ucp_put_nbx(peer, &i, 8, there(i), key, &plain));
            flush();
        }
    return now_ns() - start;
}

static double put_all(long n)
{
    double start = now_ns();

    for (; n > 0; n--) {
        for (long i = 0; i < OBJECTS; i++)
            complete(ucp_put_nbx(peer, &i, 8, there(i), key, &plain));
        flush();
    }
    return now_ns() - start;
}

static void map_objects(size_t length)
{
    const ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                                       UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                         .length = length,
                                         .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    struct blob *mine = &shared->key[side];
    ucp_mem_h memory;
    void *packed;

    need(ucp_mem_map(context, &params, &memory), "memory");
    need(ucp_mem_query(memory, &attr), "memory");
    need(ucp_rkey_pack(context, memory, &packed, &mine->length), "a key");
    if (mine->length > TOLD)
        need(UCS_ERR_BUFFER_TOO_SMALL, "a key");
    memset(attr.address, 0, length);
    shared->objects[side] = attr.address;
    memcpy(mine->bytes, packed, mine->length);
    ucp_rkey_buffer_release(packed);
    meet();
    need(ucp_ep_rkey_unpack(peer, shared->key[!side].bytes, &key), "the other's key");
}

/* ---- puts that are complete ----------------------------------------------------------------- */

static void put_block(void)
{
    complete(ucp_put_nbx(peer, landing, (size_t)bytes, there(0), key, &plain));
    flush();
}

/* The target waits in meet meanwhile, where it serves puts. */
static double puts_one_way(long n)
{
    double ns;

    meet();
    ns = now_ns();
    for (long i = 0; side == 0 && i < n; i++)
        put_block();
    ns = now_ns() - ns;
    meet();
    return ns;
}

static double puts_both_ways(long n)
{
    double start;

    meet();
    start = now_ns();
    for (long i = 0; i < n; i++)
        put_block();
    meet();
    return now_ns() - start;
}

static void expect_from_other(void)
{
    for (long i = 0; i < bytes; i++)
        if (shared->objects[side][i] != 2 + !side)
            need(UCS_ERR_IO_ERROR, "bytes of a put");
}

static void measure_puts(const struct team *team, char **size)
{
    memset(landing, 2 + side, sizeof landing);
    map_objects(sizeof landing);
    for (; *size; size++) {
        char *one[] = {*size, NULL};

        memset(shared->objects[side], 0, sizeof landing);
        measure_sizes(team, "put", puts_one_way, one);
        if (side == 1)
            expect_from_other();
        measure_sizes(team, "exchange", puts_both_ways, one);
        expect_from_other();
    }
}

/* ---- two processes ------------------------------------------------------------------------ */

static void tell_address(void)
{
    struct blob *mine = &shared->address[side];
    ucp_address_t *address;
    size_t length;

    need(ucp_worker_get_address(worker, &address, &length), "our address");
    if (length > TOLD)
        need(UCS_ERR_BUFFER_TOO_SMALL, "our address");
    mine->length = length;
    memcpy(mine->bytes, address, length);
    ucp_worker_release_address(worker, address);
}

static void connect_both(void)
{
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                 .features = UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_TAG};
    const ucp_worker_params_t single = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                        .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_ep_params_t to = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};

    need(ucp_init(&params, NULL, &context), "context");
    need(ucp_worker_create(context, &single, &worker), "worker");
    handle(REQUEST, on_request);
    handle(REPLY, on_reply);
    tell_address();
    meet();
    to.address = (const ucp_address_t *)shared->address[!side].bytes;
    need(ucp_ep_create(worker, &to, &peer), "endpoint");
    meet();
}

static void pin(int number)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(number, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void run_side(double budget, char **argv)
{
    const char *mode = argv[1];
    struct team team = {.measures = side == 0, .share = share, .budget_ns = budget};
    struct team alone = {.measures = side == 0, .alone = 1, .share = share, .budget_ns = budget};

    connect_both();
    if (strcmp(mode, "sizes") == 0) {
        measure_sizes(&team, "round_trip", long_round_trips, argv + 5);
        measure_sizes(&team, "stream", stream, argv + 5);
    } else if (strcmp(mode, "puts") == 0) {
        measure_puts(&team, argv + 5);
    } else {
        measure(&team, "am_round_trip", 1, round_trips, NULL);
        measure(&team, "am_one_way", BURST, one_way, NULL);
    }
    if (strcmp(mode, "pair") == 0) {
        map_objects(OBJECTS * 8);
        measure(&alone, "read", OBJECTS, reads, NULL);
        measure(&alone, "write", OBJECTS, writes, NULL);
        measure(&alone, "put", OBJECTS, put_all, NULL);
    }
    meet();
}

static void check_arguments(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[1] : "";

    if ((strcmp(mode, "pair") == 0 && argc == 3) || (strcmp(mode, "messages") == 0 && argc == 5) ||
        ((strcmp(mode, "sizes") == 0 || strcmp(mode, "puts") == 0) && argc > 5))
        return;
    fprintf(stderr, "usage: ucx pair MS | messages MS PID PID | sizes|puts MS PID PID BYTES...\n");
    exit(2);
}

int main(int argc, char **argv)
{
    double budget;
    pid_t other;
    int status;

    check_arguments(argc, argv);
    budget = budget_of(argv[2]);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        need(UCS_ERR_NO_MEMORY, "shared page");
    other = fork();
    if (other < 0)
        need(UCS_ERR_NO_RESOURCE, "fork");
    side = other == 0;
    if (side == 1)
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody is left to wait for */
    if (argc > 3)
        enter_network(argv[3 + side]);
    pin(side);
    run_side(budget, argv);
    fflush(stdout);
    if (side == 1)
        _exit(0);
    return waitpid(other, &status, 0) == other && status == 0 ? 0 : 1;
}
