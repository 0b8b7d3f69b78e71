// rayreplay validate: checks a trace: all faults up to a limit, then legal but notable facts. rayreplay seal: gives a
// deliberately edited trace a new hash.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "capture/trace/seal.hpp"
#include "capture/trace/validate.hpp"

namespace rayreplay::app {
namespace {

struct ValidateArguments {
  std::string path;
  std::uint64_t limit = 20;
  FormatOption format;
};

/// A file that cannot be decoded has that one fault.
trace::Findings find(const ValidateArguments& options) {
  try {
    return trace::find_faults(load_trace(options.path, false), options.path, options.limit);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) {
      throw;
    }
    return {{error.info()}, {}, {}};
  }
}

output::Table fault_table(const trace::Findings& findings) {
  output::Table table;
  table.columns = {{"where", "where"}, {"what", "what"}, {"found", "found"}, {"expected", "expected"}, {"fix", "fix"}};
  for (const ErrorInfo& fault : findings.faults) {
    table.rows.push_back({fault.where, fault.what, fault.found, fault.expected, fault.fix});
  }
  return table;
}

std::string text(const ValidateArguments& options, const trace::Findings& findings) {
  std::string result;
  for (const ErrorInfo& fault : findings.faults) {
    result += "fault: " + console::error_text(fault) + "\n";
  }
  for (const std::string& note : findings.notes) {
    result += "note: " + text::printable(note) + "\n";
  }
  if (findings.faults.empty()) {
    return result + text::printable(options.path) + ": sound\n";
  }
  return result + fmt::format("{}: {}{} {}\n", text::printable(options.path), findings.faults.size(),
                              findings.faults.size() >= options.limit ? " or more" : "",
                              noun(findings.faults.size(), "fault"));
}

nlohmann::ordered_json launches_json(const std::vector<trace::EventCounts>& launches) {
  nlohmann::ordered_json result = nlohmann::ordered_json::array();
  for (const trace::EventCounts& counts : launches) {
    nlohmann::ordered_json events = nlohmann::ordered_json::object();
    for (std::size_t kind = 0; kind < trace::kEventKinds; ++kind) {
      events[trace::to_string(static_cast<trace::EventKind>(kind))] = counts.by_kind.at(kind);
    }
    nlohmann::ordered_json no_end = nlohmann::ordered_json::object();
    for (std::size_t reason = 0; reason < trace::kNoEnds; ++reason) {
      no_end[trace::to_string(static_cast<trace::NoEnd>(reason))] = counts.no_end.at(reason);
    }
    result.push_back({{"launch", result.size()},
                      {"threads", counts.threads},
                      {"threads_with_events", counts.threads_with_events},
                      {"rays", counts.rays},
                      {"events", events},
                      {"rays_without_end", no_end}});
  }
  return result;
}

int act(const ValidateArguments& options) {
  const output::Format format = options.format.format();
  const trace::Findings findings = find(options);
  const output::Result result{[&] { return text(options, findings); }, [&] { return fault_table(findings); },
                              [&] {
                                return nlohmann::ordered_json{
                                    {"schema", "rayreplay.validate/1"}, {"file", options.path},
                                    {"sound", findings.faults.empty()}, {"faults", to_json(fault_table(findings))},
                                    {"notes", findings.notes},          {"launches", launches_json(findings.counts)}};
                              }};
  console::print(output::render(result, format));
  return findings.faults.empty() ? 0 : static_cast<int>(ErrorKind::Input);
}

void declare(CLI::App& command, ValidateArguments& options) {
  add_trace_file(command, options.path)->required();
  command.add_option("--limit", options.limit, "Faults to list at most")
      ->type_name("N")
      ->check(CLI::Range(1U, 1'000'000U))
      ->capture_default_str();
  options.format.add_to(command);
}

}  // namespace

void add_validate_command(CLI::App& root, Session& session) {
  add_command(root, session, {"validate", "Traces", "Check a trace file against every rule of the format"}, declare,
              act);
}

void add_seal_command(CLI::App& root, Session& session) {
  CLI::App* command =
      root.add_subcommand("seal", "Give a trace that was edited on purpose (h5py, MATLAB) a new hash, if it is sound");
  command->group("Traces");
  auto path = std::make_shared<std::string>();
  add_trace_file(*command, *path)->required();
  command->callback([&session, path] {
    session.action = [path] {
      const std::string hash = trace::seal(*path);
      console::tell("sealed {}, hash {}", *path, hash);
      return 0;
    };
  });
}

}  // namespace rayreplay::app
