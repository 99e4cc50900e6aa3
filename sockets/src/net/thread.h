/* SPDX-License-Identifier: BSD-3-Clause
 *
 * thread.h - threads of the library's.
 */
#ifndef SOCKETS_THREAD_H
#define SOCKETS_THREAD_H

#include <stdbool.h>

/* Start one, detached, with a small stack and no signals, which are for the program's threads.
 * False: it could not be started. */
bool sockets_thread_start(void *(*body)(void *), void *argument);

#endif
