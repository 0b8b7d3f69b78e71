// Parts of the HTML pages of reports.
//
// Contract: every text is escaped. Pages are built by appending; everything inserted passes `escape_html` or a number
// format. Pages have no scripts and no external resources, and follow the reader's light or dark setting.
#pragma once

#include <string>
#include <string_view>

#include "app/report/export/table.hpp"

namespace rayreplay::report {

/// Start of the page's generator element, followed by the version: identifies rayreplay's pages.
inline constexpr const char* kGeneratorMark = R"(<meta name="generator" content="rayreplay )";

/// & < > " ' as character references; forbidden and invisible characters are spelled out: \x1b, \u{202e}, \xff
/// (base/text.hpp).
[[nodiscard]] std::string escape_html(std::string_view text);

/// Up to and with <body>.
[[nodiscard]] std::string html_start(const std::string& title, const std::string& tool_version);
[[nodiscard]] std::string html_end();

/// A name and its value in a list of facts.
[[nodiscard]] std::string fact(std::string_view name, std::string_view value);

/// `bar_key`: this column is followed by a bar of its value, a share of one.
[[nodiscard]] std::string html_table(const output::Table& table, const std::string& bar_key);

/// A picture file beside the page.
[[nodiscard]] std::string figure(const std::string& file, const std::string& caption);

}  // namespace rayreplay::report
