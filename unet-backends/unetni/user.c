/* SPDX-License-Identifier: BSD-3-Clause
 *
 * user.c - what one user may have.
 *
 * A user is who the kernel says has connected (SO_PEERCRED).  Connections count, whether endpoints
 * have been made of them or not, for they cost the service a descriptor each.
 */
#include "unetni/unetni.h"

#include <errno.h>
#include <stdlib.h>

static struct unetni_user *find(struct unetni_service *s, uid_t uid)
{
    struct unetni_user *user;

    LIST_FOREACH(user, &s->users, all)
    if (user->uid == uid)
        return user;
    user = calloc(1, sizeof *user);
    if (user) {
        user->uid = uid;
        user->token_ns = s->now_ns; /* he begins with nothing, or coming back would bring a burst */
        TAILQ_INIT(&user->awake);
        LIST_INSERT_HEAD(&s->users, user, all);
    }
    return user;
}

struct unetni_user *unetni_user_join(struct unetni_service *s, uid_t uid)
{
    struct unetni_user *user = find(s, uid);

    if (!user || user->connections >= s->limits.endpoints)
        return NULL;
    user->connections++;
    return user;
}

void unetni_user_leave(struct unetni_user *user)
{
    if (--user->connections > 0)
        return;
    LIST_REMOVE(user, all);
    free(user);
}

int unetni_user_add_channel(const struct unetni_service *s, struct unetni_user *user)
{
    if (user->channels >= s->limits.channels)
        return -EDQUOT;
    user->channels++;
    return 0;
}

int unetni_user_add_bytes(const struct unetni_service *s, struct unetni_user *user, uint64_t bytes)
{
    if (bytes > s->limits.bytes - user->bytes)
        return -EDQUOT;
    user->bytes += bytes;
    return 0;
}
