#include "app/report/packings/whatif_report.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <nlohmann/json.hpp>

#include "app/report/packings/launch_pictures.hpp"
#include "app/report/packings/observed_table.hpp"
#include "app/report/packings/whatif_page.hpp"
#include "app/report/packings/whatif_table.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"

namespace rayreplay::report {
namespace {

constexpr std::array<std::string_view, 9> kFiles = {"index.html",
                                                    "whatif.json",
                                                    "whatif.csv",
                                                    "config.toml",
                                                    "rendered.png",
                                                    "rays.png",
                                                    "intersection-calls.png",
                                                    "any-hit-calls.png",
                                                    "launch-order.png"};
constexpr std::string_view kEfficiencyStart = "efficiency-";
constexpr std::string_view kPictureEnd = ".png";

bool is_report_file(std::string_view name) {
  if (std::find(kFiles.begin(), kFiles.end(), name) != kFiles.end()) {
    return true;
  }
  if (name.size() <= kEfficiencyStart.size() + kPictureEnd.size() || !name.starts_with(kEfficiencyStart) ||
      !name.ends_with(kPictureEnd)) {
    return false;
  }
  name.remove_prefix(kEfficiencyStart.size());
  name.remove_suffix(kPictureEnd.size());
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return c == '-' || std::isalnum(c) != 0; });
}

}  // namespace

output::FolderKind report_folder() {
  return {"index.html", kGeneratorMark, is_report_file};
}

std::string whatif_toml(const experiment::Settings& settings, const std::vector<std::string>& packings,
                        const std::vector<std::string>& swizzles) {
  std::vector<std::pair<std::string, std::string>> flags;
  for (const std::string& packing : packings) {
    if (packings.size() > 1) {
      flags.emplace_back("--packing", packing);
    }
  }
  for (const std::string& file : swizzles) {
    flags.emplace_back("--swizzle", file);
  }
  return command_comment(flags) + experiment::to_toml(settings, false);
}

nlohmann::ordered_json whatif_json(const Context& context, const experiment::WhatIfResult& result,
                                   const std::optional<Published>& published) {
  nlohmann::ordered_json document = context_json(context, "rayreplay.whatif/1");
  document["configuration"]["packings"] = context.configuration.packings;
  document["configuration"]["swizzles"] = context.configuration.swizzles;
  document["launch"]["warps"] = result.warps;
  document["bound"] = {{"warp_events", result.bound.warp_events},
                       {"active_lanes", result.bound.calls},
                       {"efficiency", result.bound.efficiency},
                       {"weighted_efficiency", result.weighted_bound}};
  document["rows"] = to_json(whatif_table(result, false));
  const trace::Launch& launch = context.trace.launches[context.configuration.launch];
  if (nlohmann::ordered_json observed = observed_json(context.trace, launch); !observed.is_null()) {
    document["observed"] = std::move(observed);
  }
  if (published) {
    document["published"] = {{"title", published->title},
                             {"source", published->source},
                             {"note", published->note},
                             {"differs", differences(context.trace.header, *published)},
                             {"rows", to_json(compare(result, *published))}};
  }
  return document;
}

void write_report(const ReportOptions& options, const Context& context, const experiment::WhatIfResult& result,
                  const std::optional<Published>& published) {
  output::OutputFolder folder(options.folder, options.force, report_folder());
  const auto write = [&folder](const std::string& name, std::string_view bytes) {
    write_file(folder.temporary_path() / name, bytes, false);
  };
  const std::vector<Picture> pictures = make_pictures(result, options.colormap);
  for (const Picture& picture : pictures) {
    write(picture.file, picture.png);
  }
  const std::string toml = context.settings == nullptr
                               ? std::string()
                               : whatif_toml(*context.settings, options.packings, context.configuration.swizzles);
  Page page{context, result, pictures, toml, "", "", "", "", "", {}};
  if (!options.image_png.empty()) {
    page.image_file = "rendered.png";
    write(page.image_file, options.image_png);
  }
  if (published) {
    page.published_title = published->title;
    page.published_source = published->source;
    page.published_note = published->note;
    page.published_warning = workload_warning(context.trace.header, *published);
    page.published = compare(result, *published);
  }
  write("config.toml", toml);
  write("whatif.json", json_text(whatif_json(context, result, published), 2) + "\n");
  write("whatif.csv", output::to_csv(with_context(whatif_table(result, true), context)));
  write("index.html", to_html(page));
  folder.commit();
}

}  // namespace rayreplay::report
