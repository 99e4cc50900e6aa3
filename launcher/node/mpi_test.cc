// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "node/mpi.h"
#include "quoted.h"

using namespace unetrun;
using Catch::Matchers::Contains;

namespace {

// A folder with a program, and the library that it is linked with.
class Program {
public:
    // `library` is linked with that other one.
    Program(const std::string &library, const std::string &other)
    {
        char name[] = "/tmp/unetrun-mpi-test-XXXXXX";
        REQUIRE(mkdtemp(name) != nullptr);
        folder_ = name;
        shell("echo 'int f(void) { return 0; }' >f.c; echo 'int f(void); int main(void) { return "
              "f(); }' >main.c");
        if (!other.empty())
            shell("cc -shared -fPIC f.c -o " + other + " -Wl,-soname," + other);
        shell("cc -shared -fPIC f.c -o " + library + " -Wl,--no-as-needed " + other +
              " -Wl,-soname," + library);
        shell("cc main.c -o main ./" + library + " -Wl,-rpath," + quoted(folder_));
    }
    ~Program() { std::filesystem::remove_all(folder_); }
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;

    std::string file() const { return folder_ / "main"; }

    std::string warning(bool real_nodes = true) const
    {
        return mpi_warning(file(), real_nodes, {"LD_LIBRARY_PATH=" + folder_.string()});
    }

private:
    void shell(const std::string &command) const
    {
        INFO(command);
        REQUIRE(std::system(("cd " + quoted(folder_) + " && " + command).c_str()) == 0);
    }

    std::filesystem::path folder_;
};

} // namespace

TEST_CASE("mpi: an ELF file's libraries and loader")
{
    const Program program("libmpich.so.12", "");
    const SharedLibraries found = shared_libraries(program.file());
    CHECK(std::count(found.names.begin(), found.names.end(), "libmpich.so.12") == 1);
    CHECK(std::filesystem::exists(found.loader));
}

TEST_CASE("mpi: what is no ELF file, or a broken one, names no libraries")
{
    const Program program("libmpich.so.12", "");
    std::ifstream in(program.file(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    const std::string broken = program.file() + ".broken";

    CHECK(shared_libraries("/nowhere").names.empty());
    CHECK(shared_libraries("/").names.empty());
    for (const std::size_t length : {0, 3, 16, 63, 64, 100, 500, 1000}) {
        std::ofstream(broken, std::ios::binary) << bytes.substr(0, length);
        CHECK(shared_libraries(broken).names.empty());
    }
    for (std::size_t at = 16; at < 1200; at++) { // any byte of it may say anything
        std::string changed = bytes;
        changed[at] = static_cast<char>(~changed[at]);
        std::ofstream(broken, std::ios::binary) << changed;
        CHECK(shared_libraries(broken).names.size() < 100);
    }
}

TEST_CASE("mpi: MPICH and its kin are warned of, unless they speak PMIx")
{
    CHECK_THAT(Program("libmpich.so.12", "").warning(),
               Contains("/main is linked with an MPI (libmpich.so.12) that does not speak PMIx") &&
                   Contains("start it with that MPI's mpiexec"));
    CHECK_THAT(Program("libmpi.so.12", "").warning(), Contains("(libmpi.so.12)"));
    CHECK(Program("libmpich.so.12", "libpmix.so.2").warning().empty());
    CHECK(Program("libmp.so.12", "").warning().empty());
}

TEST_CASE("mpi: Open MPI is warned of where it cannot work")
{
    const Program program("libmpi.so.40", "");
    CHECK(program.warning().empty());
    CHECK_THAT(program.warning(false), Contains("Open MPI, which cannot take one machine"));
}
