// SPDX-License-Identifier: BSD-3-Clause

#include "front/config_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "common/failure.h"
#include "common/text.h"

namespace unetrun {

std::vector<ConfigLine> config_lines(const std::string &file)
{
    std::ifstream stream(file);
    if (!stream.is_open())
        throw Failure(exit_usage, "--configfile " + file + ": " + std::strerror(errno) +
                                      "; name a file with a program a line");
    std::vector<ConfigLine> lines;
    std::string whole;
    std::size_t number = 0, first = 1; // the number of the line at which `whole` begins
    for (std::string line; std::getline(stream, line);) {
        first = whole.empty() ? number + 1 : first;
        number++;
        whole += line;
        if (whole.ends_with('\\')) {
            whole.back() = ' ';
            continue;
        }
        const std::string where = file + ":" + std::to_string(first);
        if (const std::string text = std::exchange(whole, {}); !text.starts_with('#')) {
            const auto words = quoted_words(text);
            if (!words)
                throw Failure(exit_usage, where + ": a quote is not closed");
            if (!words->empty())
                lines.push_back({where, *words});
        }
    }
    if (stream.bad() || !stream.eof())
        throw Failure(exit_usage, "--configfile " + file +
                                      ": it cannot be read; name a file with a "
                                      "program a line");
    if (!whole.empty())
        throw Failure(exit_usage, file + ":" + std::to_string(number) +
                                      ": the last line ends with a backslash");
    return lines;
}

} // namespace unetrun
