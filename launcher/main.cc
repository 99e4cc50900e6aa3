// SPDX-License-Identifier: BSD-3-Clause
//
// unetrun: starts a program as the ranks of a parallel job.  The same executable is the front end,
// the daemon (--daemon), the relay (--relay), and what looks for lines of the source
// (--source-places).

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <signal.h>

#include "common/environment.h"
#include "common/job_directory.h"
#include "common/protocol.h"
#include "common/resources.h"
#include "front/front_end.h"
#include "front/options.h"
#include "node/daemon.h"
#include "node/pmix_server.h"
#include "node/source_place.h"
#include "tree/relay.h"

namespace unetrun {

namespace {

// If a standard descriptor were closed, the first file that is opened would get its number.
void open_standard_descriptors()
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2);
    close(fd);
}

int front_end_main(const std::vector<std::string> &arguments)
{
    const Options options = parse_options(arguments, own_environment());
    if (options.action == Options::Action::help) {
        std::fputs(help_text().c_str(), stdout);
        return 0;
    }
    if (options.action == Options::Action::version) {
        std::printf("unetrun %s (%s)\n", protocol_version().c_str(), pmix_version().c_str());
        return 0;
    }
    require({.descriptors = 8, .threads = 2, .bytes = 4 << 20}, "unetrun itself");
    FrontEnd front_end(options);
    const int code = front_end.run();
    if (front_end.output_pending())
        _exit(code); // nobody takes the output, so its thread would never end
    return code;
}

} // namespace

} // namespace unetrun

int main(int argc, char **argv)
{
    using namespace unetrun;
    open_standard_descriptors();
    signal(SIGCHLD, SIG_DFL); // if it is ignored, children cannot be waited for
    try {
        require_stack();
        fix_parent_directory();
        if (argc == 2 && std::strcmp(argv[1], "--daemon") == 0)
            return daemon_main();
        if (argc == 2 && std::strcmp(argv[1], "--relay") == 0)
            return relay_main();
        if (argc >= 2 && std::strcmp(argv[1], source_places_option) == 0)
            return source_places_main({argv + 2, argv + argc});
        return front_end_main({argv + 1, argv + argc});
    } catch (const Failure &failure) {
        std::fprintf(stderr, "unetrun: %s\n", failure.what());
        return failure.code;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "unetrun: %s\n", words_of(error).c_str());
        return exit_trouble;
    }
}
