// Commands: each file of this folder adds one subcommand with its options to the command line.
//
// Contract: `add_…` declares the options and stores the command's function in `session.action`; `run` (run.hpp) calls
// it once the whole command line is valid. An action prints its data with console::print, throws rayreplay::Error on
// failure, and returns the exit code.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace rayreplay::app {

struct Session {
  std::function<int()> action;
};

void add_capture_command(CLI::App& root, Session& session);
void add_ingest_command(CLI::App& root, Session& session);
void add_trace_command(CLI::App& root, Session& session);
void add_import_command(CLI::App& root, Session& session);
void add_info_command(CLI::App& root, Session& session);
void add_validate_command(CLI::App& root, Session& session);
void add_seal_command(CLI::App& root, Session& session);
void add_list_command(CLI::App& root, Session& session);
void add_describe_command(CLI::App& root, Session& session);
void add_completion_command(CLI::App& root, Session& session);
void add_devices_command(CLI::App& root, Session& session);
void add_bvh_command(CLI::App& root, Session& session);
void add_whatif_command(CLI::App& root, Session& session);
void add_advise_command(CLI::App& root, Session& session);
void add_replay_command(CLI::App& root, Session& session);
void add_traverse_command(CLI::App& root, Session& session);
void add_cache_command(CLI::App& root, Session& session);
void add_microbench_command(CLI::App& root, Session& session);
void add_run_command(CLI::App& root, Session& session);
void add_swizzle_command(CLI::App& root, Session& session);
void add_explain_command(CLI::App& root, Session& session);
void add_order_command(CLI::App& root, Session& session);
void add_sweep_command(CLI::App& root, Session& session);
void add_merge_command(CLI::App& root, Session& session);
void add_instrument_command(CLI::App& root, Session& session);
void add_results_command(CLI::App& root, Session& session);

}  // namespace rayreplay::app
