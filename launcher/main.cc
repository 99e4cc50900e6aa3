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
#include "front/command_line.h"
#include "front/front_end.h"
#include "front/option_texts.h"
#include "node/daemon.h"
#include "node/pmix_server.h"
#include "node/source_place.h"
#include "tree/relay.h"

namespace unetrun {

namespace {

// If a standard descriptor were closed, the first file that is opened would get its number.  What
// is written there fails as before.
void open_standard_descriptors()
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= 2);
    close(fd);
}

int print(const std::string &text)
{
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
        throw system_failure("cannot write to standard output");
    return 0;
}

int front_end_main(const std::vector<std::string> &arguments)
{
    const Options options = parse_options(arguments, own_environment());
    if (options.action == Options::Action::help)
        return print(help_text());
    if (options.action == Options::Action::version)
        return print("unetrun " + protocol_version() + " (" + pmix_version() + ")\n");
    if (options.action == Options::Action::print_options)
        return print(option_list());
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
