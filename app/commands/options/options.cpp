#include "app/commands/options/options.hpp"

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

constexpr const char* kOutputGroup = "Output";

namespace fs = std::filesystem;

/// Devices and pipes are written directly, so nothing is replaced.
bool can_be_replaced(const std::string& path) {
  if (path.empty() || path == "-") {
    return false;
  }
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return !fs::exists(status) || fs::is_regular_file(status) || fs::is_directory(status);
}

/// Absolute, links followed as far as the path exists, without a trailing slash.
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
  add_value(command, "--format", name, "FORMAT", "table, json or csv", kOutputGroup);
}

void add_force(CLI::App& command, bool& force) {
  command.add_flag("--force", force, "Replace outputs that exist already")->group(kOutputGroup);
}

void OutputOption::add_to(CLI::App& command, const std::string& text) {
  add_value(command, "-o,--output", path, "FILE", text, kOutputGroup);
  add_force(command, force);
}

void OutputOption::add_required_to(CLI::App& command, const std::string& text) {
  add_plain(command, "-o,--output", path, "FILE", text, kOutputGroup)->required();
  add_force(command, force);
}

void ResultOption::add_to(CLI::App& command, const std::string& text) {
  format.add_to(command);
  OutputOption::add_to(command, text);
}

void OutputOption::check() const {
  if (path.empty() || can_be_replaced(path)) {
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
                      {"one output is inside the folder of another output", outputs[inner].option,
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
  return add_plain(command, "trace", path, "TRACE", "Trace file (.rrt)", "Input");
}

void require_no_memory_trace(const std::string& path) {
  if (import::has_memory_trace_start(path)) {
    throw Error(ErrorKind::Input, {"this is a memory trace", path, "", "a trace of rays (.rrt)",
                                   "rayreplay cache takes it as it is, rayreplay import says what it holds"});
  }
}

bool has_trace_start(const std::string& path) {
  constexpr std::array<std::string_view, 2> kStarts = {"RAYREPLAY", "\x89HDF"};
  const std::string first = read_start(path, kStarts[0].size(), "trace");
  // A file that is cut within its first bytes counts as a truncated trace.
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [&first](std::string_view start) { return first.starts_with(start) || start.starts_with(first); });
}

void require_known_trace(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return;
  }
  if (!has_trace_start(path) && !import::has_memory_trace_start(path)) {
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

std::shared_ptr<const experiment::InputData> load_input(const std::string& path) {
  return std::make_shared<const experiment::InputData>(experiment::InputData{.trace = load_trace(path), .records = {}});
}

void log_not_captured(const trace::Header& header) {
  constexpr std::size_t kShown = 5;
  // Traces without warps are not captures: a tracer's missing data does not affect these commands.
  if (header.warp_size == 0) {
    return;
  }
  const auto& lines = header.not_captured;
  for (std::size_t i = 0; i < std::min(lines.size(), kShown); ++i) {
    console::note("not captured: {}", lines[i]);
  }
  if (lines.size() > kShown) {
    console::note("… {} more; rayreplay info shows them", lines.size() - kShown);
  }
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

}  // namespace rayreplay::app
