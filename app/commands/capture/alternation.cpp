#include "app/commands/capture/alternation.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"

namespace rayreplay::app {
namespace {

namespace fs = std::filesystem;

constexpr double kConfidence = 0.95;
constexpr std::uint64_t kMaxPictureBytes = std::uint64_t{1} << 30U;

const char* name_of(RunKind kind) {
  return kind == RunKind::Own ? "own" : "changed";
}

}  // namespace

Alternation::Alternation(AlternationOptions options, std::string program, std::string change)
    : options_(std::move(options)), program_(std::move(program)), change_(std::move(change)) {
  for (const std::string& path : options_.pictures) {
    pictures_.push_back({path, {}});
  }
}

RunKind Alternation::kind_of(std::uint32_t number) {
  // Own, changed, changed, own, own, …: neither kind always runs behind the other.
  return (number + 1) / 2 % 2 == 0 ? RunKind::Own : RunKind::Changed;
}

void Alternation::check_pictures(bool force) const {
  for (const Picture& picture : pictures_) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(picture.path, error);
    if (fs::exists(status) && !fs::is_regular_file(status)) {
      throw Error(ErrorKind::Output, {"the picture's name is taken by something that is no file", picture.path, "", "",
                                      "name the file that the program writes"});
    }
    if (fs::exists(status) && !force) {
      throw Error(ErrorKind::Output, {"the picture exists already, and each run would replace it", picture.path, "", "",
                                      "let the program write another file, or give --force"});
    }
  }
}

void Alternation::remove_pictures() const {
  for (const Picture& picture : pictures_) {
    std::error_code error;
    fs::remove(picture.path, error);
  }
}

void Alternation::require_change(const layer::Options& settings, const Timings& timings) const {
  // The layer's note on a device without reordering (capture/layer/device/device_create.cpp).
  constexpr std::string_view kUnchanged = "shaders keep their trace calls";
  const bool inserted = settings.insert_ser && std::ranges::none_of(timings.notes, [&](const std::string& note) {
                          return note.find(kUnchanged) != std::string::npos;
                        });
  const bool swizzled =
      std::ranges::any_of(timings.launches, [](const LaunchTiming& one) { return one.launch.swizzled != 0; });
  if (!timings.replaced.empty() || swizzled || inserted) {
    return;
  }
  std::string found = settings.shaders.empty() ? "" : "none of its modules has another one in the folder of --shaders";
  if (!settings.swizzle.empty()) {
    found += (found.empty() ? "" : "; ") + std::string("no launch has the swizzle's size");
  }
  if (settings.insert_ser) {
    found += (found.empty() ? "" : "; ") + std::string("the device cannot reorder threads");
  }
  throw Error(ErrorKind::Missing, {"nothing of the program is changed, so there is nothing to compare", program_, found,
                                   change_ + " with an effect", "see rayreplay capture with the same options"});
}

void Alternation::add(RunKind kind, const Timings& timings) {
  AlternatedRun run{.kind = kind};
  std::uint64_t seen = 0;
  double sum = 0;
  for (const LaunchTiming& timing : timings.launches) {
    const spool::Launch& launch = timing.launch;
    if (seen++ < options_.warm_up || launch.end_ns <= launch.begin_ns) {
      continue;
    }
    sum += static_cast<double>(launch.end_ns - launch.begin_ns) * 1e-6;
    ++run.launches;
  }
  if (run.launches == 0) {
    throw Error(ErrorKind::Input,
                {"no launch of the run was timed behind the warm-up", program_, counted(seen, "launch", "launches"),
                 fmt::format("more than {} (--warm-up)", options_.warm_up),
                 "let the program render more frames, or give a smaller --warm-up"});
  }
  run.milliseconds = sum / static_cast<double>(run.launches);
  for (Picture& picture : pictures_) {
    std::error_code error;
    if (!fs::exists(picture.path, error)) {
      throw Error(ErrorKind::Input, {"the program wrote no such picture", picture.path, "no file", "",
                                     "name the file that the program writes (--picture)"});
    }
    std::string bytes = read_text_file(picture.path, kMaxPictureBytes, "picture");
    if (runs_.empty()) {
      picture.bytes = std::move(bytes);
    } else if (bytes != picture.bytes) {
      (kind == RunKind::Own ? picture.own_differs : picture.changed_differs) = true;
    }
  }
  if (kind == RunKind::Changed) {
    not_asked_for_ = timings.not_asked_for;
    replaced_ = timings.replaced;
  }
  device_ = timings.device;
  runs_.push_back(run);
}

std::vector<double> Alternation::times_of(RunKind kind) const {
  std::vector<double> times;
  for (const AlternatedRun& run : runs_) {
    if (run.kind == kind) {
      times.push_back(run.milliseconds);
    }
  }
  return times;
}

std::vector<double> Alternation::changes() const {
  const std::vector<double> own = times_of(RunKind::Own);
  std::vector<double> changes = times_of(RunKind::Changed);
  for (std::size_t pair = 0; pair < changes.size(); ++pair) {
    changes[pair] = changes[pair] / own[pair] - 1;
  }
  return changes;
}

bool Alternation::differs(RunKind kind) const {
  bool found = false;
  for (const Picture& picture : pictures_) {
    found = found || (kind == RunKind::Own ? picture.own_differs : picture.changed_differs);
  }
  return found;
}

std::string Alternation::verdict() const {
  const MeanInterval change = mean_interval(changes(), kConfidence);
  const std::string size = fmt::format("({:+.2f} ± {:.2f}) %", change.mean * 100, change.half_width * 100);
  std::string text;
  if (std::abs(change.mean) <= change.half_width || change.mean == 0) {
    text = fmt::format("{}: the change of a launch's time cannot be told from zero: {}", change_, size);
  } else {
    text = fmt::format("{}: a launch takes {} time: {}", change_, change.mean < 0 ? "less" : "more", size);
  }
  text += fmt::format(" (95 % confidence, {}). ", counted(*options_.asked, "pair of runs", "pairs of runs"));
  if (pictures_.empty()) {
    return text + "Pictures were not compared (--picture)";
  }
  if (differs(RunKind::Own)) {
    return text + "The program's own pictures differ from run to run, so they prove nothing";
  }
  return text + (differs(RunKind::Changed) ? "Pictures differ" : "Pictures are equal bit for bit");
}

output::Table Alternation::summary() const {
  output::Table table;
  table.columns = {{"runs", "runs"},
                   {"kind", "kind", {}, 0, true},
                   {"count", "number"},
                   {"milliseconds", "ms a launch", output::Show::Plain, 3},
                   {"milliseconds_half_width", "±", output::Show::Plain, 3},
                   {"change", "change", output::Show::Change, 2},
                   {"change_half_width", "±", output::Show::Percent, 2},
                   {"pictures", "pictures"}};
  const MeanInterval change = mean_interval(changes(), kConfidence);
  for (const RunKind kind : {RunKind::Own, RunKind::Changed}) {
    const bool own = kind == RunKind::Own;
    const std::vector<double> times = times_of(kind);
    const MeanInterval time = mean_interval(times, kConfidence);
    table.rows.push_back({own ? "the program's own" : change_, name_of(kind), std::uint64_t{times.size()}, time.mean,
                          time.half_width, own ? output::Cell{} : output::Cell{change.mean},
                          own ? output::Cell{} : output::Cell{change.half_width},
                          pictures_.empty() ? output::Cell{} : output::Cell{differs(kind) ? "differ" : "equal"}});
  }
  return table;
}

output::Result Alternation::result(const std::vector<std::string>& notes) const {
  output::Result result;
  result.text = [this] { return "verdict: " + verdict() + "\n\n" + output::to_text(summary()); };
  result.rows = [this] { return summary(); };
  result.document = [this, notes] {
    nlohmann::ordered_json runs = nlohmann::ordered_json::array();
    for (const AlternatedRun& run : runs_) {
      runs.push_back({{"kind", name_of(run.kind)}, {"milliseconds", run.milliseconds}, {"launches", run.launches}});
    }
    nlohmann::ordered_json pictures = nlohmann::ordered_json::array();
    for (const Picture& picture : pictures_) {
      pictures.push_back(
          {{"file", picture.path}, {"own_equal", !picture.own_differs}, {"equal", !picture.changed_differs}});
    }
    nlohmann::ordered_json document = {{"schema", "rayreplay.alternation/1"},
                                       {"tool_version", RAYREPLAY_VERSION},
                                       {"program", program_},
                                       {"device", device_},
                                       {"change", change_},
                                       {"pairs", *options_.asked},
                                       {"warm_up", options_.warm_up},
                                       {"confidence", kConfidence},
                                       {"verdict", verdict()},
                                       {"rows", output::to_json(summary())},
                                       {"runs", std::move(runs)},
                                       {"pictures", std::move(pictures)},
                                       {"notes", notes}};
    if (not_asked_for_) {
      document["shaders"] = {{"replaced", replaced_}, {"not_asked_for", *not_asked_for_}};
    }
    return document;
  };
  return result;
}

}  // namespace rayreplay::app
