// SPDX-License-Identifier: BSD-3-Clause
//
// Dependencies run one way: who may include what, layer by layer.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

struct Include {
    fs::path file; // relative to the project
    int line;
    std::string name;
    bool quoted;
};

const fs::path root = PROJECT_SOURCE;

std::vector<Include> includes_of_text(const fs::path &file, std::istream &text)
{
    static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
    std::vector<Include> found;
    std::string line;
    std::smatch match;

    for (int number = 1; std::getline(text, line); number++)
        if (std::regex_search(line, match, pattern))
            found.push_back({file, number, match[2], match[1] == "\""});
    return found;
}

bool is_source(const fs::path &file)
{
    const std::string extension = file.extension();
    return extension == ".c" || extension == ".h" || extension == ".cc" || extension == ".sc";
}

std::vector<fs::path> sources_below(const fs::path &folder)
{
    std::vector<fs::path> files;

    if (!fs::exists(root / folder))
        return files;
    for (const auto &entry : fs::recursive_directory_iterator(root / folder))
        if (entry.is_regular_file() && is_source(entry.path()))
            files.push_back(fs::relative(entry.path(), root));
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<Include> includes_below(const fs::path &folder)
{
    std::vector<Include> found;

    for (const fs::path &file : sources_below(folder)) {
        std::ifstream text(root / file);
        auto more = includes_of_text(file, text);
        found.insert(found.end(), more.begin(), more.end());
    }
    return found;
}

bool starts_with_any(const std::string &text, const std::vector<std::string> &prefixes)
{
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](const std::string &p) { return text.rfind(p, 0) == 0; });
}

bool is_ours(const Include &include)
{
    return include.quoted || starts_with_any(include.name, {"unet/", "reliable/", "gam/", "vmmc/",
                                                            "ip/", "split-c/"});
}

// Where a quoted include leads: beside the file, or from the layer's own folders.
fs::path resolve(const Include &include)
{
    const fs::path layer = *include.file.begin();

    for (const fs::path &base : {include.file.parent_path(), layer, layer / "src"}) {
        const fs::path target = (base / include.name).lexically_normal();
        if (fs::exists(root / target))
            return target;
    }
    return layer / include.name; // made by the layer's own build
}

bool is_in(const fs::path &file, const std::vector<std::string> &folders)
{
    return starts_with_any(file.generic_string(), folders);
}

// What tests of all layers share; targets without test_quoted do not find it.
bool is_for_tests(const Include &include)
{
    return include.quoted && include.name == "quoted.h";
}

using Rule = std::function<bool(const Include &)>;

// What breaks the rule, one include a line; empty when all is well.
std::string violations(const std::vector<Include> &includes, const Rule &allowed)
{
    std::string list;

    for (const Include &i : includes)
        if (!is_for_tests(i) && !allowed(i))
            list += i.file.string() + ":" + std::to_string(i.line) + ": " + i.name + "\n";
    return list;
}

bool is_public(const std::string &header)
{
    return fs::exists(root / "unet-backends/include" / header) ||
           fs::exists(root / "reliable/include" / header) ||
           fs::exists(root / "gam/include" / header) ||
           fs::exists(root / "vmmc/include" / header) || fs::exists(root / "ip/include" / header) ||
           fs::exists(root / "runtime/include" / header);
}

// A rule for a layer: the public headers it may use, and otherwise only itself.
// Split-C programs in its tests are no part of it.
Rule only(const std::string &layer, const std::vector<std::string> &headers)
{
    return [=](const Include &i) {
        if (i.quoted)
            return is_in(resolve(i), {layer + "/"});
        if (i.file.extension() == ".sc")
            return !is_ours(i) || is_public(i.name);
        return !is_ours(i) || starts_with_any(i.name, headers);
    };
}

const std::vector<std::string> unet_headers = {"unet/unet.h",       "unet/unet_abi.h",
                                               "unet/unet_chaos.h", "unet/unet_rest.h",
                                               "unet/unet_ring.h",  "unet/unet_siphash.h"};

// The engines; the folders in them are the backends that use them.
const std::vector<fs::path> engines = {"unet-backends/shared_memory", "unet-backends/datagram"};

// What a backend in `folder` may include: its own, what all share, and its engine.
Rule of_backend(const fs::path &folder)
{
    return [=](const Include &i) {
        const fs::path target = resolve(i);
        const fs::path engine = folder.parent_path();
        return !i.quoted || is_in(target, {folder.string() + "/"}) ||
               is_in(target, {"unet-backends/core/", "unet-backends/conformance/"}) ||
               (target.parent_path() == engine &&
                std::find(engines.begin(), engines.end(), engine) != engines.end());
    };
}

std::vector<fs::path> folders_in(const fs::path &folder)
{
    std::vector<fs::path> folders;

    for (const auto &entry : fs::directory_iterator(root / folder))
        if (entry.is_directory())
            folders.push_back(fs::relative(entry.path(), root));
    return folders;
}

std::vector<std::string> with_unet(std::vector<std::string> headers)
{
    headers.insert(headers.end(), unet_headers.begin(), unet_headers.end());
    return headers;
}

void require_layer(const std::string &layer, const std::vector<std::string> &headers)
{
    const auto includes = includes_below(layer);

    REQUIRE(includes.size() > 3);
    REQUIRE(violations(includes, only(layer, headers)) == "");
}

// A thing is a header and the source of the same name.
std::string without_extension(fs::path file)
{
    return file.replace_extension().generic_string();
}

// Which things include the headers of which others.
class Graph {
public:
    explicit Graph(const std::vector<Include> &includes)
    {
        for (const Include &i : includes)
            if (std::string from = without_extension(i.file), to = without_extension(resolve(i));
                i.quoted && from != to)
                to_[from].insert(to);
    }

    // Things of which each includes the next one, and the last one the first; empty if there
    // are none.
    std::string circle()
    {
        for (const auto &[thing, others] : to_)
            if (std::string found = circle_through(thing); !found.empty())
                return found;
        return "";
    }

private:
    std::string circle_through(const std::string &thing)
    {
        if (auto at = std::find(way_.begin(), way_.end(), thing); at != way_.end()) {
            std::string list;
            for (; at != way_.end(); ++at)
                list += *at + " -> ";
            return list + thing;
        }
        if (!seen_.insert(thing).second)
            return "";
        way_.push_back(thing);
        std::string found;
        for (const std::string &other : to_[thing])
            if (found.empty())
                found = circle_through(other);
        way_.pop_back();
        return found;
    }

    std::map<std::string, std::set<std::string>> to_;
    std::set<std::string> seen_;
    std::vector<std::string> way_;
};

// The passes of the compiler, each with the other ones that it may include.
const std::map<std::string, std::vector<std::string>> passes = {
    {"source", {}},
    {"diag", {"source"}},
    {"lex", {"source", "diag"}},
    {"ast", {"lex"}},
    {"sema", {"source", "diag", "lex", "ast"}},
    {"parse", {"source", "diag", "lex", "ast", "sema"}},
    {"emit", {"source", "lex"}},
    {"lower", {"source", "diag", "lex", "ast", "emit"}},
    {"driver", {"source", "diag", "translate.h"}},
    {"lsp", {"driver"}},
};

// ---- the rooms of the runtime -----------------------------------------------------------------

const std::string rooms_folder = "runtime/src/";

// From the top: each may call those behind it.
const std::vector<std::string> rooms = {"job", "collective", "access", "memory", "observe"};

size_t room_of(const fs::path &file)
{
    for (size_t i = 0; i < rooms.size(); i++)
        if (is_in(file, {rooms_folder + rooms[i] + "/"}))
            return i;
    return rooms.size();
}

// A room is entered by its header, from above; what lies in no room is below all of them.
bool keeps_to_rooms(const Include &i)
{
    const fs::path target = resolve(i);
    const size_t from = room_of(i.file), to = room_of(target);

    if (!i.quoted || from == to || to == rooms.size())
        return true;
    return from < to && target == rooms_folder + rooms[to] + "/" + rooms[to] + ".h";
}

} // namespace

TEST_CASE("The scanner sees includes and judges them")
{
    std::istringstream text("#include <stdio.h>\n"
                            "  #  include \"other.h\" // why\n"
                            "// #include <gam/gam.h>\n"
                            "#include <unet/unet.h>\n");
    const auto found = includes_of_text("gam/src/a.c", text);

    REQUIRE(found.size() == 3);
    CHECK(found[1].name == "other.h");
    CHECK(found[1].quoted);
    CHECK(found[2].line == 4);
    CHECK(violations(found, only("compiler", {})) ==
          "gam/src/a.c:2: other.h\ngam/src/a.c:4: unet/unet.h\n");
}

TEST_CASE("compiler includes nothing of the other layers")
{
    require_layer("compiler", {});
}

TEST_CASE("passes of the compiler include those before them")
{
    for (const auto &[pass, others] : passes) {
        std::vector<std::string> allowed = {"compiler/" + pass + "/"};
        for (const std::string &other : others)
            allowed.push_back("compiler/" + other + (other.find('.') == other.npos ? "/" : ""));
        const auto includes = includes_below("compiler/" + pass);
        REQUIRE(!includes.empty());
        CHECK(violations(includes, [&](const Include &i) {
                  return !i.quoted || is_in(resolve(i), allowed);
              }) == "");
    }
    for (const auto &entry : fs::directory_iterator(root / "compiler"))
        if (entry.is_directory() && entry.path().filename() != "test" &&
            entry.path().filename() != "fuzz")
            CHECK(passes.count(entry.path().filename()) == 1);
}

TEST_CASE("no source file is longer than 500 lines, tests apart")
{
    static const std::regex test(R"(_test\.cc$|/(tests?|check|fuzz|conformance)/|test_|/world\.)");

    for (const char *layer : {"compiler", "runtime", "vmmc", "ip", "gam", "reliable",
                              "unet-backends", "launcher", "sockets", "benchmarks"})
        for (const fs::path &file : sources_below(layer)) {
            std::ifstream text(root / file);
            const auto lines = std::count(std::istreambuf_iterator<char>(text), {}, '\n');

            if (std::regex_search(file.generic_string(), test))
                continue;
            INFO(file << " has " << lines << " lines");
            CHECK(lines <= 500);
        }
}

TEST_CASE("no files include each other's headers in a circle")
{
    CHECK(Graph({{"a/x.cc", 1, "y.h", true}, {"a/y.cc", 1, "z.h", true}, {"a/y.h", 1, "x.h", true}})
              .circle() == "a/x -> a/y -> a/x");
    for (const char *layer : {"compiler", "runtime", "vmmc", "ip", "gam", "reliable",
                              "unet-backends", "launcher", "sockets", "benchmarks", "tests"}) {
        const auto includes = includes_below(layer);
        REQUIRE(includes.size() > 3);
        CHECK(Graph(includes).circle() == "");
    }
}

TEST_CASE("runtime includes gam, reliable, unet and its own headers")
{
    require_layer("runtime", with_unet({"reliable/", "gam/", "split-c/"}));
}

TEST_CASE("Rooms of the runtime are entered by their headers, from above")
{
    const fs::path wait = rooms_folder + "access/wait.c", runtime = rooms_folder + "runtime.h";

    for (const Include &good :
         {Include{wait, 1, "memory/memory.h", true}, Include{wait, 1, "direct.h", true},
          Include{wait, 1, "runtime.h", true}})
        CHECK(keeps_to_rooms(good));
    for (const Include &bad : {Include{wait, 1, "memory/window.h", true},
                               Include{wait, 1, "collective/collective.h", true},
                               Include{runtime, 1, "observe/observe.h", true}})
        CHECK_FALSE(keeps_to_rooms(bad));
    for (const std::string &room : rooms)
        REQUIRE(includes_below(rooms_folder + room).size() > 3);
    CHECK(violations(includes_below("runtime/src"), keeps_to_rooms) == "");
}

TEST_CASE("reliable includes unet's public headers and its own")
{
    require_layer("reliable", with_unet({"reliable/", "unet/unet_ni.h"}));
}

TEST_CASE("gam includes unet's public headers and its own, and its tests networks and the NI")
{
    require_layer("gam/src", with_unet({"gam/"}));
    require_layer("gam", with_unet({"gam/", "reliable/", "unet/unet_ni.h"}));
}

TEST_CASE("vmmc includes gam's public headers and its own, and its tests the ranks of gam's")
{
    require_layer("vmmc/src", {"gam/", "vmmc/"});
    require_layer("vmmc", {"gam/", "vmmc/"});
}

TEST_CASE("ip includes unet's public headers and its own")
{
    require_layer("ip", with_unet({"ip/"}));
}

TEST_CASE("gam, vmmc, ip and reliable name no backend")
{
    static const std::regex backend(
        R"~("(loopback|shm|udp|eth|fe|ni|xdp)"|unet_(loopback|shm|udp|eth)\b)~");

    for (const char *layer : {"gam/src", "vmmc/src", "ip/src", "reliable/src"})
        for (const fs::path &file : sources_below(layer)) {
            if (file.extension() == ".cc")
                continue;
            std::ifstream text(root / file);
            const std::string all((std::istreambuf_iterator<char>(text)), {});
            INFO(file);
            CHECK_FALSE(std::regex_search(all, backend));
        }
}

TEST_CASE("unet-backends includes only itself")
{
    // Those of the kernel module are nobody else's.
    require_layer("unet-backends",
                  with_unet({"unet/unet_fe.h", "unet/unet_frame.h", "unet/unet_ni.h",
                             "unet/unet_ops.h", "unet/unet_service.h"}));
}

TEST_CASE("backends include what all share and their engine, and never each other")
{
    std::vector<fs::path> backends = {"unet-backends/fe/user", "unet-backends/chaos",
                                      "unet-backends/ofi", "unet-backends/unetni"};

    for (const fs::path &engine : engines)
        for (const fs::path &backend : folders_in(engine))
            backends.push_back(backend);
    REQUIRE(backends.size() > 5);
    for (const fs::path &backend : backends) {
        const auto allowed = of_backend(backend);

        CHECK(violations(includes_below(backend), [&](const Include &i) {
                  // Cells are what the service sends, too: their format is one.
                  return allowed(i) || (i.file.filename() == "atm.c" &&
                                        resolve(i) == "unet-backends/datagram/atm/cells.h");
              }) == "");
    }
}

TEST_CASE("engines include what all backends share, and no backend")
{
    for (const fs::path &engine : engines) {
        const auto includes = includes_below(engine);

        REQUIRE(includes.size() > 3);
        CHECK(violations(includes, [&](const Include &i) {
                  return i.file.parent_path() != engine || !i.quoted ||
                         resolve(i).parent_path() == engine ||
                         is_in(resolve(i), {"unet-backends/core/"});
              }) == "");
    }
}

TEST_CASE("what all backends share includes itself alone")
{
    for (const fs::path folder : {"unet-backends/core", "unet-backends/conformance"})
        CHECK(violations(includes_below(folder), [&](const Include &i) {
                  return !i.quoted || resolve(i).parent_path() == folder;
              }) == "");
}

TEST_CASE(
    "launcher includes what ranks show and are told, and what networks they have, and nothing else")
{
    require_layer("launcher",
                  {"split-c/settings.h", "split-c/status.h", "unet/unet.h", "unet/unet_chaos.h"});
}

TEST_CASE("the launcher's front end and nodes share the tree and what is common, one way")
{
    const std::map<std::string, std::vector<std::string>> may_include = {
        {"launcher/common/", {"launcher/common/"}},
        {"launcher/tree/", {"launcher/common/", "launcher/tree/"}},
        {"launcher/front/", {"launcher/common/", "launcher/tree/", "launcher/front/"}},
        {"launcher/node/", {"launcher/common/", "launcher/node/"}},
    };

    for (const auto &[folder, allowed] : may_include) {
        const auto includes = includes_below(folder);
        INFO(folder);
        CHECK(includes.size() > 3);
        CHECK(violations(includes, [&folders = allowed](const Include &i) {
                  return !i.quoted || is_in(resolve(i), folders);
              }) == "");
    }
}

TEST_CASE("PMIx appears in one file of the launcher, in one boot file and in programs for tests")
{
    const std::set<fs::path> may = {"launcher/node/pmix_server.cc", "launcher/test/pmix_client.c",
                                    "runtime/src/job/boot.c", "tests/programs/part.c"};

    for (const char *layer : {"launcher", "unet-backends", "reliable", "gam", "runtime", "compiler",
                              "benchmarks", "examples", "tests"})
        CHECK(violations(includes_below(layer), [&](const Include &i) {
                  return !starts_with_any(i.name, {"pmix"}) || may.count(i.file);
              }) == "");
}

TEST_CASE("sockets includes reliable and unet, and its rooms those below them")
{
    // From below: what each folder of sockets/src may include besides itself.
    const std::map<std::string, std::vector<std::string>> below = {
        {"ring", {}},
        {"real", {}},
        {"record", {"ring", "real"}},
        {"spin", {"real", "record"}},
        {"stream", {"ring", "real", "record", "spin"}},
        {"epoll", {"real", "record", "spin", "stream"}},
        {"net", {"real", "record", "spin", "stream"}},
        {"upgrade", {"real", "record", "stream", "epoll", "net"}},
        {"table", {"stream", "epoll", "upgrade"}},
        {"poll", {"real", "record", "spin", "stream", "epoll", "table"}},
        {"calls", {"real", "record", "spin", "stream", "epoll", "net", "upgrade", "table", "poll"}},
    };
    const std::string folder = "sockets/src/";

    require_layer("sockets", {"unet/unet.h", "unet/unet_chaos.h", "unet/unet_siphash.h",
                              "reliable/reliable.h"});
    for (const auto &[room, rooms] : below) {
        std::vector<std::string> allowed = {folder + room + "/", "sockets/test/"};
        for (const std::string &other : rooms)
            allowed.push_back(folder + other);
        INFO(room);
        CHECK(violations(includes_below(folder + room), [&](const Include &i) {
                  return !i.quoted || is_in(resolve(i), allowed);
              }) == "");
    }
    for (const fs::path &entry : folders_in("sockets/src"))
        CHECK(below.count(entry.filename()) == 1);
}

TEST_CASE("benchmarks, examples and tests include public headers only")
{
    for (const char *folder : {"benchmarks", "examples", "tests"})
        CHECK(violations(includes_below(folder), [&](const Include &i) {
                  if (i.quoted)
                      return is_in(resolve(i), {std::string(folder) + "/"});
                  return !is_ours(i) || is_public(i.name);
              }) == "");
}

TEST_CASE("Python of benchmarks imports the package bench and what is beside it")
{
    static const std::regex pattern(R"(^\s*(?:import|from) (\w+))");
    std::vector<fs::path> files;
    for (const auto &entry : fs::recursive_directory_iterator(root / "benchmarks"))
        if (entry.path().extension() == ".py")
            files.push_back(entry.path());
    REQUIRE(files.size() > 20);
    for (const fs::path &file : files) {
        std::ifstream text(file);
        std::string line;
        std::smatch match;
        while (std::getline(text, line)) {
            if (!std::regex_search(line, match, pattern))
                continue;
            const std::string module = match[1].str() + ".py";
            const bool is_ours =
                std::any_of(files.begin(), files.end(),
                            [&](const fs::path &other) { return other.filename() == module; });
            INFO(fs::relative(file, root) << ": " << line);
            CHECK((!is_ours || fs::exists(file.parent_path() / module)));
        }
    }
}

TEST_CASE("documents name files and folders that exist")
{
    static const std::regex path(
        "`((compiler|runtime|vmmc|ip|gam|reliable|unet-backends|launcher|sockets|"
        "benchmarks|examples|tests|docs|cmake)/[A-Za-z0-9_./-]+)`");
    std::vector<fs::path> documents = {"README.md", "CONTRIBUTING.md"};
    size_t named = 0;

    for (const auto &entry : fs::directory_iterator(root / "docs"))
        if (entry.path().extension() == ".md")
            documents.push_back(fs::relative(entry.path(), root));
    for (const fs::path &document : documents) {
        std::ifstream file(root / document);
        const std::string text((std::istreambuf_iterator<char>(file)), {});
        for (std::sregex_iterator i(text.begin(), text.end(), path), end; i != end; ++i, named++)
            if (const std::string name = (*i)[1]; name.find("NAME") == name.npos) {
                INFO(document << " names " << name);
                CHECK((fs::exists(root / name) || is_public(name)));
            }
    }
    CHECK(named > 20);
}
