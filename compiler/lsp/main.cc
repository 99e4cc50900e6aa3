// SPDX-License-Identifier: BSD-3-Clause
//
// splitc-lsp: the language server on standard input and output.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <unistd.h>

#include "driver/config.h"
#include "lsp/server.h"

namespace {

constexpr const char *kUsage =
    "Usage: splitc-lsp\n"
    "A language server for Split-C, for an editor to start: it speaks the Language Server\n"
    "Protocol on its standard input and output, and runs the splitcc that lies beside it.\n"
    "\n"
    "  --stdio     what it does anyway, for editors that say so\n"
    "  --version   print the version\n"
    "  --help      print this\n";

} // namespace

int main(int argc, char **argv)
{
    std::signal(SIGPIPE, SIG_IGN);
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--help") == 0)
            return std::fputs(kUsage, stdout) < 0;
        if (std::strcmp(argv[i], "--version") == 0)
            return std::printf("splitc-lsp (Split-C) %s\n", splitcc::kVersion) < 0;
        if (std::strcmp(argv[i], "--stdio") == 0) // as clients say to servers that have other ways
            continue;
        std::fprintf(stderr, "splitc-lsp: unknown option %s; see splitc-lsp --help\n", argv[i]);
        return 2;
    }
    try {
        splitcc::lsp::Wire wire(STDIN_FILENO, STDOUT_FILENO);
        return splitcc::lsp::Server(
                   wire, std::filesystem::read_symlink("/proc/self/exe").parent_path() / "splitcc")
            .run();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "splitc-lsp: %s\n", error.what());
        return 1;
    }
}
