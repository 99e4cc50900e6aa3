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

static bool is_of_program(uint64_t pc)
{
    return __start_splitc_text && splitc_image_contains(pc) &&
           (pc < (uintptr_t)__start_splitc_text || pc >= (uintptr_t)__stop_splitc_text);
}

struct search {
    uint64_t end; /* the search ends at frames from this address on; 0: it does not */
    uint64_t pc;
};

/* The address of a frame that has called is that of the next instruction. */
static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *frame, void *found)
{
    struct search *search = found;
    int at_it;
    uint64_t pc = _Unwind_GetIPInfo(frame, &at_it);

    pc -= at_it ? 0 : 1;
    if (search->end && _Unwind_GetCFA(frame) >= search->end)
        return _URC_END_OF_STACK;
    if (!is_of_program(pc))
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
