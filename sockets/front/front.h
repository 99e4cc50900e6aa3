/* SPDX-License-Identifier: BSD-3-Clause
 *
 * front.h - what `unetsock` tells of connections.
 */
#ifndef SOCKETS_FRONT_H
#define SOCKETS_FRONT_H

#include "record/record.h"
#include <stdio.h>
#include <sys/types.h>

/* What became of all connections of a program. */
void front_print_counters(FILE *out, const struct sockets_counters *counters);

/* What the connections of a running process do.  Returns an exit status, and says on stderr what is
 * wrong if it is not 0. */
int front_explain(FILE *out, pid_t pid);

/* Have programs that are started use this network between hosts; says what is wrong.  0 or -errno.
 */
int front_set_net(const char *backend);

/* Whether the library will understand the variables of its own; says which it will not.  0 or -1.
 */
int front_check_settings(void);

/* Make the key that it takes.  An exit status. */
int front_make_key(void);

#endif
