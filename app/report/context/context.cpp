#include "app/report/context/context.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/report/context/experiment_table.hpp"
#include "app/report/context/provenance.hpp"
#include "base/count_text.hpp"
#include "base/text.hpp"

namespace rayreplay::report {
namespace {

/// "0 raygen=1, 3 metal=20"; empty without costs.
std::string costs_text(const Context& context) {
  std::string text;
  const auto& costs = context.configuration.costs;
  for (std::size_t id = 0; id < costs.size(); ++id) {
    text += fmt::format("{}{} {}={}", text.empty() ? "" : ", ", id, context.trace.shaders[id].name, costs[id]);
  }
  return text;
}

nlohmann::ordered_json costs_json(const Context& context) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const auto& costs = context.configuration.costs;
  for (std::size_t id = 0; id < costs.size(); ++id) {
    const trace::Shader& shader = context.trace.shaders[id];
    list.push_back(
        {{"shader", id}, {"name", shader.name}, {"stage", trace::to_string(shader.stage)}, {"cycles", costs[id]}});
  }
  return list;
}

}  // namespace

Facts launch_facts(const Context& context, const std::string& launch, const Facts& more) {
  const trace::Header& header = context.trace.header;
  Facts facts = {{"trace", context.trace_file},
                 {"trace hash", context.trace.hash},
                 {"application", header.application + (header.device.empty() ? "" : ", " + header.device)},
                 {"launch", launch}};
  facts.insert(facts.end(), more.begin(), more.end());
  facts.emplace_back("computed by",
                     fmt::format("rayreplay {} on {}", RAYREPLAY_VERSION, device_summary(context.stages())));
  for (const std::string& missing : header.not_captured) {
    facts.emplace_back("not captured", missing);
  }
  return facts;
}

std::string context_text(const Context& context) {
  const experiment::Resolved& configuration = context.configuration;
  const trace::Launch& launch = context.trace.launches[configuration.launch];
  std::string text;
  const auto line = [&text](std::string_view name, const std::string& value) {
    text += fmt::format("{:<8} {}\n", name, text::printable(value));
  };
  const std::string& application = context.trace.header.application;
  line("trace", context.trace_file + (application.empty() ? "" : " (" + application + ")"));
  line("launch",
       fmt::format("{}: {}x{}x{}, {}, {}, {}",
                   context.trace.launches.size() == 1
                       ? fmt::format("{}", configuration.launch)
                       : fmt::format("{} of {}", configuration.launch, context.trace.launches.size()),
                   launch.size.width, launch.size.height, launch.size.depth, counted(launch.size.threads(), "thread"),
                   counted(launch.data.rays.size(), "ray"), counted(launch.data.events.size(), "event")));
  line("warps", fmt::format("{}, order {}{}", counted(configuration.warp_size, "lane"), configuration.order,
                            context.replayed ? fmt::format(", policy {}", simt::to_string(configuration.policy)) : ""));
  const std::string costs = costs_text(context);
  if (!costs.empty()) {
    line("costs", costs);
  }
  for (const auto& [name, value] : context.more) {
    line(name, value);
  }
  const std::vector<StageRecord> stages = context.stages();
  const auto elsewhere = [](const StageRecord& stage) { return stage.device != "CPU" || !stage.reason.empty(); };
  if (std::any_of(stages.begin(), stages.end(), elsewhere)) {
    line("device", stages_text(stages));
  }
  return text;
}

nlohmann::ordered_json context_json(const Context& context, const std::string& schema) {
  const experiment::Resolved& configuration = context.configuration;
  const trace::Launch& launch = context.trace.launches[configuration.launch];
  nlohmann::ordered_json document = provenance_json(schema, context.trace_file, context.trace, context.stages());
  nlohmann::ordered_json& keys = document["configuration"];
  keys = context.settings == nullptr ? nlohmann::ordered_json::object() : settings_json(*context.settings);
  keys["launch"] = configuration.launch;
  keys["warp_size"] = configuration.warp_size;
  keys["order"] = configuration.order;
  if (context.replayed) {
    keys["policy"] = simt::to_string(configuration.policy);
    keys["costs"] = costs_json(context);
  }
  document["launch"] = {{"width", launch.size.width},      {"height", launch.size.height},
                        {"depth", launch.size.depth},      {"threads", launch.size.threads()},
                        {"rays", launch.data.rays.size()}, {"events", launch.data.events.size()}};
  for (const auto& [name, value] : context.more) {
    document[name] = value;
  }
  return document;
}

std::string command_comment(const std::vector<std::pair<std::string, std::string>>& flags) {
  if (flags.empty()) {
    return "";
  }
  std::string line = "# rayreplay whatif TRACE --config THIS_FILE";
  for (const auto& [flag, value] : flags) {
    line += fmt::format(" {} {}", flag, value);
  }
  return text::printable(line) + "\n";
}

output::Table with_context(output::Table table, const Context& context) {
  const experiment::Resolved& configuration = context.configuration;
  NamedCells cells = provenance_cells(context.trace, context.stages());
  cells.insert(cells.end(), {{"launch", std::uint64_t{configuration.launch}},
                             {"warp_size", std::uint64_t{configuration.warp_size}},
                             {"order", configuration.order},
                             {"policy", std::string(simt::to_string(configuration.policy))},
                             {"costs", costs_text(context)}});
  for (const auto& [name, value] : context.more) {
    cells.emplace_back(name, value);
  }
  return with_cells(std::move(table), cells);
}

}  // namespace rayreplay::report
