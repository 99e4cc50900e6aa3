// SPDX-License-Identifier: BSD-3-Clause
#include "splitc_run.h"

#include <cstring>
#include <fstream>
#include <sstream>

std::string launcher()
{
    return BUILD_FOLDER "/bin/unetrun";
}

std::string compiler()
{
    return BUILD_FOLDER "/bin/splitcc";
}

std::string benchmark(const std::string &name)
{
    return BUILD_FOLDER "/benchmarks/" + name;
}

Command ranks(int count, const std::string &program, const std::vector<std::string> &arguments)
{
    Command command{{launcher(), "-n", std::to_string(count), program}};

    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    return command;
}

void write_file(const std::string &name, const std::string &bytes)
{
    std::ofstream(name, std::ios::binary) << bytes;
}

std::string read_file(const std::string &name)
{
    std::ostringstream text;

    text << std::ifstream(name, std::ios::binary).rdbuf(); // an iterator would throw errors
    return text.str();
}

void write_keys(const std::string &name, const Keys &keys)
{
    std::ofstream file(name, std::ios::binary);

    file.write(reinterpret_cast<const char *>(keys.data()),
               static_cast<std::streamsize>(keys.size() * sizeof keys[0]));
}

Keys read_keys(const std::string &name)
{
    const std::string bytes = read_file(name);
    Keys keys(bytes.size() / sizeof keys[0]);

    if (!keys.empty())
        std::memcpy(keys.data(), bytes.data(), keys.size() * sizeof keys[0]);
    return keys;
}
