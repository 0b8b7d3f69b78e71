#include "app/report/page/html_parts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace rayreplay::report {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --paper: #fbfbfa; --ink: #1d1d1f; --soft: #62646a; --line: #d9dadd; --bar: #5b7fa8;
  --panel: #f1f1ef; --c0: #5f6470; --c1: #1f77b4; --c2: #d1580c; --c3: #2a8a3e; --c4: #8a4fbf; --c5: #b8860b; --c6: #c2336b;
  --c7: #12878f; --p0: #2f5d8a; --p1: #79a7d3; --p2: #d9822b; --p3: #c9cbd0; --p4: #8b8f98; }
@media (prefers-color-scheme: dark) { :root { --paper: #17181a; --ink: #e6e6e4; --soft: #9b9da3; --line: #36383c;
  --bar: #6f97c4; --panel: #202225; --c0: #aeb3bd; --c1: #5aaae6; --c2: #f28e4b; --c3: #64c278; --c4: #b98be0; --c5: #dcb143;
  --c6: #ee6f9f; --c7: #4cc4cc; --p0: #3f78b0; --p1: #8fbbe6; --p2: #e8994a; --p3: #4a4d53; --p4: #85898f; } }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 82rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; }
p, dd, figcaption { max-width: 70ch; } .soft, figcaption { color: var(--soft); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } .scroll { overflow-x: auto; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
th { font-weight: 600; vertical-align: bottom; white-space: normal; } td.n, th.n { text-align: right; }
tr.bound td { border-top: 2px solid var(--line); color: var(--soft); }
.track { width: 10rem; height: .7rem; background: var(--panel); } .track div { height: 100%; background: var(--bar); }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: 1rem 0; }
dl.facts dt { color: var(--soft); } dl.facts dd { margin: 0; overflow-wrap: anywhere; max-width: none; }
dl.columns dt { font-weight: 600; } dl.columns dd { margin: 0 0 .6rem; }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 34rem), 1fr)); gap: 1.75rem 1.5rem; }
figure { margin: 0; } img { max-width: 100%; height: auto; display: block; border: 1px solid var(--line); }
figcaption { margin-top: .4rem; font-size: .9rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 32rem), 1fr)); gap: 2rem 1.5rem; }
.chart h3 { font-size: 1rem; margin: 0 0 .3rem; } svg { width: 100%; height: auto; display: block; }
svg text { font-size: 12px; fill: var(--soft); } svg text.name { fill: var(--ink); }
.grid { stroke: var(--line); } .axis { stroke: var(--soft); } .rule { stroke: var(--ink); stroke-dasharray: 2 3; }
polyline { fill: none; stroke: var(--k); stroke-width: 2; } polyline.dashed { stroke-dasharray: 6 4; }
polygon { fill: var(--k); opacity: .2; }
circle { fill: var(--paper); stroke: var(--k); stroke-width: 2.5; } rect { fill: var(--k); } rect.dashed { opacity: .6; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: .2rem 0 0; padding: 0; font-size: .9rem; }
.legend span { display: inline-block; width: .8rem; height: .8rem; margin-right: .4rem; background: var(--k); }
.legend span.dashed { opacity: .6; }
.c0 { --k: var(--c0); } .c1 { --k: var(--c1); } .c2 { --k: var(--c2); } .c3 { --k: var(--c3); } .c4 { --k: var(--c4); }
.c5 { --k: var(--c5); } .c6 { --k: var(--c6); } .c7 { --k: var(--c7); }
.p0 { --k: var(--p0); } .p1 { --k: var(--p1); } .p2 { --k: var(--p2); } .p3 { --k: var(--p3); } .p4 { --k: var(--p4); }
table.matrix td, table.matrix th { padding: .25rem .7rem; } details { margin: 1rem 0; } summary { cursor: pointer; }
@media (max-width: 40rem) { body { padding: 1rem .8rem 3rem; } th, td { padding: .25rem .45rem; } }
pre { background: var(--panel); padding: .9rem 1rem; overflow-x: auto; font-size: .85rem; }
)css";

bool has_numbers(const output::Table& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(), [column](const auto& row) {
    return std::holds_alternative<double>(row[column]) || std::holds_alternative<std::uint64_t>(row[column]);
  });
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded one = utf8::decode(text, at);
    const std::string_view bytes = text.substr(at, one.bytes);
    at += one.bytes;
    if (!one.valid || (!utf8::only_shows(one.code) && one.code != U'\n' && one.code != U'\t')) {
      result += text::printable(bytes);
      continue;
    }
    switch (bytes.front()) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += bytes;
    }
  }
  return result;
}

std::string html_start(const std::string& title, const std::string& tool_version) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += kGeneratorMark;
  html += escape_html(tool_version) + "\">\n";
  html += fmt::format("<title>{}</title>\n", escape_html(title));
  html += "<style>";
  html += kStyle;
  return html + "</style>\n</head>\n<body>\n";
}

std::string html_end() {
  return "</body>\n</html>\n";
}

std::string fact(std::string_view name, std::string_view value) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(name), escape_html(value));
}

std::string html_table(const output::Table& table, const std::string& bar_key) {
  std::string html = R"(<div class="scroll"><table>)";
  html += "\n<thead><tr>";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const output::Column& column = table.columns[i];
    if (!column.detail) {
      html += fmt::format("<th{}>{}</th>", has_numbers(table, i) ? " class=\"n\"" : "", escape_html(column.title));
      html += column.key == bar_key ? "<th></th>" : "";
    }
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    const auto* name = std::get_if<std::string>(&row.front());
    html += name != nullptr && *name == "bound" ? "<tr class=\"bound\">" : "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const output::Column& column = table.columns[i];
      if (column.detail) {
        continue;
      }
      html += fmt::format("<td{}>{}</td>", has_numbers(table, i) ? " class=\"n\"" : "",
                          escape_html(output::cell_text(row[i], column)));
      const auto* share = std::get_if<double>(&row[i]);
      if (column.key == bar_key && share != nullptr) {
        html += fmt::format("<td><div class=\"track\"><div style=\"width:{:.2f}%\"></div></div></td>",
                            std::clamp(*share, 0.0, 1.0) * 100);
      }
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string figure(const std::string& file, const std::string& caption) {
  const std::string name = escape_html(file);
  return fmt::format(
      "<figure><a href=\"{0}\"><img src=\"{0}\" alt=\"{1}\" loading=\"lazy\"></a><figcaption>{1}</figcaption>"
      "</figure>\n",
      name, escape_html(caption));
}

}  // namespace rayreplay::report
