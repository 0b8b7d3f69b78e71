#include "app/commands/run.hpp"

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <tbb/global_control.h>

#include "app/commands/argument_error.hpp"
#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "base/error.hpp"
#include "base/working_folder.hpp"

namespace rayreplay::app {
namespace {

constexpr int kBrokenPipeCode = 141;  // what a shell reports for a program that SIGPIPE ended
constexpr unsigned kMaxThreads = 1024;

constexpr const char* kDescription =
    "rayreplay: replays recorded GPU ray tracing with other warp packings, schedulers, structures and caches\n"
    "Start with:  rayreplay trace --scene one-weekend -o t.rrt  and  rayreplay whatif t.rrt";

int report(const std::string& message, ErrorKind kind) {
  console::tell("error: {}", message);
  return static_cast<int>(kind);
}

int report_parse_error(const CLI::App& root, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    // --help and --version are exceptions in CLI11, but no errors.
    const auto* version = dynamic_cast<const CLI::CallForVersion*>(&error);
    console::print(version != nullptr ? std::string(error.what()) + "\n" : root.help());
    return 0;
  }
  return report(format_error(argument_error(root, error)), ErrorKind::Usage);
}

int parse_and_act(int argc, char** argv) {
  CLI::App root(kDescription, "rayreplay");
  Session session;
  unsigned threads = 0;
  root.set_version_flag("--version", std::string("rayreplay ") + RAYREPLAY_VERSION);
  add_plain(root, "--threads", threads, "N", "Threads to work with (0: one for each core); results do not depend on it",
            "Global")
      ->check(CLI::Range(0U, kMaxThreads));
  root.require_subcommand(1);
  root.fallthrough();
  for (AddCommand* add :
       {add_capture_command, add_ingest_command,  add_trace_command,      add_import_command,    add_info_command,
        add_shaders_command, add_profile_command, add_optimise_command,   add_validate_command,  add_seal_command,
        add_bvh_command,     add_whatif_command,  add_advise_command,     add_replay_command,    add_traverse_command,
        add_cache_command,   add_sweep_command,   add_merge_command,      add_run_command,       add_explain_command,
        add_results_command, add_order_command,   add_microbench_command, add_swizzle_command,   add_instrument_command,
        add_list_command,    add_devices_command, add_describe_command,   add_calibrate_command, add_completion_command,
        add_view_command}) {
    add(root, session);
  }
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report_parse_error(root, error);
  }
  require_values(root);
  std::optional<tbb::global_control> limit;
  if (threads > 0) {
    limit.emplace(tbb::global_control::max_allowed_parallelism, threads);
  }
  return session.action();
}

}  // namespace

int run(int argc, char** argv) noexcept {
  try {
    try {
      return parse_and_act(argc, argv);
    } catch (const console::BrokenPipe&) {
      return kBrokenPipeCode;
    } catch (const Error& error) {
      console::log_error(error.info());
      return error.exit_code();
    } catch (const std::bad_alloc&) {
      return report("not enough memory. Fix: close other programs, or use a smaller trace", ErrorKind::Resource);
    } catch (const std::system_error& error) {
      try {
        require_working_folder(ErrorKind::Input);
      } catch (const Error& gone) {
        return report(gone.what(), gone.kind());
      }
      return report(fmt::format("the system refused: {}", error.what()), ErrorKind::Resource);
    } catch (const std::exception& error) {
      return report(fmt::format("internal error: {}", error.what()), ErrorKind::Internal);
    }
  } catch (...) {
    return static_cast<int>(ErrorKind::Internal);  // even the message could not be made
  }
}

}  // namespace rayreplay::app
