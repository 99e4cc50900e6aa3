/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include "observe/observe.h"

#include <stdlib.h>

extern void __asan_init(void) __attribute__((weak));
extern void __lsan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));

bool splitc_is_sanitized(void)
{
    return __asan_init || __lsan_init || __tsan_init || __msan_init;
}

bool splitc_is_sanitized_low(void)
{
    return __tsan_init || __msan_init;
}

static bool is_on(const char *variable, const char *off)
{
    const char *setting = getenv(variable);

    if (setting && strcmp(setting, "0") != 0 && strcmp(setting, "1") != 0)
        splitc_die_together("%s is \"%s\": it may be 1, or 0 to %s", variable, setting, off);
    return !setting || *setting == '1';
}

bool splitc_huge_pages_wanted(void)
{
    return is_on("SPLITC_HUGE_PAGES", "have small pages alone");
}

bool splitc_windows_wanted(void)
{
    return is_on("SPLITC_WINDOWS", "reach other ranks by messages alone");
}
