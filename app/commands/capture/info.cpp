// rayreplay info: the content of a trace file. Checks the hash, decodes no columns.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "app/report/shaders/pipeline_facts.hpp"
#include "base/count_text.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "capture/trace/reader.hpp"

namespace rayreplay::app {
namespace {

using output::Cell;
using output::Table;

Table launch_table(const trace::FileInfo& info) {
  Table table;
  table.columns = {{"launch", "launch"}, {"width", "width"},     {"height", "height"},
                   {"depth", "depth"},   {"threads", "threads"}, {"rays", "rays"},
                   {"events", "events"}, {"groups", "groups"},   {"has_warps", "captured warps"}};
  // Rows that only captures have are shown only if present.
  const auto any = [&](auto&& has) { return std::any_of(info.launches.begin(), info.launches.end(), has); };
  table.columns.push_back({"frame", "frame", {}, 0, !any([](const auto& l) { return l.frame != 0; })});
  table.columns.push_back({"device_ms", "device ms", {}, 3, !any([](const auto& l) { return l.duration_ns != 0; })});
  table.columns.push_back(
      {"dropped_events", "dropped", {}, 0, !any([](const auto& l) { return l.dropped_events != 0; })});
  table.columns.push_back(
      {"pipeline", "pipeline", {}, 0, !any([](const auto& l) { return l.pipeline != trace::kNone; })});
  table.columns.push_back({"images", "images", {}, 0, !any([](const auto& l) { return l.images != 0; })});
  for (std::size_t i = 0; i < info.launches.size(); ++i) {
    const trace::LaunchInfo& launch = info.launches[i];
    table.rows.push_back(
        {std::uint64_t{i}, std::uint64_t{launch.size.width}, std::uint64_t{launch.size.height},
         std::uint64_t{launch.size.depth}, launch.size.threads(), launch.rays, launch.events, launch.groups,
         launch.has_warps, std::uint64_t{launch.frame},
         launch.duration_ns == 0 ? output::Cell{} : static_cast<double>(launch.duration_ns) * 1e-6,
         launch.dropped_events,
         launch.pipeline == trace::kNone ? output::Cell{} : output::Cell(std::uint64_t{launch.pipeline}),
         launch.images});
  }
  return table;
}

Table shader_table(const trace::FileInfo& info) {
  Table table;
  table.columns = {
      {"shader", "shader"}, {"stage", "stage"}, {"name", "name"}, {"entry", "entry"}, {"spirv_words", "SPIR-V words"}};
  for (std::size_t i = 0; i < info.shaders.size(); ++i) {
    const trace::Shader& shader = info.shaders[i];
    table.rows.push_back({std::uint64_t{i}, std::string(to_string(shader.stage)), shader.name, shader.entry,
                          std::uint64_t{shader.spirv.size()}});
  }
  return table;
}

Table column_table(const trace::FileInfo& info) {
  Table table;
  table.columns = {{"dataset", "dataset"}, {"type", "type"}, {"rows", "rows"}, {"stored_bytes", "bytes on disk"}};
  for (const trace::ColumnInfo& column : info.columns) {
    table.rows.push_back({column.dataset, column.type, column.rows, column.stored_bytes});
  }
  return table;
}

std::string profile_text(const trace::FileInfo& info) {
  std::string text;
  const auto add = [&](std::uint64_t rows, const std::string& words) {
    text += rows == 0 ? "" : (text.empty() ? "" : ", ") + words;
  };
  add(info.block_counts, counted(info.block_counts, "counted block"));
  add(info.branch_counts, counted(info.branch_counts, "counted branch", "counted branches"));
  add(info.load_counts, counted(info.load_counts, "counted load"));
  add(info.value_places, "values of " + counted(info.value_places, "load", "loads"));
  add(info.paths, counted(info.paths, "path of calls", "paths of calls"));
  std::uint64_t accesses = 0;
  for (const trace::LaunchInfo& launch : info.launches) {
    accesses += launch.accesses;
  }
  // A merged profile has the sums of launches that are not here.
  const bool has_sums = std::ranges::any_of(
      info.columns, [](const trace::ColumnInfo& column) { return column.dataset == "/profile/access_sites/lanes"; });
  add(info.access_sites, (has_sums ? std::string("sums of accesses") : counted(accesses, "access", "accesses")) +
                             " to buffers and images at " + counted(info.access_sites, "place") + " in the code");
  return text.empty() ? "" : text + " (rayreplay profile)";
}

std::string pipelines_text(const trace::FileInfo& info) {
  if (info.pipeline_facts.empty()) {
    return "";
  }
  std::uint64_t executables = 0;
  for (const trace::PipelineFacts& pipeline : info.pipeline_facts) {
    executables += pipeline.executables.size();
  }
  return fmt::format("stack sizes of {}, {} with statistics (rayreplay shaders)",
                     counted(info.pipeline_facts.size(), "pipeline"), counted(executables, "executable"));
}

std::string info_text(const std::string& path, const trace::FileInfo& info) {
  const trace::Header& header = info.header;
  std::string text;
  const auto line = [&text](std::string_view name, std::string_view value) {
    if (!value.empty()) {
      text += fmt::format("{:<14}{}\n", name, text::printable(value));
    }
  };
  line("file", path);
  line("size", fmt::format("{} ({})", output::bytes_text(info.file_bytes), counted(info.file_bytes, "byte")));
  line("format", fmt::format("version {}", info.format_version));
  line("hash", info.hash);
  line("tool", header.tool + " " + header.tool_version);
  line("application", header.application);
  line("device", header.device);
  line("driver", header.driver);
  line("warp size", header.warp_size == 0 ? "not captured" : fmt::format("{}", header.warp_size));
  line("scene", fmt::format("{}, {}, {}, {}", counted(info.geometries, "geometry", "geometries"),
                            counted(info.blases, "bottom-level structure"), counted(info.instances, "instance"),
                            counted(info.primitives, "primitive")));
  line("profile", profile_text(info));
  line("pipelines", pipelines_text(info));
  line("configuration", header.configuration);
  for (const std::string& missing : header.not_captured) {
    line("not captured", missing);
  }
  text += "\n" + output::to_text(launch_table(info));
  text += "\n" + output::to_text(shader_table(info));
  return text + "\n" + output::to_text(column_table(info));
}

nlohmann::ordered_json info_json(const std::string& path, const trace::FileInfo& info) {
  const trace::Header& header = info.header;
  // Text that is not JSON, or too deeply nested, becomes a string.
  const nlohmann::ordered_json configuration = parse_json(header.configuration).value_or(header.configuration);
  nlohmann::ordered_json result = {{"schema", "rayreplay.info/1"},
                                   {"file", path},
                                   {"file_bytes", info.file_bytes},
                                   {"format_version", info.format_version},
                                   {"hash", info.hash},
                                   {"header",
                                    {{"tool", header.tool},
                                     {"tool_version", header.tool_version},
                                     {"application", header.application},
                                     {"device", header.device},
                                     {"driver", header.driver},
                                     {"warp_size", header.warp_size},
                                     {"configuration", configuration},
                                     {"not_captured", header.not_captured}}},
                                   {"shaders", to_json(shader_table(info))},
                                   {"scene",
                                    {{"geometries", info.geometries},
                                     {"blases", info.blases},
                                     {"instances", info.instances},
                                     {"primitives", info.primitives}}},
                                   {"launches", to_json(launch_table(info))},
                                   {"block_counts", info.block_counts},
                                   {"branch_counts", info.branch_counts},
                                   {"load_counts", info.load_counts},
                                   {"value_places", info.value_places},
                                   {"paths", info.paths},
                                   {"access_sites", info.access_sites},
                                   {"columns", to_json(column_table(info))}};
  if (!info.pipeline_facts.empty()) {
    result["pipelines"] = report::pipelines_json(info.pipeline_facts);
  }
  return result;
}

std::string show(const std::string& path, output::Format format) {
  require_no_memory_trace(path);
  const trace::FileInfo info = trace::read_info(path);
  return output::render({[&] { return info_text(path, info); }, [&] { return column_table(info); },
                         [&] { return info_json(path, info); }},
                        format);
}

}  // namespace

void add_info_command(CLI::App& root, Session& session) {
  CLI::App* command = root.add_subcommand("info", "What a trace file holds: header, sizes, shaders, columns");
  command->group("Traces");
  auto path = std::make_shared<std::string>();
  auto format = std::make_shared<FormatOption>();
  add_trace_file(*command, *path)->required();
  format->add_to(*command);
  command->callback([&session, path, format] {
    session.action = [path, format] {
      console::print(show(*path, format->format()));
      return 0;
    };
  });
}

}  // namespace rayreplay::app
