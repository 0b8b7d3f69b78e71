// rayreplay view: a page that shows a trace, its warps and what-ifs, for a browser on this machine.
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/commands/options/device_option.hpp"
#include "app/commands/options/options.hpp"
#include "app/commands/options/settings_options.hpp"
#include "app/console/child.hpp"
#include "app/console/console.hpp"
#include "app/report/export/output_folder.hpp"
#include "base/error.hpp"
#include "base/output_file.hpp"
#include "sim/launch/resolve.hpp"
#ifdef RAYREPLAY_VIEWER
#include "viewer/export.hpp"
#include "viewer/server/server.hpp"
#endif

namespace rayreplay::app {
namespace {

struct ViewArguments {
  std::string path;
  SettingsOptions experiment;
  DeviceOption device;
  std::uint16_t port = 0;
  std::string browser = "xdg-open";
  std::string folder;
  std::vector<std::string> packings;
  std::vector<std::uint64_t> threads;
  bool force = false;
};

#ifdef RAYREPLAY_VIEWER

bool is_own(std::string_view name) {
  return name == "index.html" || name == "viewer.css" || name == "viewer.js" || name == "data.js";
}

output::FolderKind page_folder() {
  return {"index.html", "<title>rayreplay</title>", is_own};
}

void write_page(viewer::Content& content, const ViewArguments& options, std::uint64_t launch) {
  viewer::ExportWanted wanted{.launch = launch, .threads = options.threads};
  for (const std::string& packing : options.packings) {
    wanted.answers.push_back({{"packing", packing}});
  }
  output::OutputFolder folder(options.folder, options.force, page_folder());
  for (const viewer::ExportedFile& file : viewer::export_files(content, wanted)) {
    write_file(folder.temporary_path() / file.name, file.bytes, false);
  }
  folder.commit();
  console::tell("wrote {}: open index.html in a browser", options.folder);
}

/// The browser is the user's own program: one that cannot be started is no failure of the server.
void open_browser(const std::string& browser, const std::string& url) {
  std::thread([browser, url] {
    try {
      static_cast<void>(console::run_child({browser, url}, {}));
    } catch (const Error&) {
      console::note("'{}' could not be started: open the address yourself", browser);
    }
  }).detach();
}

int act(const ViewArguments& options) {
  const experiment::Settings settings = options.experiment.settings(options.path);
  if (!options.folder.empty()) {
    require_distinct({{"--export", options.folder}}, options.experiment.inputs(options.path, settings));
    output::require_folder_writable(options.folder, options.force, page_folder());
  } else if (options.force || !options.packings.empty() || !options.threads.empty()) {
    throw Error(ErrorKind::Usage, {"the option belongs to an exported page",
                                   options.force              ? "--force"
                                   : options.packings.empty() ? "--thread"
                                                              : "--with-packing",
                                   "", "--export DIR beside it", ""});
  }
  const std::unique_ptr<Accelerator> accelerator = options.device.open();
  const auto data = load_input(options.path);
  log_not_captured(data->trace.header);
  const std::int64_t launch = settings.integer("launch");
  static_cast<void>(experiment::launch_of(data->trace, static_cast<std::uint64_t>(launch), "--launch"));
  viewer::Content content({.trace_file = options.path, .asked = options.experiment.asked(options.path)}, data,
                          accelerator.get());
  if (!options.folder.empty()) {
    write_page(content, options, static_cast<std::uint64_t>(launch));
    return 0;
  }
  viewer::Server server(content, options.port);
  console::tell("{} is shown at the address below until you press Ctrl-C", options.path);
  console::print(server.url() + "\n");
  if (!options.browser.empty() && options.browser != "none") {
    open_browser(options.browser, server.url());
  }
  server.serve();
  return 0;
}

#else

int act(const ViewArguments&) {
  throw Error(ErrorKind::Missing, {"this build has no viewer", "view", "RAYREPLAY_VIEWER=OFF", "",
                                   "install nodejs and npm, and build with -DRAYREPLAY_VIEWER=ON"});
}

#endif

void declare(CLI::App& command, ViewArguments& options) {
  add_trace_file(command, options.path)->required();
  options.experiment.add_to(command, {"assignment, simt"});
  options.device.add_to(command);
  const char* group = "Page";
  add_value(command, "--port", options.port, "N", "Port on the loopback interface; 0: any free one", group)
      ->check(CLI::Range(0U, 65535U));
  add_value(command, "--browser", options.browser, "PROGRAM", "Program that opens the address; none: no program",
            group);
  add_plain(command, "--export", options.folder, "DIR", "Write the page with the launch's data as files instead",
            group);
  add_plain(command, "--with-packing", options.packings, "SPEC",
            "With --export: also the answer for this packing; may be repeated", group)
      ->allow_extra_args(false);
  add_plain(command, "--thread", options.threads, "ID",
            "With --export: also rays and warp of this thread; may be repeated", group)
      ->allow_extra_args(false);
  add_force(command, options.force);
}

}  // namespace

void add_view_command(CLI::App& root, Session& session) {
  add_command(root, session, {"view", "Experiments", "Show a trace in the browser: pixels, scene, warps, what-ifs"},
              declare, act);
}

}  // namespace rayreplay::app
