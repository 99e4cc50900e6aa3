// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only
/*
 * Where the time of sending and of receiving goes.
 */
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/timex.h>

#include "timing.h"

static const char *const names[FE_MARKS] = {
	[FE_SEND_READ] = "send_read",		[FE_SEND_CHECKED] = "send_checked",
	[FE_SEND_FRAMED] = "send_framed",	[FE_SEND_FILLED] = "send_filled",
	[FE_SEND_HANDED] = "send_handed",	[FE_SEND_ENDS] = "send_ends",
	[FE_RECEIVE_READ] = "receive_read",	[FE_RECEIVE_FOUND] = "receive_found",
	[FE_RECEIVE_PLACED] = "receive_placed", [FE_RECEIVE_PUBLISHED] = "receive_published",
	[FE_RECEIVE_RUNG] = "receive_rung",	[FE_RECEIVE_ENDS] = "receive_ends",
};

static struct {
	u64 times;
	u64 cycles;
} section[FE_MARKS];

static cycles_t last[2]; /* mark of sending, of receiving */

void fe_mark(enum fe_mark mark)
{
	cycles_t *since = &last[mark >= FE_RECEIVE_BEGINS];
	cycles_t now = get_cycles();

	section[mark].times++;
	section[mark].cycles += now - *since;
	*since = get_cycles(); /* what this costs is no section's */
}

static int show(char *page, const struct kernel_param *param)
{
	int length = 0;
	int i;

	for (i = 0; i < FE_MARKS; i++) {
		if (names[i])
			length += sysfs_emit_at(page, length, "%s %llu %llu\n", names[i],
						section[i].times, section[i].cycles);
	}
	return length;
}

static int begin_anew(const char *text, const struct kernel_param *param)
{
	memset(section, 0, sizeof(section));
	return 0;
}

static const struct kernel_param_ops timing_ops = { .get = show, .set = begin_anew };

module_param_cb(timing, &timing_ops, NULL, 0600);
