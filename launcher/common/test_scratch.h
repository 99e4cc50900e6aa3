// SPDX-License-Identifier: BSD-3-Clause
//
// A directory that is TMPDIR for as long as it lives, for tests.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/stat.h>

namespace unetrun {

class Scratch {
public:
    Scratch()
    {
        char name[] = "/tmp/unetrun-test-XXXXXX";
        path = mkdtemp(name);
        setenv("TMPDIR", path.c_str(), 1);
    }
    ~Scratch()
    {
        unsetenv("TMPDIR");
        std::filesystem::remove_all(path);
    }
    std::string file(const std::string &name, mode_t mode) const
    {
        std::ofstream(path / name) << "#!/bin/sh\n";
        chmod((path / name).c_str(), mode);
        return path / name;
    }
    std::size_t entries() const
    {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path),
                                                      std::filesystem::directory_iterator()));
    }

    std::filesystem::path path;
};

} // namespace unetrun
