// HTML pages: data as JSON, in the templates of templates/ (mustache), which are compiled in.
//
// Contract: {{name}} escapes its text. {{{name}}} does not: it is for charts, which escape their own texts, and for the
// style sheet. Empty texts, empty lists, null and false leave their section out. Pages have no scripts and no external
// resources, and follow the reader's light or dark setting. The same data give the same bytes. Errors: Internal for a
// template that does not exist or is malformed.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/report/charts/plot.hpp"
#include "app/report/export/table.hpp"

namespace rayreplay::report {

using PageData = nlohmann::ordered_json;
using Facts = std::vector<std::pair<std::string, std::string>>;

/// Start of the page's generator element, followed by the version: identifies rayreplay's pages.
inline constexpr const char* kGeneratorMark = R"(<meta name="generator" content="rayreplay )";

/// & < > " ' as character references; forbidden and invisible characters are spelled out: \x1b, \u{202e}, \xff
/// (base/text.hpp).
[[nodiscard]] std::string escape_html(std::string_view text);

/// The page of a template with its data.
[[nodiscard]] std::string make_page(const std::string& name, PageData data);

/// For {{>_table}}. `bar_key`: this column is followed by a bar of its value, a share of one.
[[nodiscard]] PageData page_table(const output::Table& table, const std::string& bar_key = "");
/// For {{>_facts}}.
[[nodiscard]] PageData page_facts(const Facts& facts);
/// A picture file beside a page.
struct Picture {
  std::string file;  ///< "efficiency-numrays.png"
  std::string caption;
  std::string png{};  ///< its bytes
};
/// A section with {{>_figures}}; null without pictures.
[[nodiscard]] PageData page_figures(const std::vector<Picture>& pictures);
/// For {{>_charts}}.
[[nodiscard]] PageData page_charts(const std::vector<pictures::Chart>& charts);

}  // namespace rayreplay::report
