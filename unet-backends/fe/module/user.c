// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
/*
 * What one user may have.
 */
#include <linux/cred.h>
#include <linux/slab.h>

#include "fe.h"

static DEFINE_MUTEX(users_lock);
static LIST_HEAD(users);

/* Under users_lock. */
static struct fe_user *find(kuid_t uid)
{
	struct fe_user *user;

	list_for_each_entry(user, &users, list) {
		if (uid_eq(user->uid, uid))
			return user;
	}
	user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
	if (user) {
		user->uid = uid;
		list_add(&user->list, &users);
	}
	return user;
}

struct fe_user *fe_user_get(void)
{
	struct fe_user *user;

	mutex_lock(&users_lock);
	user = find(current_uid());
	if (user)
		user->references++;
	mutex_unlock(&users_lock);
	return user;
}

void fe_user_put(struct fe_user *user)
{
	mutex_lock(&users_lock);
	if (--user->references == 0) {
		list_del(&user->list);
		kfree(user);
	}
	mutex_unlock(&users_lock);
}

static int add(unsigned int *count, unsigned int limit)
{
	int error = 0;

	mutex_lock(&users_lock);
	if (*count >= limit)
		error = -EDQUOT;
	else
		++*count;
	mutex_unlock(&users_lock);
	return error;
}

static void subtract(unsigned int *count, unsigned int n)
{
	mutex_lock(&users_lock);
	*count -= n;
	mutex_unlock(&users_lock);
}

int fe_user_add_endpoint(struct fe_user *user)
{
	return add(&user->endpoints, fe_max_endpoints());
}

void fe_user_remove_endpoint(struct fe_user *user)
{
	subtract(&user->endpoints, 1);
}

int fe_user_add_channel(struct fe_user *user)
{
	return add(&user->channels, fe_max_channels());
}

void fe_user_remove_channels(struct fe_user *user, unsigned int count)
{
	subtract(&user->channels, count);
}
