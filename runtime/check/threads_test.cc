// SPDX-License-Identifier: BSD-3-Clause
//
// Threads of a program, on one node and several: what they may do by turns, and what they may not.
#include "job.h"

TEST_CASE("threads: they use windows at will, and messages in turns")
{
    passes(4, "threads", "SPLITC_THREADS=1 SPLITC_WINDOWS=0");
    passes(2, "threads", "SPLITC_THREADS=1 SPLITC_BACKEND=udp");
    passes(4, "threads", "SPLITC_PROGRESS=thread SPLITC_WINDOWS=0");
    for (const char *network : {"udp", "shm,udp"})
        for (const char *progress : {"thread", "upcall"})
            passes(2, "threads",
                   std::string("SPLITC_BACKEND=") + network + " SPLITC_PROGRESS=" + progress);
#ifndef __SANITIZE_ADDRESS__
    passes(4, "threads");
#endif
}

TEST_CASE("threads: transfers of several go on while the program meets other ranks")
{
    for (const char *way : {"SPLITC_WINDOWS=0", "SPLITC_BACKEND=udp", "SPLITC_WINDOWS=1",
                            "SPLITC_BACKEND=udp SPLITC_PROGRESS=upcall"})
        for (int ranks : {1, 3})
            passes(ranks, "threads_transfer", std::string("SPLITC_THREADS=1 ") + way);
}

TEST_CASE("threads: one gets in while another waits")
{
    for (const char *way :
         {"SPLITC_WINDOWS=0", "SPLITC_BACKEND=udp", "SPLITC_WINDOWS=0 SPLITC_PROGRESS=thread"})
        passes(3, "threads_end_a_wait", std::string("SPLITC_THREADS=1 ") + way);
}

TEST_CASE("threads: what one of them will end is no deadlock", "[long]")
{
    passes(2, "late_thread", "SPLITC_THREADS=1");
    passes(2, "late_thread", "SPLITC_THREADS=1 SPLITC_BACKEND=udp");
}

TEST_CASE("threads: messages without taking turns are refused")
{
    const std::string said = ": only that one may do what needs messages; leave it to that thread, "
                             "or have threads take turns with SPLITC_THREADS=1\n";

    for (const char *way : {"SPLITC_WINDOWS=0", "SPLITC_BACKEND=udp SPLITC_THREADS=0"})
        ends(2, "threads", 1,
             "atomic operation by another thread than that which runs splitc_main" + said, way);
}

TEST_CASE("threads: collective operations are the program's thread's alone")
{
    for (const char *way : {"SPLITC_THREADS=1", "SPLITC_PROGRESS=thread", "SPLITC_THREADS=0"})
        ends(2, "thread_meets", 1,
             "barrier by another thread than that which runs splitc_main: collective operations "
             "are for that one",
             way);
}

TEST_CASE("threads: a setting that makes no sense")
{
    ends(2, "identity", 1, "SPLITC_THREADS is \"many\": it may be 0, or 1 ", "SPLITC_THREADS=many");
}
