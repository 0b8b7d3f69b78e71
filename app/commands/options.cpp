#include "app/commands/options.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/output_file.hpp"
#include "capture/import/memory_trace.hpp"
#include "capture/trace/reader.hpp"

namespace rayreplay::app {
namespace {

constexpr std::uint64_t kMaxConfigBytes = 16U << 20U;
constexpr const char* kPlacementGroup = "Warps";
constexpr const char* kReplayGroup = "Replay";
constexpr const char* kOutputGroup = "Output";

namespace fs = std::filesystem;

/// Devices and pipes are written straight to, so that nothing is replaced.
bool can_be_replaced(const std::string& path) {
  if (path.empty() || path == "-") {
    return false;
  }
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return !fs::exists(status) || fs::is_regular_file(status) || fs::is_directory(status);
}

/// Absolute, links followed as far as the path exists, without a slash at the end.
fs::path canonical(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, error), error);
  return whole.has_filename() ? whole : whole.parent_path();
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) || canonical(a) == canonical(b);
}

bool lies_in(const std::string& file, const std::string& folder) {
  const fs::path relative = canonical(file).lexically_relative(canonical(folder));
  return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

void FormatOption::add_to(CLI::App& command) {
  command.add_option("--format", name, "table, json or csv")
      ->type_name("FORMAT")
      ->capture_default_str()
      ->group(kOutputGroup);
}

void add_force(CLI::App& command, bool& force) {
  command.add_flag("--force", force, "Replace outputs that exist already")->group(kOutputGroup);
}

void OutputOption::add_to(CLI::App& command, const std::string& text) {
  command.add_option("-o,--output", path, text)->type_name("FILE")->capture_default_str()->group(kOutputGroup);
  add_force(command, force);
}

void OutputOption::add_required_to(CLI::App& command, const std::string& text) {
  command.add_option("-o,--output", path, text)->type_name("FILE")->required()->group(kOutputGroup);
  add_force(command, force);
}

void OutputOption::check() const {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  // Devices and pipes are written straight to.
  if (path != "-" && (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status) ||
                      std::filesystem::is_directory(status))) {
    require_writable(path, force);
  }
}

void OutputOption::write(std::string_view bytes) const {
  if (path == "-") {
    console::print(bytes);
  } else {
    write_file(path, bytes, force);
  }
}

void require_distinct(const std::vector<NamedPath>& outputs, const std::vector<NamedPath>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NamedPath& output = outputs[i];
    if (!can_be_replaced(output.path)) {
      continue;
    }
    for (std::size_t j = i + 1; j < outputs.size(); ++j) {
      if (can_be_replaced(outputs[j].path) && same_file(output.path, outputs[j].path)) {
        throw Error(ErrorKind::Usage, {"two outputs are the same file", output.option + " and " + outputs[j].option,
                                       "'" + output.path + "'", "a name of its own for each", ""});
      }
      for (const auto& [inner, outer] : {std::pair{i, j}, std::pair{j, i}}) {
        if (can_be_replaced(outputs[outer].path) && lies_in(outputs[inner].path, outputs[outer].path)) {
          throw Error(ErrorKind::Usage,
                      {"an output lies in the folder that another one is", outputs[inner].option,
                       "'" + outputs[inner].path + "'", "a place outside of " + outputs[outer].option, ""});
        }
      }
    }
    for (const NamedPath& input : inputs) {
      if (!can_be_replaced(input.path)) {
        continue;
      }
      if (same_file(output.path, input.path)) {
        throw Error(ErrorKind::Usage, {"the output is also an input", output.option + " and " + input.option,
                                       "'" + output.path + "'", "another name for the output", ""});
      }
      if (lies_in(input.path, output.path)) {
        throw Error(ErrorKind::Usage,
                    {"an input lies in the folder to be written", input.option, "'" + input.path + "'",
                     "an output folder without inputs", "choose another folder"});
      }
    }
  }
}

void require_file_name(const std::string& path, const std::string& option) {
  if (path == "-") {
    throw Error(ErrorKind::Usage,
                {"this output does not go to standard output", option, "'-'", "the name of a file", ""});
  }
}

CLI::Option* add_trace_file(CLI::App& command, std::string& path) {
  return command.add_option("trace", path, "Trace file (.rrt)")->type_name("TRACE")->group("Input");
}

void require_no_memory_trace(const std::string& path) {
  if (import::has_memory_trace_start(path)) {
    throw Error(ErrorKind::Input, {"this is a memory trace", path, "", "a trace of rays (.rrt)",
                                   "rayreplay cache takes it as it is, rayreplay import says what it holds"});
  }
}

void require_known_trace(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return;
  }
  constexpr std::array<std::string_view, 2> kStarts = {"RAYREPLAY", "\x89HDF"};
  const std::string first = read_start(path, kStarts[0].size(), "trace");
  // What is cut within its first bytes is a truncated trace.
  const bool known = std::any_of(kStarts.begin(), kStarts.end(), [&first](std::string_view start) {
    return first.starts_with(start) || start.starts_with(first);
  });
  if (!known && !import::has_memory_trace_start(path)) {
    throw Error(ErrorKind::Input,
                {"this is neither a trace of rays nor a memory trace", path, "a file of another kind",
                 "a trace of rays (.rrt), which starts with RAYREPLAY, or a memory trace (.rrm or text), which starts "
                 "with RRMEMTR or rayreplay-memory-trace",
                 "rayreplay capture, ingest and trace make the one; docs/memory-traces.md says how to make the other"});
  }
}

trace::Trace load_trace(const std::string& path, bool rules) {
  require_no_memory_trace(path);
  const std::unique_ptr<Progress> progress = console::make_progress();
  trace::LoadOptions options;
  options.progress = progress.get();
  options.rules = rules;
  return trace::load(path, options);
}

void ExperimentOptions::add_placement_to(CLI::App& command) {
  command.add_option("--launch", launch_, "Launch of the trace [0]")->type_name("N")->group(kPlacementGroup);
  command.add_option("--order", order_, "Launch order spec [captured if the trace has its warps, else z-order]")
      ->type_name("SPEC")
      ->group(kPlacementGroup);
  command.add_option("--warp-size", warp_size_, "Lanes of a warp [the trace's, else 32]")
      ->type_name("N")
      ->check(CLI::Range(1U, 64U))
      ->group(kPlacementGroup);
  command.add_option("--config", config_file_, "Configuration (TOML); options given here win over it")
      ->type_name("FILE")
      ->group(kPlacementGroup);
}

void ExperimentOptions::add_replay_to(CLI::App& command) {
  command
      .add_option(
          "--policy", policy_,
          "Which call a warp executes next: stage-majority, min-shader, oldest-lane, independent, trace-barrier "
          "[stage-majority]")
      ->type_name("NAME")
      ->group(kReplayGroup);
  command
      .add_option("--cost", costs_,
                  "Cycles per call, by stage (closest-hit), shader name or shader id: adds weighted efficiency")
      ->type_name("SHADER=CYCLES,...")
      ->allow_extra_args(false)
      ->group(kReplayGroup);
  command.add_option("--costs", costs_file_, "Cycles per call from a TOML file with a table [costs]")
      ->type_name("FILE")
      ->group(kReplayGroup);
}

void ExperimentOptions::add_packings_to(CLI::App& command) {
  command.add_option("--packing", packings_, "Packing to try, may be repeated [all of them]")
      ->type_name("SPEC")
      ->allow_extra_args(false)
      ->group("Packings");
  command.add_option("--swizzle", swizzles_, "Swizzle file of your own to try beside them, may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("Packings");
}

void ExperimentOptions::add_packing_to(CLI::App& command) {
  command.add_option("--packing", packings_, "Packing [identity]")
      ->type_name("SPEC")
      ->expected(1)
      ->allow_extra_args(false)
      ->group("Packings");
}

void log_not_captured(const trace::Header& header) {
  constexpr std::size_t kShown = 5;
  // Without warps it is no device's capture: what a tracer never has concerns no figure of these commands.
  if (header.warp_size == 0) {
    return;
  }
  const auto& lines = header.not_captured;
  for (std::size_t i = 0; i < std::min(lines.size(), kShown); ++i) {
    console::log("rayreplay: note: not captured: " + lines[i]);
  }
  if (lines.size() > kShown) {
    console::log(fmt::format("rayreplay: note: … {} more; rayreplay info shows them", lines.size() - kShown));
  }
}

experiment::Configuration ExperimentOptions::configuration() const {
  experiment::Configuration result;
  if (!config_file_.empty()) {
    result = experiment::parse_configuration(read_file(config_file_, kMaxConfigBytes), config_file_);
  }
  if (!costs_file_.empty()) {
    experiment::parse_costs(read_file(costs_file_, kMaxConfigBytes), costs_file_, result);
  }
  result.launch = launch_.value_or(result.launch);
  result.warp_size = warp_size_.value_or(result.warp_size);
  result.order = order_.value_or(result.order);
  result.policy = policy_.value_or(result.policy);
  if (!packings_.empty()) {
    result.packings = packings_;
  }
  if (!swizzles_.empty()) {
    result.swizzles = swizzles_;
  }
  for (const std::string& list : costs_) {
    const experiment::ShaderCosts costs = experiment::parse_cost_list(list);
    result.costs.insert(result.costs.end(), costs.begin(), costs.end());
  }
  return result;
}

std::vector<NamedPath> ExperimentOptions::inputs(const std::string& trace_file,
                                                 const experiment::Configuration& configuration) const {
  std::vector<NamedPath> result = {{"the trace", trace_file}, {"--config", config_file_}, {"--costs", costs_file_}};
  for (const std::string& file : configuration.swizzles) {
    result.push_back({"--swizzle", file});
  }
  return result;
}

trace::LaunchSize parse_size(const std::string& text, const std::string& option) {
  std::array<std::uint32_t, 3> sides = {0, 0, 1};
  std::size_t count = 0;
  std::string_view rest = text;
  bool good = true;
  while (good && !rest.empty() && count < sides.size()) {
    const auto cross = rest.find('x');
    const std::string_view item = rest.substr(0, cross);
    const auto [stop, error] = std::from_chars(item.data(), item.data() + item.size(), sides[count]);
    good = error == std::errc() && stop == item.data() + item.size() && !item.empty() && sides[count] > 0;
    rest = cross == std::string_view::npos ? std::string_view() : rest.substr(cross + 1);
    good = good && (cross == std::string_view::npos || !rest.empty());
    ++count;
  }
  if (!good || count < 2 || !rest.empty()) {
    throw Error(ErrorKind::Usage,
                {"the size is not of the form WIDTHxHEIGHT", option, "'" + text + "'", "for example 1280x720", ""});
  }
  return {sides[0], sides[1], sides[2]};
}

std::uint64_t parse_bytes(const std::string& text, const std::string& option) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  const int shift = unit.empty()    ? 0
                    : unit == "KiB" ? 10
                    : unit == "MiB" ? 20
                    : unit == "GiB" ? 30
                    : unit == "TiB" ? 40
                                    : -1;
  if (error != std::errc() || shift < 0 || number == 0 ||
      number > (std::numeric_limits<std::uint64_t>::max() >> static_cast<unsigned>(shift))) {
    throw Error(ErrorKind::Usage,
                {"a size is not understood", option, text, "bytes, KiB, MiB, GiB or TiB, such as 8GiB", ""});
  }
  return number << static_cast<unsigned>(shift);
}

std::string read_file(const std::string& path, std::uint64_t max_bytes) {
  return read_text_file(path, max_bytes);
}

}  // namespace rayreplay::app
