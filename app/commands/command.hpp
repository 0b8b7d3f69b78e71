// Commands: each file of this folder adds one subcommand with its options to the command line.
//
// Contract: `add_…` declares the options and stores the command's function in `session.action`; `run` (run.hpp) calls
// it once the whole command line is valid. An action prints its data with console::print, throws rayreplay::Error on
// failure, and returns the exit code.
#pragma once

#include <functional>
#include <memory>

#include <CLI/CLI.hpp>

namespace rayreplay::app {

struct Session {
  std::function<int()> action;
};

/// A command's name, its group in the help, and its text there.
struct CommandText {
  const char* name;
  const char* group;
  const char* text;
};

/// Adds a command: `declare` adds its options to the command line, `act` is its action.
template <class Options>
void add_command(CLI::App& root, Session& session, const CommandText& said, void (*declare)(CLI::App&, Options&),
                 int (*act)(const Options&)) {
  CLI::App* command = root.add_subcommand(said.name, said.text);
  command->group(said.group);
  auto options = std::make_shared<Options>();
  declare(*command, *options);
  command->callback([&session, options, act] { session.action = [options, act] { return act(*options); }; });
}

using AddCommand = void(CLI::App& root, Session& session);
AddCommand add_capture_command, add_ingest_command, add_trace_command, add_import_command, add_info_command,
    add_validate_command, add_seal_command, add_list_command, add_describe_command, add_completion_command,
    add_devices_command, add_bvh_command, add_whatif_command, add_advise_command, add_replay_command,
    add_traverse_command, add_cache_command, add_microbench_command, add_run_command, add_swizzle_command,
    add_explain_command, add_order_command, add_sweep_command, add_merge_command, add_instrument_command,
    add_results_command, add_calibrate_command, add_shaders_command, add_profile_command, add_optimise_command,
    add_view_command;

}  // namespace rayreplay::app
