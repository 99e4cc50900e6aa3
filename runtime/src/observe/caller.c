/* SPDX-License-Identifier: BSD-3-Clause */
#include "caller.h"

#include "memory/memory_map.h"
#include "runtime.h"

#include <unwind.h>

/* The build gives our libraries' code a section of its own (cmake/ProjectRules.cmake), whose ends
 * the linker names.  Where it has not, all code passes for ours. */
extern const char __start_splitc_text[] __attribute__((weak));
extern const char __stop_splitc_text[] __attribute__((weak));

static bool is_the_programs(uint64_t pc)
{
    return __start_splitc_text && splitc_in_image(pc) &&
           (pc < (uintptr_t)__start_splitc_text || pc >= (uintptr_t)__stop_splitc_text);
}

struct search {
    uint64_t end; /* frames from here on have nothing to do with it */
    uint64_t pc;
};

/* Of a call its address is that behind it. */
static _Unwind_Reason_Code look(struct _Unwind_Context *frame, void *found)
{
    struct search *search = found;
    int at_it;
    uint64_t pc = _Unwind_GetIPInfo(frame, &at_it);

    pc -= at_it ? 0 : 1;
    if (search->end && _Unwind_GetCFA(frame) >= search->end)
        return _URC_END_OF_STACK;
    if (!is_the_programs(pc))
        return _URC_NO_REASON;
    search->pc = pc;
    return _URC_END_OF_STACK;
}

/* What a message asks us to do, unless that is a function of the program, is no deed of the
 * caller, which just waits. */
static bool serves_another(void)
{
    return splitc_runtime.gam && gam_serving(splitc_runtime.gam) >= 0 && !splitc_runtime.running;
}

uint64_t splitc_caller(void)
{
    struct search search = {.end =
                                splitc_runtime.running ? (uintptr_t)splitc_runtime.running_on : 0};

    if (!serves_another())
        _Unwind_Backtrace(look, &search);
    return search.pc;
}
