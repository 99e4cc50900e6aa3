// SPDX-License-Identifier: BSD-3-Clause
#include "lsp/server.h"

#include <algorithm>

#include "driver/process.h"

namespace splitcc::lsp {
namespace {

constexpr int kQuietMs = 150;  // without a message before splitcc runs: the user types on
constexpr int kDepthMost = 64; // of arrays and objects in a message

// Codes of JSON-RPC, and of the protocol.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601,
              kInvalidParams = -32602, kNotInitialized = -32002;

// Values that lie deeper than any of the protocol are left out: copies and writers of JSON recurse,
// and a message has room for more brackets than the stack for calls.
nlohmann::json shallow(const std::string &text)
{
    using json = nlohmann::json;

    return json::parse(
        text, [](int depth, json::parse_event_t, json &) { return depth < kDepthMost; }, false);
}

} // namespace

struct Server::Failure : std::runtime_error {
    Failure(int c, const std::string &what) : std::runtime_error(what), code(c) {}
    int code;
};

// ---- places

Server::json Server::range(const Lines &lines, const Place &place) const
{
    const uint32_t line = place.line > 0 ? place.line - 1 : 0;
    const auto at = [&](uint32_t column) {
        return json{{"line", line},
                    {"character", lines.units_at(line, column > 0 ? column - 1 : 0, utf8_)}};
    };
    return {{"start", at(place.begin)}, {"end", at(place.end)}};
}

Server::json Server::location(const Document &document, const Place &place) const
{
    const bool here = place.file == document.file;
    const Lines lines = here ? document.lines : Lines(read_file(place.file.string()).value_or(""));

    return {{"uri", uri_of_path(place.file)}, {"range", range(lines, place)}};
}

// The entry under the cursor, and what is known there, a line each.
const Entry *Server::entry_at(const Document &document, const json &position,
                              std::string *text) const
{
    const auto line = position.at("line").get<uint32_t>();
    const size_t column =
        document.lines.byte_at(line, position.at("character").get<uint32_t>(), utf8_) + 1;
    const Entry *found = nullptr;

    for (const Entry &entry : document.checked.index) {
        if (entry.where.line != line + 1 || column < entry.where.begin || column >= entry.where.end)
            continue;
        if (!found || found->declared.line == 0)
            found = &entry;
        if (text && text->find(entry.text) == std::string::npos)
            *text += (text->empty() ? "" : "\n") + entry.text;
    }
    return found;
}

// ---- what splitcc found

Server::json Server::diagnostic(const Document &document, const Finding &finding) const
{
    const bool here = finding.where.file == document.file;
    json result{{"range", range(document.lines, here ? finding.where : Place{{}, 1, 1, 1})},
                {"severity", finding.severity},
                {"source", "splitcc"},
                {"message", here ? finding.text
                                 : finding.where.file.string() + ":" +
                                       std::to_string(finding.where.line) + ": " + finding.text}};

    if (!finding.option.empty())
        result["code"] = finding.option;
    for (const Finding &note : finding.notes)
        result["relatedInformation"].push_back(
            {{"location", location(document, note.where)}, {"message", note.text}});
    return result;
}

void Server::publish(const std::string &uri, const Document &document)
{
    json diagnostics = json::array();

    for (const Finding &finding : document.checked.findings)
        diagnostics.push_back(diagnostic(document, finding));
    send({{"method", "textDocument/publishDiagnostics"},
          {"params", {{"uri", uri}, {"version", document.version}, {"diagnostics", diagnostics}}}});
}

void Server::refresh(const std::string &uri, Document &document)
{
    if (!document.stale)
        return;
    document.stale = false;
    document.checked = check(splitcc_, document.file, document.text);
    publish(uri, document);
}

void Server::refresh_one()
{
    const auto stale = std::find_if(documents_.begin(), documents_.end(),
                                    [](const auto &entry) { return entry.second.stale; });
    if (stale != documents_.end())
        refresh(stale->first, stale->second);
}

// The document that a request is about, once splitcc has seen its text.
Server::Document &Server::fresh(const json &params)
{
    const auto uri = params.at("textDocument").at("uri").get<std::string>();
    const auto found = documents_.find(uri);

    if (found == documents_.end())
        throw Failure(kInvalidParams, uri + " is not open");
    refresh(uri, found->second);
    return found->second;
}

// ---- requests

Server::json Server::initialize(const json &params)
{
    const json &general =
        params.value("/capabilities/general/positionEncodings"_json_pointer, json::array());

    utf8_ = std::find(general.begin(), general.end(), "utf-8") != general.end();
    started_ = true;
    return {{"capabilities",
             {{"positionEncoding", utf8_ ? "utf-8" : "utf-16"},
              {"textDocumentSync", {{"openClose", true}, {"change", 1}}}, // the whole text
              {"hoverProvider", true},
              {"definitionProvider", true},
              {"codeActionProvider", {{"codeActionKinds", {"quickfix"}}}}}},
            {"serverInfo", {{"name", "splitc-lsp"}}}};
}

Server::json Server::hover(const json &params)
{
    const Document &document = fresh(params);
    std::string text;
    const Entry *entry = entry_at(document, params.at("position"), &text);

    if (!entry)
        return nullptr;
    return {{"contents", {{"kind", "plaintext"}, {"value", text}}},
            {"range", range(document.lines, entry->where)}};
}

Server::json Server::definition(const json &params)
{
    const Document &document = fresh(params);
    const Entry *entry = entry_at(document, params.at("position"), nullptr);

    return entry && entry->declared.line > 0 ? location(document, entry->declared) : json();
}

// The fixes that splitcc suggests for what lies in the range.
Server::json Server::code_actions(const json &params)
{
    const Document &document = fresh(params);
    const std::string uri = params["textDocument"]["uri"];
    const auto first = params.at("range").at("start").at("line").get<uint32_t>() + 1;
    const auto last = params.at("range").at("end").at("line").get<uint32_t>() + 1;
    json actions = json::array();

    for (const Finding &finding : document.checked.findings) {
        json edits = json::array();
        if (finding.where.file != document.file || finding.where.line < first ||
            finding.where.line > last)
            continue;
        for (const Fix &fix : finding.fixes)
            if (fix.where.file == document.file)
                edits.push_back(
                    {{"range", range(document.lines, fix.where)}, {"newText", fix.text}});
        if (!edits.empty())
            actions.push_back({{"title", "Fix: " + finding.text},
                               {"kind", "quickfix"},
                               {"diagnostics", {diagnostic(document, finding)}},
                               {"edit", {{"changes", {{uri, edits}}}}}});
    }
    return actions;
}

// ---- messages

void Server::set_text(const std::string &uri, std::string text, const json &version)
{
    Document &document = documents_[uri];

    document.file = path_of_uri(uri);
    if (document.file.empty()) // one that is in no file yet
        document.file = std::filesystem::current_path() / "untitled.sc";
    document.text = std::move(text);
    document.lines = Lines(document.text);
    document.version = version;
    document.stale = true;
}

void Server::notice(const std::string &method, const json &params)
{
    if (method == "exit") {
        exit_ = true;
    } else if (method == "textDocument/didOpen") {
        const json &document = params.at("textDocument");
        set_text(document.at("uri"), document.at("text"), document.value("version", json()));
    } else if (method == "textDocument/didChange") {
        const json &document = params.at("textDocument"), &changes = params.at("contentChanges");
        if (!changes.empty())
            set_text(document.at("uri"), changes.back().at("text"),
                     document.value("version", json()));
    } else if (method == "textDocument/didClose") {
        const auto uri = params.at("textDocument").at("uri").get<std::string>();
        documents_.erase(uri);
        send({{"method", "textDocument/publishDiagnostics"},
              {"params", {{"uri", uri}, {"diagnostics", json::array()}}}});
    } else if (method == "workspace/didChangeConfiguration" ||
               method == "workspace/didChangeWatchedFiles" || method == "textDocument/didSave") {
        for (auto &[uri, document] : documents_) // what they include may have changed
            document.stale = true;
    }
}

Server::json Server::answer(const std::string &method, const json &params)
{
    if (method == "initialize")
        return initialize(params);
    if (!started_)
        throw Failure(kNotInitialized, "initialize has to come first");
    if (stopped_)
        throw Failure(kInvalidRequest, "nothing but exit may follow shutdown");
    if (method == "shutdown") {
        stopped_ = true;
        return nullptr;
    }
    if (method == "textDocument/hover")
        return hover(params);
    if (method == "textDocument/definition")
        return definition(params);
    if (method == "textDocument/codeAction")
        return code_actions(params);
    throw Failure(kMethodNotFound, "no method " + method);
}

void Server::send(json message)
{
    message["jsonrpc"] = "2.0";
    wire_.write(message.dump(-1, ' ', false, json::error_handler_t::replace));
}

void Server::handle(const std::string &text)
{
    const json message = shallow(text);
    json reply;

    if (!message.is_object() || !message.contains("method") || !message["method"].is_string()) {
        if (!message.is_object() || !message.contains("id"))
            send({{"id", nullptr},
                  {"error", {{"code", kParseError}, {"message", "this is no request"}}}});
        return; // an answer, to what nobody asked
    }
    const json params = message.value("params", json::object());
    try {
        if (!message.contains("id")) {
            notice(message["method"], params);
            return;
        }
        reply["result"] = answer(message["method"], params);
    } catch (const Failure &failure) {
        reply["error"] = {{"code", failure.code}, {"message", failure.what()}};
    } catch (const json::exception &) {
        reply["error"] = {{"code", kInvalidParams},
                          {"message", "parameters are missing, or wrong"}};
    }
    if (message.contains("id")) {
        reply["id"] = message["id"];
        send(reply);
    }
}

int Server::run()
{
    std::string message;

    while (!exit_) {
        if (!wire_.ready_within(kQuietMs)) {
            refresh_one();
            const bool idle = std::none_of(documents_.begin(), documents_.end(),
                                           [](const auto &e) { return e.second.stale; });
            if (!idle || !wire_.ready_within(-1))
                continue;
        }
        if (!wire_.read(message))
            break;
        handle(message);
    }
    return exit_ && stopped_ ? 0 : 1;
}

} // namespace splitcc::lsp
