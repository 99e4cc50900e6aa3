/* SPDX-License-Identifier: BSD-3-Clause
 *
 * atomic_call.c - atomic(fn, object, ...): a function run where an object is.
 *
 * A handler at the owner runs it, which nothing interrupts.  For an object of this rank it is
 * called directly, and no message is served until it returns.  Messages name a function by its
 * index in the table that the program's constructors fill.
 *
 *   request   words                                      answered by
 *   RUN       address|index, cell, up to 16 bytes        ANSWER cell, result
 *   RUN       address|index, cell; the bytes apart       the same
 *   RUN_GET   address|index, to, ... as of RUN           GET_ANSWER to|n, result
 */
#include "access.h"

#include <stdlib.h>

#define RUN_SMALL 16u        /* bytes of arguments beside address and cell */
#define FUNCTIONS_MAX 65536u /* an index has the 16 bits above an address */

static struct splitc_atomic **function;
static uint32_t functions;

void splitc_register_atomic(struct splitc_atomic *fn)
{
    if ((functions & (functions - 1)) == 0) /* the table is full */
        function = realloc(function, (functions ? 2 * functions : 1) * sizeof *function);
    if (!function || functions == FUNCTIONS_MAX)
        splitc_die("cannot register one more call of atomic(): there are %u", functions);
    fn->index = functions;
    function[functions++] = fn;
}

static void atomic_call_run(const struct splitc_atomic *fn, void *object, const void *arguments,
                            void *result)
{
    const char *outer = splitc_runtime.running;

    splitc_runtime.running = fn->name;
    splitc_runtime.running_on = __builtin_frame_address(0);
    fn->run(object, arguments, result);
    splitc_runtime.running = outer;
}

/* The function that a request names, once the request is checked. */
static const struct splitc_atomic *atomic_call_requested(const struct gam_message *m)
{
    size_t index = splitc_packed_size(m->word[0]);
    const struct splitc_atomic *fn;

    splitc_expect(m, index < functions);
    fn = function[index];
    if (m->data)
        splitc_expect(m, m->words == 2 && m->length == fn->arguments_size);
    else
        splitc_expect(m, m->words == 2 + splitc_words(fn->arguments_size) &&
                             fn->arguments_size <= RUN_SMALL);
    return fn;
}

static void atomic_call_answer(struct gam *g, const struct gam_message *m,
                               const struct splitc_atomic *fn, uint32_t handler, uint64_t head)
{
    uint64_t word[GAM_WORDS_MAX] = {head};

    atomic_call_run(fn, splitc_packed_address(m->word[0]), m->data ? m->data : &m->word[2],
                    &word[1]);
    splitc_sent(m->source, gam_reply(g, handler, 1 + splitc_words(fn->result_size), word));
}

void splitc_on_run(struct gam *g, const struct gam_message *m)
{
    atomic_call_answer(g, m, atomic_call_requested(m), SPLITC_MSG_ANSWER, m->word[1]);
}

void splitc_on_run_get(struct gam *g, const struct gam_message *m)
{
    const struct splitc_atomic *fn = atomic_call_requested(m);

    atomic_call_answer(g, m, fn, SPLITC_MSG_GET_ANSWER,
                       m->word[1] | (uint64_t)fn->result_size << SPLITC_ADDRESS_BITS);
}

static void atomic_call_send(uint32_t rank, uint32_t handler, const struct splitc_atomic *fn,
                             uint64_t word[GAM_WORDS_MAX], const void *arguments)
{
    struct gam *g = splitc_runtime.gam;
    size_t n = fn->arguments_size;

    if (n > GAM_MEDIUM_MAX)
        splitc_die("atomic(%s, ...) has %zu bytes of arguments, more than %u; pass large ones "
                   "through a pointer",
                   fn->name, n, GAM_MEDIUM_MAX);
    if (n <= RUN_SMALL) {
        splitc_copy(&word[2], arguments, n);
        splitc_sent(rank, gam_request(g, rank, handler, 2 + splitc_words(n), word));
    } else {
        splitc_sent(rank, gam_request_medium(g, rank, handler, arguments, n, 2, word));
    }
}

/* Whether the object is of this rank, and so the function has run. */
static bool atomic_call_was_here(const struct splitc_atomic *fn, splitc_ptr object,
                                 const void *arguments, void *result)
{
    splitc_check_access(object, 1, true);
    if ((uint32_t)splitc_rank(object) != splitc_runtime.rank || !splitc_address(object))
        return false;
    atomic_call_run(fn, splitc_address(object), arguments, result);
    return true;
}

void splitc_run_atomic(const struct splitc_atomic *fn, splitc_ptr object, const void *arguments,
                       void *result)
{
    SPLITC_INSIDE;
    const uint32_t rank = (uint32_t)splitc_rank(object);
    struct splitc_cell cell = {.to = result, .n = fn->result_size};
    uint64_t word[GAM_WORDS_MAX] = {splitc_pack(splitc_address(object), fn->index),
                                    splitc_cell_word(&cell)};

    if (atomic_call_was_here(fn, object, arguments, result))
        return;
    atomic_call_send(splitc_target(object, fn->name), SPLITC_MSG_RUN, fn, word, arguments);
    splitc_await(&cell.done, fn->name, rank);
}

void splitc_begin_atomic(const struct splitc_atomic *fn, splitc_ptr object, const void *arguments,
                         void *result)
{
    SPLITC_INSIDE;
    uint64_t word[GAM_WORDS_MAX] = {splitc_pack(splitc_address(object), fn->index),
                                    splitc_pack(result, 0)};

    if (atomic_call_was_here(fn, object, arguments, result))
        return;
    splitc_runtime.gets++;
    atomic_call_send(splitc_target(object, fn->name), SPLITC_MSG_RUN_GET, fn, word, arguments);
}
