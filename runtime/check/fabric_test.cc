// SPDX-License-Identifier: BSD-3-Clause
//
// A sample of jobs over ofi; all of suite_test.cc over it is in long tests.
#include "job.h"

namespace {

const char *const ways[] = {"SPLITC_BACKEND=ofi", "SPLITC_BACKEND=shm,ofi SPLITC_NODES=2"};

} // namespace

TEST_CASE("fabric: what ranks do reaches the others")
{
    for (const char *check : {"identity", "random_traffic", "bulk_put_large", "mixed_collectives"})
        for (const char *way : ways)
            passes(3, check, way);
}

TEST_CASE("fabric: a rank that is killed ends the job")
{
    for (const char *way : ways)
        ends(3, "wait_for_the_dead", 128 + 9, "rank 0 ", way);
}
