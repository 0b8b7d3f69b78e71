#include "app/report/html.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/report/whatif_table.hpp"

namespace rayreplay::report {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --paper: #fbfbfa; --ink: #1d1d1f; --soft: #62646a; --line: #d9dadd; --bar: #5b7fa8;
  --panel: #f1f1ef; }
@media (prefers-color-scheme: dark) { :root { --paper: #17181a; --ink: #e6e6e4; --soft: #9b9da3; --line: #36383c;
  --bar: #6f97c4; --panel: #202225; } }
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
pre { background: var(--panel); padding: .9rem 1rem; overflow-x: auto; font-size: .85rem; }
)css";

constexpr std::string_view kColumnMeanings = R"html(<dl class="columns">
<dt>SIMT efficiency</dt><dd>Active lanes over all lanes, summed over all warp events of the launch. A warp event is one
shader call or trace call that the lanes of a warp make together. Synthetic: warp events come from replaying the
captured threads in the warps of this packing, not from a device.</dd>
<dt>change</dt><dd>SIMT efficiency against that of the identity packing, as a share of it.</dd>
<dt>warp events</dt><dd>How many shader calls the warps issue. The work of the threads is the same in every row.</dd>
<dt>weighted</dt><dd>SIMT efficiency with each warp event counted as many times as a call of its shader costs cycles.
Shown when costs were given.</dd>
<dt>bound</dt><dd>No assignment of threads to warps needs fewer warp events than the sum, over all calls, of calls divided
by the warp size, rounded up. It need not be attainable.</dd>
</dl>
)html";

/// Pieces of HTML are built by appending, so that no piece is ever inserted without `escape_html` or a number format.
std::string fact(std::string_view name, std::string_view value) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(name), escape_html(value));
}

bool has_numbers(const output::Table& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(), [column](const auto& row) {
    return std::holds_alternative<double>(row[column]) || std::holds_alternative<std::uint64_t>(row[column]);
  });
}

/// `bar_key`: after this column comes a bar of the cell's value, a share of one.
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

std::string facts(const Page& page) {
  const experiment::WhatIfResult& result = page.result;
  const trace::Header& header = page.context.trace.header;
  std::string html = "<dl class=\"facts\">\n";
  html += fact("trace", page.context.trace_file);
  html += fact("trace hash", result.trace_hash);
  html += fact("application", header.application + (header.device.empty() ? "" : ", " + header.device));
  html +=
      fact("launch", fmt::format("{}: {} x {} x {}, {} threads, {} warps, {} rays, {} events",
                                 result.configuration.launch, result.size.width, result.size.height, result.size.depth,
                                 output::with_separators(result.size.threads()), output::with_separators(result.warps),
                                 output::with_separators(result.rays), output::with_separators(result.events)));
  html += fact("warps", fmt::format("{} lanes, order {}, replay policy {}", result.configuration.warp_size,
                                    result.configuration.order, simt::to_string(result.configuration.policy)));
  html += fact("computed by", fmt::format("rayreplay {} on {}", result.tool_version, result.device));
  for (const std::string& missing : header.not_captured) {
    html += fact("not captured", missing);
  }
  return html + "</dl>\n";
}

std::string figure(const std::string& file, const std::string& caption) {
  const std::string name = escape_html(file);
  return fmt::format(
      "<figure><a href=\"{0}\"><img src=\"{0}\" alt=\"{1}\" loading=\"lazy\"></a><figcaption>{1}</figcaption>"
      "</figure>\n",
      name, escape_html(caption));
}

std::string pictures_html(const Page& page) {
  if (page.pictures.empty()) {
    return "<p class=\"soft\">No pictures: the launch is a single row of threads.</p>\n";
  }
  std::string html = "<div class=\"pictures\">\n";
  for (const Picture& picture : page.pictures) {
    html += figure(picture.file, picture.caption);
  }
  html += "</div>\n";
  if (page.result.size.depth > 1) {
    html += fmt::format("<p class=\"soft\">The {} slices of the launch's depth are summed per pixel.</p>\n",
                        page.result.size.depth);
  }
  return html;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
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
        if (const auto code = static_cast<unsigned char>(c); (code < 0x20 && c != '\n' && c != '\t') || code == 0x7F) {
          result += "&#65533;";
        } else {
          result += c;
        }
    }
  }
  return result;
}

std::string to_html(const Page& page) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  html += kGeneratorMark;
  html += escape_html(page.result.tool_version) + "\">\n";
  html += fmt::format("<title>What if: {}</title>\n", escape_html(page.context.trace_file));
  html += "<style>";
  html += kStyle;
  html += "</style>\n</head>\n<body>\n<h1>What would other warp packing do?</h1>\n";
  html += "<p class=\"soft\">The threads of one launch, packed into warps in different ways and replayed.</p>\n";
  html += facts(page);
  html += "<h2>Packings</h2>\n" + html_table(whatif_table(page.result, true), "efficiency");
  if (!page.published_title.empty()) {
    html += fmt::format("<h2>Beside published figures</h2>\n<p>{}. <span class=\"soft\">{}. {}</span></p>\n",
                        escape_html(page.published_title), escape_html(page.published_source),
                        escape_html(page.published_note));
    if (!page.published_warning.empty()) {
      html += "<p><strong>Warning</strong>: " + escape_html(page.published_warning) + ".</p>\n";
    }
    html += html_table(page.published, "");
  }
  html += "<h2>What the columns mean</h2>\n";
  html += kColumnMeanings;
  if (!page.image_file.empty()) {
    html += "<h2>Rendered picture</h2>\n" + figure(page.image_file, "What the launch rendered.");
  }
  html += "<h2>Pictures</h2>\n" + pictures_html(page);
  html +=
      "<h2>Configuration</h2>\n<p>Resolved: every key with its value. <code>rayreplay whatif --config "
      "config.toml</code>"
      " computes this page's numbers again.</p>\n";
  html += "<pre>" + escape_html(page.configuration_toml) + "</pre>\n";
  return html + "</body>\n</html>\n";
}

}  // namespace rayreplay::report
