/* SPDX-License-Identifier: BSD-3-Clause
 *
 * settings.c - the variables that the library reads.  It is silent about those that make no sense.
 */
#include "front.h"
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *variable, *word; /* that it may be instead of a number; "" if there is none */
    unsigned long least, most;
} settings[] = {
    {"UNETSOCK_UPGRADE", "random", 1, UINT32_MAX - 1},
    {"UNETSOCK_SPIN", "", 0, 1000000},
    {"UNETSOCK_CORE", "", 0, 1},
    {"UNETSOCK_NET_MANY", "", 0, UINT32_MAX - 1},
    {"UNETSOCK_NET_WINDOW", "", 2, 48},
};

int front_check_settings(void)
{
    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
        const char *text = getenv(settings[i].variable);
        unsigned long n;
        char *end;

        if (!text || !*text || strcmp(text, settings[i].word) == 0)
            continue;
        n = strtoul(text, &end, 10);
        if (*text >= '0' && *text <= '9' && !*end && n >= settings[i].least &&
            n <= settings[i].most)
            continue;
        fprintf(stderr, "unetsock: %s is '%s': it is a number from %lu to %lu%s%s\n",
                settings[i].variable, text, settings[i].least, settings[i].most,
                *settings[i].word ? ", or " : "", settings[i].word);
        return -1;
    }
    return 0;
}
