// SPDX-License-Identifier: BSD-3-Clause
//
// sort_keys INPUT OUTPUT - sort a file of 32-bit keys with std::sort: what the
// parallel sorts are compared with.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <vector>

int main(int argc, char *argv[])
{
    if (argc != 3) {
        std::cerr << "usage: sort_keys INPUT OUTPUT\n";
        return 2;
    }
    std::ifstream input(argv[1], std::ios::binary | std::ios::ate);
    std::vector<std::uint32_t> keys(input ? static_cast<size_t>(input.tellg()) / 4 : 0);
    const auto bytes = static_cast<std::streamsize>(keys.size() * 4);

    input.seekg(0);
    if (!input.read(reinterpret_cast<char *>(keys.data()), bytes)) {
        std::cerr << "sort_keys: cannot read " << argv[1] << "\n";
        return 1;
    }
    std::sort(keys.begin(), keys.end());
    std::ofstream output(argv[2], std::ios::binary);
    output.write(reinterpret_cast<const char *>(keys.data()), bytes);
    output.close();
    if (!output) {
        std::cerr << "sort_keys: cannot write " << argv[2] << "\n";
        return 1;
    }
    return 0;
}
