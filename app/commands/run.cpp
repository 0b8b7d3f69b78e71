#include "app/commands/run.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/global_control.h>

#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "base/error.hpp"
#include "base/parameters.hpp"
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

/// The subcommands in the arguments, from the root to the deepest.
std::vector<const CLI::App*> chosen_path(const CLI::App& root) {
  std::vector<const CLI::App*> path = {&root};
  for (auto parsed = root.get_subcommands(); !parsed.empty(); parsed = path.back()->get_subcommands()) {
    path.push_back(parsed.front());
  }
  return path;
}

/// From the deepest to the root: commands that may own an option.
std::vector<const CLI::App*> with_options(const CLI::App& root) {
  std::vector<const CLI::App*> path = chosen_path(root);
  std::ranges::reverse(path);
  return path;
}

/// "results best"; "" for the root.
std::string path_name(const std::vector<const CLI::App*>& path) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i < path.size(); ++i) {
    names.push_back(path[i]->get_name());
  }
  return fmt::format("{}", fmt::join(names, " "));
}

std::vector<std::string> option_names(const CLI::App& root) {
  std::vector<std::string> names;
  for (const CLI::App* app : with_options(root)) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        names.push_back("--" + name);
      }
    }
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

/// CLI11 reports an unknown argument, but not the nearest known one.
ErrorInfo unknown_argument(const CLI::App& root, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const bool is_option = word.starts_with("-");
  const std::vector<const CLI::App*> path = chosen_path(root);
  const std::string where = path_name(path);
  const std::vector<std::string> commands = command_names(*path.back());
  const bool is_command = !is_option && !commands.empty();
  const std::string near = nearest(name, is_option ? option_names(root) : commands);
  std::string fix;
  if ((is_option || is_command) && !near.empty()) {
    fix = "did you mean '" + near + "'?";
  } else {
    fix = fmt::format("see rayreplay {}{}--help", where, where.empty() ? "" : " ");
  }
  const bool nested = is_command && path.size() > 1;
  return {is_option    ? "unknown option"
          : nested     ? "unknown subcommand"
          : is_command ? "unknown command"
                       : "unexpected argument",
          where, "'" + word + "'", nested ? fmt::format("one of {}", fmt::join(commands, ", ")) : "", fix};
}

/// CLI11's message is "Could not convert: NAME = VALUE"; it is cut at the name, which is a known option.
ErrorInfo not_convertible(const CLI::App& root, const std::string& message) {
  for (const CLI::App* app : with_options(root)) {
    for (const CLI::Option* option : app->get_options()) {
      const std::string start = "Could not convert: " + option->get_name() + " = ";
      if (!message.starts_with(start)) {
        continue;
      }
      const std::string value = message.substr(start.size());
      const bool too_large = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
      return {too_large ? "the value is too large" : "the value is not a whole number", option->get_name(),
              "'" + value + "'",
              too_large ? fmt::format("at most {}", std::numeric_limits<std::uint32_t>::max())
                        : std::string("a whole number of at least 0"),
              ""};
    }
  }
  return {message, "", "", "", ""};
}

int report_parse_error(const CLI::App& root, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    // --help and --version are exceptions in CLI11, but no errors.
    const auto* version = dynamic_cast<const CLI::CallForVersion*>(&error);
    console::print(version != nullptr ? std::string(error.what()) + "\n" : root.help());
    return 0;
  }
  for (const std::string& word : root.remaining(true)) {
    if (word != "--") {
      return report(format_error(unknown_argument(root, word)), ErrorKind::Usage);
    }
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    return report(format_error(not_convertible(root, error.what())), ErrorKind::Usage);
  }
  std::string message = error.what();
  if (root.get_subcommands().empty()) {
    message = "a command is needed. Fix: see rayreplay --help";
  }
  return report(message, ErrorKind::Usage);
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
       {add_capture_command,   add_ingest_command,     add_trace_command,   add_import_command,  add_info_command,
        add_validate_command,  add_seal_command,       add_bvh_command,     add_whatif_command,  add_advise_command,
        add_replay_command,    add_traverse_command,   add_cache_command,   add_sweep_command,   add_merge_command,
        add_run_command,       add_explain_command,    add_results_command, add_order_command,   add_microbench_command,
        add_swizzle_command,   add_instrument_command, add_list_command,    add_devices_command, add_describe_command,
        add_calibrate_command, add_completion_command}) {
    add(root, session);
  }
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report_parse_error(root, error);
  }
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
