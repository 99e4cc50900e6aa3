/* SPDX-License-Identifier: BSD-3-Clause
 *
 * job.h - room job: joins and leaves the job, runs the threads of the library, and has -fcheck.
 *
 * It calls all other rooms, and none of them calls it.
 */
#ifndef SPLITC_JOB_H
#define SPLITC_JOB_H

#include "access/access.h"
#include "collective/collective.h"
#include "memory/memory.h"
#include "observe/observe.h"

/* Join the job.  When it returns, everything in access.h and collective.h works.  Errors end the
 * process. */
void splitc_job_open(void);

/* Leave it, once all ranks do. */
void splitc_job_close(void);

#endif
