// Options that several commands share, with one spelling, check and help text.
//
// Contract: `add_…` functions declare an option; its value is set when the command line is parsed. The other functions
// check or use values. Errors: Usage with the option's name, unless stated otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/report/export/table.hpp"
#include "base/progress.hpp"
#include "capture/trace/trace.hpp"
#include "sim/engine/stage_input.hpp"

namespace rayreplay::app {

/// --format table|json|csv
struct FormatOption {
  std::string name = "table";
  void add_to(CLI::App& command);
  [[nodiscard]] output::Format format() const {
    return output::parse_format(name);
  }
};

/// -o FILE (default: standard output) and --force
struct OutputOption {
  std::string path = "-";
  bool force = false;
  void add_to(CLI::App& command, const std::string& text);
  void add_required_to(CLI::App& command, const std::string& text);
  /// Throws Output if the file cannot be written later; for use before long work.
  void check() const;
  void write(std::string_view bytes) const;
};

void add_force(CLI::App& command, bool& force);

/// --format, -o FILE and --force: where a command's result goes, and how it is written.
struct ResultOption : OutputOption {
  FormatOption format;
  void check() const {
    static_cast<void>(format.format());
    OutputOption::check();
  }
  void add_to(CLI::App& command, const std::string& text = "Where to write the result; - is standard output");
  void write_result(const output::Result& result) const {
    write(output::render(result, format.format()));
  }
};

/// An option with a value, its type in the help, its group there, and the value without it.
template <class Value>
CLI::Option* add_value(CLI::App& command, const std::string& name, Value& value, const std::string& type,
                       const std::string& text, const std::string& group) {
  return command.add_option(name, value, text)->type_name(type)->capture_default_str()->group(group);
}
/// The same for a value that is absent or empty by default.
template <class Value>
CLI::Option* add_plain(CLI::App& command, const std::string& name, Value& value, const std::string& type,
                       const std::string& text, const std::string& group) {
  return command.add_option(name, value, text)->type_name(type)->group(group);
}

/// A file or folder that the command line names, and the option that names it.
struct NamedPath {
  std::string option;
  std::string path;
};

/// Throws Usage if two outputs are one file or one is inside another's folder, if an output is an input, or if an input
/// is inside an output folder: writing one would destroy the other. Links are followed. "" and "-", devices and pipes
/// never conflict.
void require_distinct(const std::vector<NamedPath>& outputs, const std::vector<NamedPath>& inputs);

/// Throws Usage for "-": binary output goes to files only.
void require_file_name(const std::string& path, const std::string& option);

/// The positional TRACE of most commands.
CLI::Option* add_trace_file(CLI::App& command, std::string& path);
/// Throws Input for a memory trace, which only `cache` and `import` accept.
void require_no_memory_trace(const std::string& path);
/// True if the file starts as a trace of rays does.
[[nodiscard]] bool has_trace_start(const std::string& path);
/// Throws Input for a file that is neither a trace of rays nor a memory trace; the reader reports unreadable files.
void require_known_trace(const std::string& path);
/// Reads and checks it, with a progress bar; Input for a memory trace. `rules`: as in capture/trace/reader.hpp.
[[nodiscard]] trace::Trace load_trace(const std::string& path, bool rules = true);
/// The same, as the input of an experiment.
[[nodiscard]] std::shared_ptr<const experiment::InputData> load_input(const std::string& path);

/// The trace's notes on missing data, on standard error: the first lines, and the number of further ones.
void log_not_captured(const trace::Header& header);

/// "1280x720" or "1280x720x6". Usage errors name `option`.
[[nodiscard]] trace::LaunchSize parse_size(const std::string& text, const std::string& option);

/// "4096", "512MiB", "8GiB": at least 1. Usage errors name `option`.
[[nodiscard]] std::uint64_t parse_bytes(const std::string& text, const std::string& option);

}  // namespace rayreplay::app
