// SPDX-License-Identifier: BSD-3-Clause

#include "common/environment.h"

#include <algorithm>
#include <unistd.h>

namespace unetrun {

namespace {

// Works for constant and for other lists.
template <class Environment> auto find_variable(Environment &environment, const std::string &name)
{
    return std::find_if(
        environment.begin(), environment.end(),
        [prefix = name + "="](const std::string &entry) { return entry.starts_with(prefix); });
}

} // namespace

std::vector<std::string> own_environment()
{
    std::vector<std::string> variables;
    for (char **variable = environ; *variable; variable++)
        variables.emplace_back(*variable);
    return variables;
}

std::string name_of(const std::string &variable)
{
    return variable.substr(0, variable.find('='));
}

std::string value_of(const std::vector<std::string> &environment, const std::string &name)
{
    const auto found = find_variable(environment, name);
    return found == environment.end() ? std::string() : found->substr(name.size() + 1);
}

bool has_variable(const std::vector<std::string> &environment, const std::string &name)
{
    return find_variable(environment, name) != environment.end();
}

void set_variable(std::vector<std::string> &environment, const std::string &variable)
{
    const auto found = find_variable(environment, name_of(variable));
    if (found == environment.end())
        environment.push_back(variable);
    else
        *found = variable;
}

} // namespace unetrun
