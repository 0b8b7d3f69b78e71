#include "app/report/packings/whatif_page.hpp"

#include <fmt/format.h>

#include "app/report/packings/whatif_table.hpp"
#include "base/count_text.hpp"

namespace rayreplay::report {

std::string to_html(const Page& page) {
  const experiment::WhatIfResult& result = page.result;
  const experiment::Resolved& configuration = result.configuration;
  PageData data;
  data["title"] = "What if: " + page.context.trace_file;
  data["facts"] = page_facts(launch_facts(
      page.context,
      fmt::format("{}: {} x {} x {}, {}, {}, {}, {}", configuration.launch, result.size.width, result.size.height,
                  result.size.depth, counted(result.size.threads(), "thread"), counted(result.warps, "warp"),
                  counted(result.rays, "ray"), counted(result.events, "event")),
      {{"warps", fmt::format("{}, order {}, replay policy {}", counted(configuration.warp_size, "lane"),
                             configuration.order, simt::to_string(configuration.policy))}}));
  data["packings"] = page_table(whatif_table(result, true), "efficiency");
  if (!page.published_title.empty()) {
    data["published"] = page_table(page.published);
    data["published"].update({{"heading", page.published_title},
                              {"source", page.published_source},
                              {"note", page.published_note},
                              {"warning", page.published_warning}});
  }
  if (!page.image_file.empty()) {
    data["image"] = page_figures({{page.image_file, "What the launch rendered.", ""}});
  }
  data["drawn"] = page_figures(page.pictures);
  data["slices"] = result.size.depth > 1 ? PageData(result.size.depth) : PageData();
  data["command"] = "whatif";
  data["configuration"] = page.configuration_toml;
  return make_page("whatif", std::move(data));
}

}  // namespace rayreplay::report
