/* SPDX-License-Identifier: BSD-3-Clause
 *
 * parse.c - the faults of a bad network, as a user writes them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unet/unet_chaos.h>

enum { SEED, FIELDS = 6 };

static const struct field {
    const char *name;
    size_t offset;
} fields[FIELDS] = {
    [SEED] = {"seed=", offsetof(struct unet_chaos, seed)},
    {"loss=", offsetof(struct unet_chaos, loss)},
    {"dup=", offsetof(struct unet_chaos, duplicate)},
    {"reorder=", offsetof(struct unet_chaos, reorder)},
    {"truncate=", offsetof(struct unet_chaos, truncate)},
    {"flip=", offsetof(struct unet_chaos, flip)},
};

static int field_at(const char *text)
{
    for (int i = 0; i < FIELDS; i++) {
        if (strncmp(text, fields[i].name, strlen(fields[i].name)) == 0)
            return i;
    }
    return -EINVAL;
}

/* Reads the number behind a field's name; NULL: there is none, or it is out of range. */
static const char *read_value(const char *text, int field, struct unet_chaos *chaos)
{
    void *to = (char *)chaos + fields[field].offset;
    double probability;
    char *end;

    if (*text < '0' || *text > '9')
        return NULL;
    errno = 0;
    if (field == SEED) {
        *(uint64_t *)to = strtoull(text, &end, 0);
        return errno ? NULL : end;
    }
    probability = strtod(text, &end);
    *(double *)to = probability;
    return probability >= 0 && probability <= 1 ? end : NULL;
}

int unet_chaos_parse(const char *text, struct unet_chaos *chaos)
{
    struct unet_chaos parsed = {0};
    bool seen[FIELDS] = {false};

    for (;;) {
        const int field = field_at(text);

        if (field < 0 || seen[field])
            return -EINVAL;
        seen[field] = true;
        text = read_value(text + strlen(fields[field].name), field, &parsed);
        if (!text || (*text != '\0' && *text != ','))
            return -EINVAL;
        if (*text++ == '\0')
            break;
    }
    *chaos = parsed;
    return 0;
}
