// SPDX-License-Identifier: BSD-3-Clause
//
// The Debian packages: what they hold, what they say of themselves, and that programs are compiled
// and run from them.  `./dev test --packages` installs them on a bare Debian.
#include "splitc_run.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>

namespace fs = std::filesystem;

namespace {

std::string must(const std::vector<std::string> &arguments, const fs::path &folder = {})
{
    Command command{arguments};
    command.folder = folder;
    const Outcome outcome = run(command);
    std::ostringstream shown;
    for (const std::string &word : arguments)
        shown << word << ' ';
    INFO(shown.str() << '\n' << outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    return outcome.out;
}

// The regular files below a folder, by their names from there on.
std::map<std::string, std::uintmax_t> files_below(const fs::path &folder)
{
    std::map<std::string, std::uintmax_t> files;
    for (const auto &entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file())
            files[fs::relative(entry.path(), folder).string()] = entry.file_size();
    return files;
}

// What dpkg-deb tells of a package, and a folder that it has unpacked it to.
class Package {
public:
    Package(std::string file, const TemporaryFolder &folder)
        : file_(std::move(file)), tree(folder / field("Package"))
    {
        must({"dpkg-deb", "-x", file_, tree});
        files = files_below(tree);
    }

    std::string field(const std::string &name) const
    {
        std::string value = must({"dpkg-deb", "-f", file_, name});
        value.erase(value.find_last_not_of('\n') + 1);
        return value;
    }

    bool holds(const std::string &name) const { return files.contains("usr/" + name); }

private:
    std::string file_;

public:
    std::string tree;
    std::map<std::string, std::uintmax_t> files;
};

// gzip rather than xz: nobody keeps them.
std::map<std::string, Package> make_packages(const TemporaryFolder &folder)
{
    must({CPACK, "--config", BUILD_FOLDER "/CPackConfig.cmake", "-B", folder / "made", "-G", "DEB",
          "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"});
    std::map<std::string, Package> packages;
    for (const auto &entry : fs::directory_iterator(folder / "made"))
        if (entry.path().extension() == ".deb") {
            Package package(entry.path().string(), folder);
            packages.emplace(package.field("Package"), std::move(package));
        }
    return packages;
}

void check_fields(const std::map<std::string, Package> &packages)
{
    std::string machine = must({"dpkg", "--print-architecture"});
    machine.pop_back();
    const Package &run = packages.at("splitc"), &dev = packages.at("splitc-dev"),
                  &dkms = packages.at("unet-fe-dkms");
    for (const auto &[name, package] : packages) {
        INFO(name);
        const bool programs = name == "splitc" || name == "splitc-dev";
        CHECK(package.field("Architecture") == (programs ? machine : "all"));
        CHECK(package.field("Version") == run.field("Version"));
        CHECK_THAT(package.field("Maintainer"), Catch::Contains("@"));
        // a line that tells this package from the others, and more
        CHECK_THAT(package.field("Description"), Catch::Contains("\n "));
        CHECK(package.holds("share/doc/" + name + "/copyright"));
        CHECK(package.holds("share/doc/" + name + "/changelog.gz"));
    }
    const std::string needs = run.field("Depends");
    // the last one is needed by what splitcc links, and by nothing in the package
    for (const char *library : {"libc6 (>= ", "libpmix", "libhwloc", "libmimalloc"})
        CHECK_THAT(needs, Catch::Contains(library));
    CHECK_THAT(needs, !Catch::Contains("libstdc++")); // nodes need none
    for (const char *compiler : {"gcc |", "-dev"})
        CHECK_THAT(needs, !Catch::Contains(compiler));
    for (const std::string &package :
         {"splitc (= " + run.field("Version") + ")", std::string("gcc | clang | c-compiler"),
          std::string("libpmix-dev"), std::string("libmimalloc-dev"), std::string("libc6-dev")})
        CHECK_THAT(dev.field("Depends"), Catch::Contains(package));
    CHECK_THAT(dkms.field("Depends"), Catch::Contains("dkms"));
}

void check_lists(const std::map<std::string, Package> &packages, const fs::path &installed)
{
    std::map<std::string, std::string> owner;
    for (const auto &[name, package] : packages)
        for (const auto &[file, size] : package.files) {
            INFO(file << " is in " << name << " and in " << owner[file]);
            CHECK(owner[file].empty());
            owner[file] = name;
        }
    for (const auto &[file, size] : files_below(installed)) {
        INFO(file << " is installed, and in no package");
        const std::string zsh = "share/zsh/site-functions/"; // and vendor-completions in Debian
        CHECK((owner.contains("usr/" + file) || owner.contains("usr/" + file + ".gz") ||
               (file.starts_with(zsh) &&
                owner.contains("usr/share/zsh/vendor-completions/" + file.substr(zsh.size())))));
    }
    for (const auto &[package, file] : std::multimap<std::string, std::string>{
             {"splitc", "bin/unetrun"},
             {"splitc", "bin/unetsock"},
             {"splitc", "lib/split-c/libunetsock.so"},
             {"splitc", "share/man/man1/unetrun.1.gz"},
             {"splitc", "share/bash-completion/completions/unetrun"},
             {"splitc", "share/zsh/vendor-completions/_unetsock"},
             {"splitc-dev", "bin/splitcc"},
             {"splitc-dev", "share/bash-completion/completions/splitcc"},
             {"splitc-dev", "share/vim/vimfiles/syntax/splitc.vim"},
             {"splitc-dev", "include/split-c/split-c.h"},
             {"splitc-dev", "lib/libsplitc.a"},
             {"splitc-dev", "lib/cmake/SplitC/SplitCConfig.cmake"},
             {"splitc-dev", "share/man/man1/splitcc.1.gz"},
             {"splitc-doc", "share/doc/split-c/docs/language.md"},
             {"unet-fe-dkms", "lib/udev/rules.d/60-unet.rules"},
             {"unet-fe-dkms", "share/man/man4/unet.4.gz"}}) {
        INFO(file);
        CHECK(owner["usr/" + file] == package);
    }
}

void check_stripped(const std::map<std::string, Package> &packages)
{
    for (const auto &[package, file] :
         std::multimap<std::string, std::string>{{"splitc", "usr/bin/unetrun"},
                                                 {"splitc", "usr/lib/split-c/libunetsock.so"},
                                                 {"splitc-dev", "usr/bin/splitcc"},
                                                 {"splitc-dev", "usr/lib/libsplitc.a"},
                                                 {"splitc-dev", "usr/lib/libunet.a"}}) {
        INFO(file);
        CHECK_THAT(must({"readelf", "-SW", packages.at(package).tree + "/" + file}),
                   !Catch::Contains(".debug_"));
    }
}

// All that dkms reads: its file names the version that the folder does, and each of the module's
// own headers is there.
void check_module(const Package &package)
{
    const std::string version = package.field("Version"),
                      upstream = version.substr(0, version.find('-')),
                      folder = package.tree + "/usr/src/unet_fe-" + upstream;
    CHECK_THAT(read_file(folder + "/dkms.conf"),
               Catch::Contains("PACKAGE_VERSION=\"" + upstream + "\""));
    CHECK(fs::exists(folder + "/fe/module/Kbuild"));
    std::set<std::string> headers;
    for (const auto &entry : fs::directory_iterator(folder + "/fe/module")) {
        std::istringstream lines(read_file(entry.path()));
        for (std::string line; std::getline(lines, line);)
            if (line.starts_with("#include <unet/"))
                headers.insert(line.substr(10, line.find('>') - 10));
    }
    CHECK(headers.size() > 1);
    for (const std::string &header : headers) {
        INFO(header);
        CHECK(fs::exists(folder + "/include/" + header));
    }
}

} // namespace

TEST_CASE("Debian packages hold all that is installed, and programs compile and run from them")
{
    if (run({{"sh", "-c", "command -v dpkg-deb && command -v dpkg-shlibdeps"}}).code != 0) {
        WARN("not run: there is no dpkg-shlibdeps (Debian: dpkg-dev)");
        return;
    }
    const TemporaryFolder folder;
    const std::map<std::string, Package> packages = make_packages(folder);
    REQUIRE(packages.size() == 4);
    must({CMAKE, "--install", BUILD_FOLDER, "--strip", "--prefix", folder / "installed"});
    check_fields(packages);
    check_lists(packages, folder / "installed");
    check_stripped(packages);
    check_module(packages.at("unet-fe-dkms"));

    // Both that a user installs, where they find one another.
    fs::copy(packages.at("splitc").tree, folder / "root", fs::copy_options::recursive);
    fs::copy(packages.at("splitc-dev").tree, folder / "root", fs::copy_options::recursive);
    const std::string bin = folder / "root/usr/bin/";
    must({bin + "splitcc", PROJECT_SOURCE "/examples/hello.sc", "-o", folder / "hello"});
    CHECK_THAT(must({bin + "unetrun", "-n", "2", folder / "hello"}),
               Catch::Contains("hello from processor 1 of 2\n"));
}

TEST_CASE("An installed tree takes less than 10 MB")
{
    const TemporaryFolder folder;
    must({CMAKE, "--install", BUILD_FOLDER, "--strip", "--prefix", folder / "installed"});
    std::uintmax_t bytes = 0;
    for (const auto &[file, size] : files_below(folder / "installed"))
        bytes += size;
    CHECK(bytes > 1'000'000);
    CHECK(bytes < 10'000'000);
    must({"sh", "-c", "! readelf -SW \"$1\"/lib/*.a | grep -q debug_", "sh", folder / "installed"});
}
