// SPDX-License-Identifier: BSD-3-Clause
#include "driver/options.h"

#include <algorithm>
#include <filesystem>

namespace splitcc {
namespace {

constexpr std::string_view kCxxEndings[] = {".cc",  ".cp",  ".C",   ".cxx",
                                            ".cpp", ".CPP", ".c++", ".ii"};

} // namespace

bool Input::is_cxx() const
{
    if (!x.empty())
        return x.starts_with("c++");
    const std::string end = std::filesystem::path(path).extension().string();
    return std::find(std::begin(kCxxEndings), std::end(kCxxEndings), end) != std::end(kCxxEndings);
}

std::string Input::stem() const
{
    return std::filesystem::path(path).stem().string();
}

} // namespace splitcc
