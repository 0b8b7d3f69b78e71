#include "app/report/packings/whatif_page.hpp"

#include <fmt/format.h>

#include "app/report/context/provenance.hpp"

#include "app/report/packings/whatif_table.hpp"
#include "base/count_text.hpp"

namespace rayreplay::report {
namespace {

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

std::string facts(const Page& page) {
  const experiment::WhatIfResult& result = page.result;
  const trace::Header& header = page.context.trace.header;
  std::string html = "<dl class=\"facts\">\n";
  html += fact("trace", page.context.trace_file);
  html += fact("trace hash", result.trace_hash);
  html += fact("application", header.application + (header.device.empty() ? "" : ", " + header.device));
  html += fact("launch", fmt::format("{}: {} x {} x {}, {}, {}, {}, {}", result.configuration.launch, result.size.width,
                                     result.size.height, result.size.depth, counted(result.size.threads(), "thread"),
                                     counted(result.warps, "warp"), counted(result.rays, "ray"),
                                     counted(result.events, "event")));
  html += fact("warps", fmt::format("{}, order {}, replay policy {}", counted(result.configuration.warp_size, "lane"),
                                    result.configuration.order, simt::to_string(result.configuration.policy)));
  html += fact("computed by",
               fmt::format("rayreplay {} on {}", result.tool_version, device_summary(page.context.stages())));
  for (const std::string& missing : header.not_captured) {
    html += fact("not captured", missing);
  }
  return html + "</dl>\n";
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

std::string to_html(const Page& page) {
  std::string html = html_start("What if: " + page.context.trace_file, page.result.tool_version);
  html += "<h1>What would other warp packing do?</h1>\n";
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
  return html + html_end();
}

}  // namespace rayreplay::report
