// layer_faults: lets every call below the capture layer, and every allocation inside it, fail once, in programs that
// run under it, and compares what the programs say and how they end.
//
//   layer_faults [calls|allocations]… [--every N] [--burst N] [--jobs N] [--layer FOLDER] [--hit-objects] [--rewritten]
//                [SCENARIO]…
//
// Without names: both kinds, all scenarios. --every N: only one injection of N, evenly spread. --burst N: so many
// allocations in a row fail. --layer: the folder of another build of the layer. --hit-objects: the device says that it
// has hit objects (layer-ser/hit_objects_layer.cpp). --rewritten: the layer runs other modules in place of the
// program's (RAYREPLAY_CAPTURE_SHADERS), which differ in a word that means nothing. The layer's options come from the
// environment (RAYREPLAY_CAPTURE_…).
//
// A failing call of the layer's own, or a failing allocation, must leave the program's output, its messages and its
// exit as they are without the layer. A failing call of the application's may also end as it does without the layer,
// when the same call of the application fails. A spool that lacks what one without a failure has must say so, in a note
// that the other does not have (spool_books.hpp), unless a burst of allocations fails; no note stands twice. Ends with
// 1 if anything else was seen, or if nothing was injected.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>

#include "tests/layer-faults/child.hpp"
#include "tests/layer-faults/commands.hpp"
#include "tests/layer-faults/plan.hpp"
#include "tests/layer-faults/spool_books.hpp"
#include "tests/support/software_driver.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

constexpr const char* kScenarios[] = {
    "modules",          "inline",        "library",       "deferred",        "dynamic-stack", "individual-features",
    "plain-features",   "indirect",      "indirect2",     "unrelated-table", "many-launches", "resubmitted",
    "twice-in-a-batch", "twice-pending", "submit2",       "secondary",       "frames",        "wait-before-signal",
    "queue-held",       "churn",         "odd-calls",     "again",           "forked",        "left-alive",
    "left-at-once",     "images",        "image-accesses"};

struct Settings {
  bool calls = false, allocations = false;
  std::uint64_t every = 1, burst = 1;
  unsigned jobs = 2;
  bool hit_objects = false, rewritten = false;
  std::string layer = RAYREPLAY_LAYER_FOLDER;
  std::vector<std::string> scenarios;
};

/// A run of a scenario with a plan.
class Run {
 public:
  explicit Run(const Settings& settings)
      : folders_(RAYREPLAY_FAULTS_FOLDER "/upper:" + settings.layer + ":" RAYREPLAY_FAULTS_FOLDER "/lower"),
        path_((folder_ / "plan").string()),
        below_(settings.hit_objects ? ":VK_LAYER_RAYREPLAY_test_hit_objects" : "") {
    if (settings.hit_objects) {
      folders_ += ":" RAYREPLAY_HIT_OBJECTS_FOLDER;
    }
    std::ofstream(path_, std::ios::binary) << std::string(sizeof(Plan), '\0');
    Plan* mapped = map_plan(path_.c_str());
    if (mapped == nullptr) {
      throw std::runtime_error("the plan cannot be mapped");
    }
    plan_ = new (mapped) Plan;
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    munmap(plan_, sizeof(Plan));
  }
  Plan& plan() {
    return *plan_;
  }
  /// Without any layer.
  Ended plain(const std::string& scenario) {
    return start(scenario, "", false);
  }
  /// The application's calls, and nothing between them and the driver.
  Ended without(const std::string& scenario) {
    return start(scenario, "VK_LAYER_RAYREPLAY_test_upper:VK_LAYER_RAYREPLAY_test_lower" + below_, false);
  }
  /// `modules`: the folder of those that run in place of the program's; or empty.
  Ended captured(const std::string& scenario, bool allocations, const std::string& modules) {
    const std::string layers = "VK_LAYER_RAYREPLAY_capture";
    return start(
        scenario,
        (allocations ? layers : "VK_LAYER_RAYREPLAY_test_upper:" + layers + ":VK_LAYER_RAYREPLAY_test_lower") + below_,
        allocations, modules);
  }
  [[nodiscard]] SpoolBooks books() const {
    return SpoolBooks(folder_ / "spool");
  }

 private:
  Ended start(const std::string& scenario, const std::string& layers, bool preload, const std::string& modules = {}) {
    std::map<std::string, std::string> environment = {{"VK_INSTANCE_LAYERS", layers},
                                                      {"VK_ADD_LAYER_PATH", folders_},
                                                      {"RAYREPLAY_CAPTURE_SPOOL", (folder_ / "spool").string()},
                                                      {"RAYREPLAY_CAPTURE_LOG", "quiet"},
                                                      {kPlanVariable, path_}};
    if (const auto driver = software_driver(); !driver.empty()) {
      environment["VK_DRIVER_FILES"] = driver;
    }
    if (!modules.empty()) {
      environment["RAYREPLAY_CAPTURE_SHADERS"] = modules;
    }
    if (preload) {
      environment["LD_PRELOAD"] = RAYREPLAY_FAILING_MALLOC;
    }
    return run_child({RAYREPLAY_SCENARIOS, scenario}, environment);
  }

  TemporaryFolder folder_;
  std::string folders_, path_, below_;
  Plan* plan_ = nullptr;
};

struct Counts {
  std::atomic<std::uint64_t> injected{0}, equal{0}, same_error{0}, wrong{0};
};

std::mutex printing;

void tell_wrong(const std::string& scenario, const char* kind, std::uint64_t number, const Plan& plan,
                const Ended& ended, const std::string& why) {
  const std::scoped_lock lock(printing);
  std::printf(
      "WRONG %s %s %llu (%s%s): %s: %s", scenario.c_str(), kind, static_cast<unsigned long long>(number),
      plan.failed.load() != 0 && std::strcmp(kind, "call") == 0 ? kCommandNames[plan.failed_command.load()] : "",
      plan.failed_as.load() != 0 ? ", the application's" : "", ended.how().c_str(), why.c_str());
  std::printf("%s%s\n", ended.output.c_str(), ended.errors.c_str());
  std::fflush(stdout);
}

/// A scenario without failures.
struct Sound {
  Ended plain;          ///< without any layer
  SpoolBooks books;     ///< of a capture
  std::string modules;  ///< as Run::captured takes it
};

void inject(const Settings& settings, const std::string& scenario, bool allocations, std::uint64_t number,
            const Sound& sound, Counts& counts) {
  Run run(settings);
  auto& plan = run.plan();
  (allocations ? plan.allocation : plan.call) = number;
  plan.burst = settings.burst;
  const auto ended = run.captured(scenario, allocations, sound.modules);
  if (plan.failed.load() == 0) {
    return;  // Threads took another order, and there was no such call.
  }
  ++counts.injected;
  const auto books = run.books();
  auto fault = books.fault();
  // A note takes memory itself, which a burst of failures leaves it none of.
  if (fault.empty() && ended == sound.plain && settings.burst == 1) {
    fault = books.lacks_unsaid(sound.books);
  }
  if (ended == sound.plain && fault.empty()) {
    ++counts.equal;
    return;
  }
  if (plan.failed_as.load() != 0 && fault.empty()) {
    Run other(settings);
    other.plan().application_call = plan.failed_as.load();
    other.plan().command = plan.failed_command.load();
    if (other.without(scenario) == ended) {
      ++counts.same_error;
      return;
    }
  }
  ++counts.wrong;
  tell_wrong(scenario, allocations ? "allocation" : "call", number, plan, ended, fault);
}

void search(const Settings& settings, const std::string& scenario, bool allocations, Counts& all) {
  const TemporaryFolder modules;
  Sound sound;
  if (settings.rewritten) {
    Run own(settings);
    static_cast<void>(own.captured(scenario, allocations, ""));
    sound.modules = (modules / "modules").string();
    own.books().write_rewritten(sound.modules);
  }
  Run first(settings);
  sound.plain = first.plain(scenario);
  const auto captured = first.captured(scenario, allocations, sound.modules);
  sound.books = first.books();
  const auto total = (allocations ? first.plan().allocations : first.plan().calls).load();
  Counts counts;
  if (const auto fault = sound.books.fault(); captured != sound.plain || !fault.empty()) {
    ++counts.wrong;
    tell_wrong(scenario, "nothing failed, number", 0, first.plan(), captured, fault);
  }
  if (SpoolBooks().lacks_unsaid(sound.books).empty()) {
    ++counts.wrong;
    tell_wrong(scenario, "nothing failed, number", 0, first.plan(), captured, "its spool holds nothing to miss");
  }
  if (settings.hit_objects && !sound.books.has_hit_objects()) {
    ++counts.wrong;
    tell_wrong(scenario, "nothing failed, number", 0, first.plan(), captured, "no shader has hit objects");
  }
  if (settings.rewritten && !sound.books.has_note("shaders: replaced module ")) {
    ++counts.wrong;
    tell_wrong(scenario, "nothing failed, number", 0, first.plan(), captured, "no module was replaced");
  }
  std::atomic<std::uint64_t> next{1};
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < settings.jobs; ++i) {
    workers.emplace_back([&] {
      for (auto number = next.fetch_add(settings.every); number <= total; number = next.fetch_add(settings.every)) {
        inject(settings, scenario, allocations, number, sound, counts);
      }
    });
  }
  for (auto& worker : workers) {
    worker.join();
  }
  std::printf(
      "%-20s %-11s %6llu there %6llu injected %6llu equal %5llu same error %4llu wrong\n", scenario.c_str(),
      allocations ? "allocations" : "calls", static_cast<unsigned long long>(total),
      static_cast<unsigned long long>(counts.injected.load()), static_cast<unsigned long long>(counts.equal.load()),
      static_cast<unsigned long long>(counts.same_error.load()), static_cast<unsigned long long>(counts.wrong.load()));
  std::fflush(stdout);
  all.injected += counts.injected;
  all.equal += counts.equal;
  all.same_error += counts.same_error;
  all.wrong += counts.wrong;
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto number = [&]() -> std::uint64_t {
      return i + 1 < argc ? std::max(1ULL, std::strtoull(argv[++i], nullptr, 10)) : 1;
    };
    if (word == "calls") {
      settings.calls = true;
    } else if (word == "allocations") {
      settings.allocations = true;
    } else if (word == "--every") {
      settings.every = number();
    } else if (word == "--burst") {
      settings.burst = number();
    } else if (word == "--hit-objects") {
      settings.hit_objects = true;
    } else if (word == "--rewritten") {
      settings.rewritten = true;
    } else if (word == "--layer" && i + 1 < argc) {
      settings.layer = argv[++i];
    } else if (word == "--jobs") {
      settings.jobs = static_cast<unsigned>(number());
    } else {
      settings.scenarios.push_back(word);
    }
  }
  if (!settings.calls && !settings.allocations) {
    settings.calls = settings.allocations = true;
  }
  if (settings.scenarios.empty()) {
    settings.scenarios.assign(std::begin(kScenarios), std::end(kScenarios));
  }
  return settings;
}

}  // namespace

int search_all(int argc, char** argv) {
  const auto settings = parse(argc, argv);
  Counts counts;
  for (const auto& scenario : settings.scenarios) {
    if (settings.calls) {
      search(settings, scenario, false, counts);
    }
    if (settings.allocations) {
      search(settings, scenario, true, counts);
    }
  }
  std::printf(
      "%llu injected: %llu equal, %llu with the error that they have without the layer, %llu wrong\n",
      static_cast<unsigned long long>(counts.injected.load()), static_cast<unsigned long long>(counts.equal.load()),
      static_cast<unsigned long long>(counts.same_error.load()), static_cast<unsigned long long>(counts.wrong.load()));
  return counts.wrong.load() == 0 && counts.injected.load() > 0 ? 0 : 1;
}

}  // namespace rayreplay::test

int main(int argc, char** argv) {
  return rayreplay::test::search_all(argc, argv);
}
