// SPDX-License-Identifier: BSD-3-Clause

#include "front/host_ranges.h"

#include <algorithm>
#include <cstdint>

#include "common/failure.h"

namespace unetrun {

namespace {

constexpr std::size_t names_max = 65536;
constexpr std::size_t digits_max = 9;

[[noreturn]] void refuse(const std::string &text, const std::string &where)
{
    throw Failure(exit_usage,
                  where + ": '" + text + "' are no hosts; write ranges as in n[1-4,7] or n[01-12]");
}

bool is_number(const std::string &text)
{
    return !text.empty() && text.size() <= digits_max &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// With as many digits as the range begins with.
std::string padded(unsigned long number, std::size_t digits)
{
    const std::string text = std::to_string(number);
    return std::string(digits - std::min(digits, text.size()), '0') + text;
}

// "1-4", "7": the numbers of one range, added to `numbers`.  False: it is none.
bool add_range(const std::string &range, std::vector<std::string> &numbers)
{
    const std::size_t dash = range.find('-');
    const std::string first = range.substr(0, dash);
    const std::string last = dash == std::string::npos ? first : range.substr(dash + 1);
    if (!is_number(first) || !is_number(last) || std::stoul(first) > std::stoul(last) ||
        std::stoul(last) - std::stoul(first) >= names_max)
        return false;
    for (unsigned long number = std::stoul(first); number <= std::stoul(last); number++)
        numbers.push_back(padded(number, first.size()));
    return true;
}

} // namespace

std::vector<std::string> split_host_list(const std::string &list)
{
    std::vector<std::string> parts(1);
    bool in_brackets = false;
    for (const char c : list) {
        if (c == '[' || c == ']')
            in_brackets = c == '[';
        if (c == ',' && !in_brackets)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

std::vector<std::string> expand_host_ranges(const std::string &text, const std::string &where)
{
    const std::size_t open = text.find('['), close = text.find(']', open);
    if (open == std::string::npos || open == 0)
        return {text};
    if (close == std::string::npos)
        refuse(text, where);
    std::vector<std::string> numbers, names;
    for (const std::string &range : split_host_list(text.substr(open + 1, close - open - 1)))
        if (!add_range(range, numbers))
            refuse(text, where);
    // A letter in front, so that brackets that follow at once are no address.
    const std::vector<std::string> rests = expand_host_ranges("." + text.substr(close + 1), where);
    if (numbers.size() * rests.size() > names_max)
        refuse(text, where);
    for (const std::string &number : numbers)
        for (const std::string &rest : rests)
            names.push_back(text.substr(0, open) + number + rest.substr(1));
    return names;
}

} // namespace unetrun
