/* SPDX-License-Identifier: BSD-3-Clause */
#include "caller.h"

#include "observe/observe.h"

#include <unwind.h>

/* The build puts our libraries' code into a section of its own (cmake/ProjectRules.cmake), and the
 * linker names its ends.  Without the section, no address counts as the program's. */
extern const char __start_splitc_text[] __attribute__((weak));
extern const char __stop_splitc_text[] __attribute__((weak));

extern const char __executable_start[], _end[];

bool splitc_image_contains(uint64_t address)
{
    return address >= (uintptr_t)__executable_start && address < (uintptr_t)_end;
}

bool splitc_caller_owns(uint64_t pc)
{
    return __start_splitc_text && splitc_image_contains(pc) &&
           (pc < (uintptr_t)__start_splitc_text || pc >= (uintptr_t)__stop_splitc_text);
}

/* The address of a frame that has called is that of the next instruction; 0: nobody has called. */
static uint64_t frame_instruction(struct _Unwind_Context *frame)
{
    int at_it;
    const uint64_t pc = _Unwind_GetIPInfo(frame, &at_it);

    return pc - (at_it || pc == 0 ? 0 : 1);
}

/* ---- the caller ------------------------------------------------------------------------ */

struct search {
    uint64_t end; /* the search ends at frames from this address on; 0: it does not */
    uint64_t pc;
};

static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *frame, void *found)
{
    struct search *search = found;
    const uint64_t pc = frame_instruction(frame);

    if (search->end && _Unwind_GetCFA(frame) >= search->end)
        return _URC_END_OF_STACK;
    if (!splitc_caller_owns(pc))
        return _URC_NO_REASON;
    search->pc = pc;
    return _URC_END_OF_STACK;
}

/* Whether a handler of the library runs: what it does has nothing to do with the caller, which
 * only waits. */
static bool serves_another(void)
{
    return splitc_runtime.gam && gam_serving(splitc_runtime.gam) >= 0 && !splitc_runtime.running;
}

uint64_t splitc_caller(void)
{
    struct search search = {.end =
                                splitc_runtime.running ? (uintptr_t)splitc_runtime.running_on : 0};

    if (!serves_another())
        _Unwind_Backtrace(look_at_frame, &search);
    return search.pc;
}

/* ---- the whole stack --------------------------------------------------------------------- */

struct stack {
    uint64_t from; /* the innermost frame that counts */
    uint64_t *frame;
    size_t n, room;
};

/* A signal handler's own frames are below the one that was interrupted. */
static _Unwind_Reason_Code stack_add(struct _Unwind_Context *frame, void *all)
{
    struct stack *stack = all;
    const uint64_t pc = frame_instruction(frame);

    if (pc != 0 && pc == stack->from)
        stack->n = 0;
    if (stack->n == stack->room)
        return _URC_END_OF_STACK;
    if (pc != 0)
        stack->frame[stack->n++] = pc;
    return _URC_NO_REASON;
}

size_t splitc_caller_stack(uint64_t pc, uint64_t *frame, size_t room)
{
    struct stack stack = {.from = pc, .frame = frame, .room = room};

    _Unwind_Backtrace(stack_add, &stack);
    return stack.n;
}
