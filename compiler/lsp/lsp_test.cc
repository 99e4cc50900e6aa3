// SPDX-License-Identifier: BSD-3-Clause
//
// splitc-lsp as an editor uses it, and its parts.
#include <catch2/catch.hpp>

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/process.h"
#include "lsp/check.h"
#include "lsp/text.h"
#include "lsp/wire.h"

namespace fs = std::filesystem;
using nlohmann::json;
using namespace splitcc::lsp;

extern char **environ;

namespace {

constexpr int kPatienceMs = 20000;

class Folder {
public:
    Folder()
    {
        char name[] = "/tmp/splitc lsp-XXXXXX"; // with a blank, as folders may have
        path = mkdtemp(name);
    }
    ~Folder() { fs::remove_all(path); }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    fs::path file(const std::string &name, const std::string &text) const
    {
        fs::create_directories((path / name).parent_path());
        std::ofstream(path / name) << text;
        return path / name;
    }
    fs::path path;
};

// A server, and the editor's end of its pipes.
class Editor {
public:
    Editor()
    {
        int in[2], out[2];
        REQUIRE((pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0));
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, in[0], 0);
        posix_spawn_file_actions_adddup2(&actions, out[1], 1);
        char name[] = SPLITC_LSP;
        char *arguments[] = {name, nullptr};
        REQUIRE(posix_spawn(&pid_, name, &actions, nullptr, arguments, environ) == 0);
        posix_spawn_file_actions_destroy(&actions);
        close(in[0]);
        close(out[1]);
        to_ = in[1];
        from_ = out[0];
        wire_ = std::make_unique<Wire>(from_, to_);
    }
    ~Editor()
    {
        close(to_);
        if (pid_ > 0)
            kill(pid_, SIGKILL);
        end();
        close(from_);
    }
    Editor(const Editor &) = delete;
    Editor &operator=(const Editor &) = delete;

    void say(const std::string &bytes)
    {
        REQUIRE(write(to_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    }
    void notify(const std::string &method, const json &params)
    {
        wire_->write(json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}.dump());
    }
    json next()
    {
        std::string text;
        REQUIRE(wire_->ready_within(kPatienceMs));
        REQUIRE(wire_->read(text));
        return json::parse(text);
    }
    // The answer; what the server says unasked before it is kept in `said`.
    json ask(const std::string &method, const json &params)
    {
        wire_->write(
            json{{"jsonrpc", "2.0"}, {"id", ++id_}, {"method", method}, {"params", params}}.dump());
        while (true) {
            json message = next();
            if (message.contains("id") && message["id"] == id_)
                return message;
            said.push_back(message);
        }
    }
    json result(const std::string &method, const json &params)
    {
        const json answer = ask(method, params);
        INFO(answer.dump());
        REQUIRE(answer.contains("result"));
        return answer["result"];
    }
    void start(const json &capabilities = json::object())
    {
        result("initialize", {{"processId", nullptr}, {"capabilities", capabilities}});
        notify("initialized", json::object());
    }
    void open(const fs::path &file, const std::string &text)
    {
        notify("textDocument/didOpen", {{"textDocument",
                                         {{"uri", uri_of_path(file)},
                                          {"languageId", "splitc"},
                                          {"version", 1},
                                          {"text", text}}}});
    }
    // The next diagnostics, which come unasked.
    json diagnostics()
    {
        const json message = next();
        REQUIRE(message.value("method", "") == "textDocument/publishDiagnostics");
        return message["params"]["diagnostics"];
    }
    int end()
    {
        int status = 0;
        if (pid_ > 0)
            waitpid(pid_, &status, 0);
        pid_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

    std::vector<json> said;

private:
    pid_t pid_ = 0;
    int to_ = -1, from_ = -1, id_ = 0;
    std::unique_ptr<Wire> wire_;
};

json at(const fs::path &file, int line, int character)
{
    return {{"textDocument", {{"uri", uri_of_path(file)}}},
            {"position", {{"line", line}, {"character", character}}}};
}

json between(int line, int from, int to)
{
    return {{"start", {{"line", line}, {"character", from}}},
            {"end", {{"line", line}, {"character", to}}}};
}

const char *const kProgram = "#include <split-c/split-c.h>\n"
                             "#include \"own.h\"\n"
                             "\n"
                             "static double far(struct pair *global p)\n"
                             "{\n"
                             "    double v;\n"
                             "    v := p->x; sync(); /* ö𝄞 */ v = OWN * v;\n"
                             "    return v;\n"
                             "}\n"
                             "\n"
                             "int splitc_main(void)\n"
                             "{\n"
                             "    return far(0) != 0;\n"
                             "}\n";

} // namespace

TEST_CASE("lsp: columns are counted in UTF-16 units and in bytes")
{
    const Lines lines("a\xc3\xb6\xf0\x9d\x84\x9ez\r\nb");

    CHECK(lines.units_at(0, 1, false) == 1);
    CHECK(lines.units_at(0, 3, false) == 2);
    CHECK(lines.units_at(0, 7, false) == 4);
    CHECK(lines.units_at(0, 99, false) == 5);
    CHECK(lines.units_at(0, 7, true) == 7);
    CHECK(lines.byte_at(0, 2, false) == 3);
    CHECK(lines.byte_at(0, 4, false) == 7);
    CHECK(lines.byte_at(0, 99, false) == 8);
    CHECK(lines.byte_at(7, 3, false) == 0);
    CHECK(lines.units_at(7, 3, false) == 0);
}

TEST_CASE("lsp: paths and URIs")
{
    CHECK(uri_of_path("/a b/\xc3\xb6.sc") == "file:///a%20b/%C3%B6.sc");
    CHECK(path_of_uri("file:///a%20b/%C3%B6.sc") == "/a b/\xc3\xb6.sc");
    CHECK(path_of_uri("file://host/a%2") == "/a%2");
    CHECK(path_of_uri("untitled:1").empty());
    CHECK(path_of_uri("file:///a%00b").empty());
}

TEST_CASE("lsp: options come from what build tools write, the nearest first")
{
    const Folder folder;
    const fs::path source = folder.file("a/b/x.sc", ""), other = folder.file("a/y.sc", "");
    using Words = std::vector<std::string>;

    CHECK(shell_words(R"(cc -DA="b c" 'd"e' f\ g "")") ==
          Words{"cc", "-DA=b c", "d\"e", "f g", ""});
    CHECK(flags_of(source).words == Words{});
    folder.file("compile_flags.txt", "-DTOP=1\n-o\nx\n-I\ninc\n");
    CHECK(flags_of(source).words == Words{"-DTOP=1", "-I", "inc"});
    CHECK(flags_of(source).folder == folder.path);
    const json commands = {{{"directory", (folder.path / "a").string()},
                            {"file", "b/x.sc"},
                            {"command", "splitcc -c -O2 -std=gnu89 -Dq -MF d -o x.o b/x.sc"}}};
    folder.file("a/build/compile_commands.json", commands.dump());
    CHECK(flags_of(source).words == Words{"-std=gnu89", "-Dq"});
    CHECK(flags_of(source).folder == folder.path / "a");
    CHECK(flags_of(other).words == Words{"-DTOP=1", "-I", "inc"});
    folder.file("a/build/compile_commands.json", "[{\"file\": 3");
    CHECK(flags_of(source).words == Words{"-DTOP=1", "-I", "inc"});
}

TEST_CASE("lsp: options that would load code or write files are not taken from a file")
{
    const Folder folder;
    const fs::path source = folder.file("x.sc", "");
    using Words = std::vector<std::string>;

    folder.file(
        "compile_flags.txt",
        "-fplugin=./evil.so\n-Wp,-MD,victim\n-fdump-tree-original=victim\n-wrapper\n./evil\n"
        "-cc\n./evil\n-cc\n" +
            (folder.path / "evil").string() +
            "\n-funsigned-char\n-Wno-unused\n-m32\n-fcheck\n-cc\ncc\n");
    CHECK(flags_of(source).words ==
          Words{"-funsigned-char", "-Wno-unused", "-m32", "-fcheck", "-cc", "cc"});
}

TEST_CASE("lsp: what is under the cursor is told, with its cost, and where it is declared")
{
    const Folder folder;
    const fs::path header =
        folder.file("own.h", "#define OWN 2\nstruct pair {\n    double x;\n};\n");
    const fs::path source = folder.file("prog.sc", "not what the editor shows");
    Editor editor;

    editor.start();
    editor.open(source, kProgram);
    CHECK(editor.diagnostics() == json::array());

    json hover = editor.result("textDocument/hover", at(source, 3, 38));
    CHECK(hover["contents"]["value"] == "parameter p: struct pair *global");
    CHECK(hover["range"] == between(3, 38, 39));
    hover = editor.result("textDocument/hover", at(source, 6, 12));
    CHECK_THAT(hover["contents"]["value"].get<std::string>(),
               Catch::Contains("member x of struct pair: double\n") &&
                   Catch::Contains("access to 'double' in the global address space"));
    hover = editor.result("textDocument/hover", at(source, 6, 7));
    CHECK_THAT(hover["contents"]["value"].get<std::string>(),
               Catch::Contains("split-phase get, which does not wait"));
    CHECK(editor.result("textDocument/hover", at(source, 2, 0)) == nullptr);
    CHECK(editor.result("textDocument/hover", at(source, 99, 99)) == nullptr);

    json place = editor.result("textDocument/definition", at(source, 6, 12));
    CHECK(place["uri"] == uri_of_path(header));
    CHECK(place["range"] == between(2, 11, 12));
    place = editor.result("textDocument/definition", at(source, 12, 12));
    CHECK(place["uri"] == uri_of_path(source));
    CHECK(place["range"] == between(3, 14, 17));
    // Behind a character of two units and one of two bytes.
    place = editor.result("textDocument/definition", at(source, 6, 33));
    CHECK(place["range"] == between(5, 11, 12));
    CHECK(editor.result("textDocument/definition", at(source, 6, 7)) == nullptr);
    CHECK(editor.result("shutdown", nullptr) == nullptr);
    editor.notify("exit", nullptr);
    CHECK(editor.end() == 0);
}

TEST_CASE("lsp: mistakes are told while one types, and fixes offered")
{
    const Folder folder;
    const fs::path source = folder.path / "new.sc"; // which is in no file yet
    const json document = {{"uri", uri_of_path(source)}, {"version", 2}};
    Editor editor;

    editor.start({{"general", {{"positionEncodings", {"utf-16", "utf-8"}}}}});
    editor.open(source, "#include <split-c/split-c.h>\n"
                        "int splitc_main(void)\n"
                        "{\n"
                        "    int *global g = 0;\n"
                        "    int x;\n"
                        "    x := g;\n"
                        "    sync();\n"
                        "    return x\n"
                        "}\n");
    json found = editor.diagnostics();
    REQUIRE(found.size() == 2);
    CHECK(found[0]["message"] == "':=' needs a global side: both operands are local");
    CHECK(found[0]["range"] == between(5, 4, 10));
    CHECK(found[0]["severity"] == 1);
    CHECK(found[0]["source"] == "splitcc");

    const json actions =
        editor.result("textDocument/codeAction", {{"textDocument", document},
                                                  {"range", between(5, 0, 3)},
                                                  {"context", {{"diagnostics", json::array()}}}});
    REQUIRE(actions.size() == 1);
    const json edits = actions[0]["edit"]["changes"][uri_of_path(source)];
    CHECK(edits == json::array({{{"range", between(5, 9, 9)}, {"newText", "*"}}}));

    editor.notify("textDocument/didChange",
                  {{"textDocument", document},
                   {"contentChanges",
                    {{{"text", "#include <split-c/split-c.h>\n#include \"nowhere.h\"\n"}}}}});
    found = editor.diagnostics();
    REQUIRE(found.size() == 1);
    CHECK(found[0]["message"] == "nowhere.h: No such file or directory");
    CHECK(found[0]["range"]["start"]["line"] == 1);

    // The C compiler is heard, too.
    editor.notify(
        "textDocument/didChange",
        {{"textDocument", document},
         {"contentChanges",
          {{{"text", "int f(void)\n{\n    struct { int a; } s = 1;\n    return s.a;\n}\n"}}}}});
    found = editor.diagnostics();
    REQUIRE(found.size() >= 1);
    CHECK(found[0]["range"]["start"]["line"] == 2);
    editor.notify("textDocument/didClose", {{"textDocument", document}});
    CHECK(editor.diagnostics() == json::array());
    CHECK(editor.ask("textDocument/hover", at(source, 0, 0))["error"]["code"] == -32602);
}

TEST_CASE("lsp: what is no request of the protocol is answered so, or ends the server")
{
    Editor editor;

    CHECK(editor.ask("textDocument/hover", at("/x.sc", 0, 0))["error"]["code"] == -32002);
    editor.start();
    CHECK(editor.ask("no/such", json::object())["error"]["code"] == -32601);
    CHECK(editor.ask("textDocument/hover", 3)["error"]["code"] == -32602);
    editor.notify("textDocument/didOpen", {{"textDocument", "x"}});
    editor.notify("$/setTrace", {{"value", "off"}});
    editor.say("Content-Length: 4\r\n\r\n{\"x}");
    CHECK(editor.next()["error"]["code"] == -32700);
    CHECK(editor.ask("no/such", json::object())["error"]["code"] == -32601);
    const std::string deep(1 << 20, '['),
        id = "{\"id\":1,\"method\":\"no/such\",\"params\":" + deep + std::string(deep.size(), ']') +
             "}";
    editor.say("Content-Length: " + std::to_string(id.size()) + "\r\n\r\n" + id);
    CHECK(editor.next()["error"]["code"] == -32601);
    editor.say(GENERATE(as<std::string>(), "Content-Length: 99999999999999999999\r\n\r\n",
                        "Content-Length: x\r\n\r\n", "Nothing: 1\r\n\r\n", std::string(5000, 'x')));
    CHECK(editor.end() == 1);
}

TEST_CASE("lsp: a server whose editor has gone ends")
{
    Editor editor;

    editor.start();
    CHECK(editor.result("shutdown", nullptr) == nullptr);
    CHECK(editor.ask("textDocument/hover", at("/x.sc", 0, 0))["error"]["code"] == -32600);
}

TEST_CASE("lsp: neovim shows it")
{
    if (std::system("nvim --version > /dev/null 2>&1") != 0) {
        WARN("not run: no nvim");
        return;
    }
    const Folder folder;
    folder.file("n.sc", "int f(int *global p)\n{\n    *p = 1;\n    return q;\n}\n");
    const std::string out = (folder.path / "out").string();
    const std::string command = "cd '" + folder.path.string() +
                                "' && SPLITC_LSP='" SPLITC_LSP
                                "' timeout 60 nvim --headless -u NONE "
                                "n.sc -c 'luafile " LSP_SOURCE "/neovim.lua' > out 2>&1";
    const int code = std::system(command.c_str());
    const std::string said = splitcc::read_file(out).value_or("");

    INFO(said);
    CHECK(code == 0);
    CHECK_THAT(said, Catch::Contains("4:12: 'q' is not declared here") &&
                         Catch::Contains("parameter p: int *global") &&
                         Catch::Contains("declared in line 1") && Catch::Contains("mended"));
}
