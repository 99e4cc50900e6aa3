// SPDX-License-Identifier: BSD-3-Clause

#include "node/source_place.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <sstream>

#include "common/environment.h"
#include "common/process.h"

namespace unetrun {

namespace {

std::string hexadecimal(std::uint64_t number)
{
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
    return text;
}

bool is_own(const std::string &place)
{
    return place.rfind("??", 0) != 0 && place.find("split-c/abi.h:") == std::string::npos &&
           place.find(":?") == std::string::npos;
}

} // namespace

// The lines for an address begin with the address itself; then follow the function and those into
// which it was inlined.
std::vector<std::string> places_in(const std::string &words, std::size_t count)
{
    std::vector<std::string> places(count);
    std::istringstream lines(words);
    std::size_t begun = 0;
    for (std::string line; std::getline(lines, line);) {
        const std::string place = line.substr(0, line.find(" (discriminator"));
        if (line.rfind("0x", 0) == 0)
            begun++;
        else if (begun > 0 && begun <= count && places[begun - 1].empty() && is_own(place))
            places[begun - 1] = place;
    }
    return places;
}

std::vector<std::string> source_places(const std::string &program,
                                       const std::vector<std::uint64_t> &pcs,
                                       const std::vector<std::string> &environment)
{
    const bool known = std::any_of(pcs.begin(), pcs.end(), [](std::uint64_t pc) { return pc; });
    try {
        if (!known)
            return std::vector<std::string>(pcs.size());
        const std::string tool = find_program("addr2line", value_of(environment, "PATH"));
        std::vector<std::string> command = {tool, "-a", "-i", "-e", program};
        std::transform(pcs.begin(), pcs.end(), std::back_inserter(command), hexadecimal);
        return places_in(output_of(command, environment), pcs.size());
    } catch (const Failure &) {
        return std::vector<std::string>(pcs.size());
    }
}

} // namespace unetrun
