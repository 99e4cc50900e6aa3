/* SPDX-License-Identifier: BSD-3-Clause */
#include "alone.h"

#include "observe/observe.h"

#include <stdlib.h>

/* The variables that launchers set for the processes they start.  Where one launcher uses another,
 * as that of MPICH uses srun, the inner one comes first.  Only the variables of a Slurm step count:
 * in an allocation, or its batch script, a process may be alone. */
static const struct launcher {
    const char *ranks; /* variable: how many processes; NULL: it sets none */
    const char *rank;  /* variable: the index of this one */
} launcher[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, /* Open MPI, jsrun */
    {"PMI_SIZE", "PMI_RANK"},                         /* MPICH, Intel MPI, srun --mpi=pmi2 */
    {"MPIRUN_NPROCS", "MPIRUN_RANK"},                 /* MVAPICH */
    {"FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
    {NULL, "PALS_RANKID"}, /* HPE Cray */
    {NULL, "ALPS_APP_PE"}, /* aprun */
};

/* The number in an environment variable; -1: it has none. */
static long environment_number(const char *variable)
{
    const char *text = variable ? getenv(variable) : NULL;
    char *end;
    long number = text ? strtol(text, &end, 10) : -1;

    return text && (end == text || *end) ? -1 : number;
}

static _Noreturn void alone_refuse(const struct launcher *l, long ranks, long rank)
{
    splitc_runtime.rank = (uint32_t)rank;
    if (ranks < 0)
        splitc_die("this is no job of one rank (%s=%ld), but the launcher does not speak PMIx; "
                   "start the program with unetrun -n N",
                   l->rank, rank);
    if (rank != 0)
        splitc_die_unheard();
    splitc_die("the launcher has started %ld processes (%s), but does not speak PMIx, so that each "
               "would be a job of one rank; use unetrun -n %ld, or srun --mpi=pmix; for jobs of "
               "one rank, unetrun -n 1",
               ranks, l->ranks, ranks);
}

void splitc_expect_alone(void)
{
    for (size_t i = 0; i < sizeof launcher / sizeof *launcher; i++) {
        const struct launcher *l = &launcher[i];
        const long ranks = environment_number(l->ranks), rank = environment_number(l->rank);

        if (rank < 0 || (l->ranks && ranks < 0))
            continue;
        if (ranks > 1 || (!l->ranks && rank > 0))
            alone_refuse(l, ranks, rank);
        return;
    }
}
