// SPDX-License-Identifier: BSD-3-Clause
//
// The methods of the server, and the documents that the editor has open.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "lsp/check.h"
#include "lsp/text.h"
#include "lsp/wire.h"

namespace splitcc::lsp {

class Server {
public:
    Server(Wire &wire, std::filesystem::path splitcc) : wire_(wire), splitcc_(std::move(splitcc)) {}

    // Answers until the editor says exit, or is gone.  Returns the exit code that the protocol
    // wants.
    int run();

private:
    using json = nlohmann::json;
    struct Document {
        std::filesystem::path file;
        std::string text;
        json version;
        Lines lines;
        bool stale = true; // splitcc has not seen this text
        Checked checked;
    };
    using Documents = std::map<std::string, Document>; // by URI
    struct Failure;

    void handle(const std::string &text);
    json answer(const std::string &method, const json &params);
    void notice(const std::string &method, const json &params);
    void send(json message);

    json initialize(const json &params);
    json hover(const json &params);
    json definition(const json &params);
    json code_actions(const json &params);

    void set_text(const std::string &uri, std::string text, const json &version);
    Document &fresh(const json &params);
    void refresh(const std::string &uri, Document &document);
    void refresh_one();
    void publish(const std::string &uri, const Document &document);

    const Entry *entry_at(const Document &document, const json &position, std::string *text) const;
    json diagnostic(const Document &document, const Finding &finding) const;
    json location(const Document &document, const Place &place) const;
    json range(const Lines &lines, const Place &place) const;

    Wire &wire_;
    std::filesystem::path splitcc_;
    Documents documents_;
    bool utf8_ = false, started_ = false, stopped_ = false, exit_ = false;
};

} // namespace splitcc::lsp
