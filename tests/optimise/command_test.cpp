// rayreplay optimise and capture --shaders as a user runs them, on lavapipe.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "capture/layer/options/module_list.hpp"
#include "capture/optimise/optimise.hpp"
#include "capture/spirv/module.hpp"
#include "capture/trace/reader.hpp"
#include "capture/trace/writer.hpp"
#include "tests/app/run_command.hpp"

namespace rayreplay {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Outcome;
using test::read_bytes;
using test::run_command;
using testing::HasSubstr;
using Words = std::vector<std::string>;

const Words kSpheres = {RAYREPLAY_ONE_WEEKEND, "--size", "48x32", "--spp", "2", "--depth", "4"};
const Words kCornell = {RAYREPLAY_MESH_VIEWER, "--scene", "cornell", "--size", "24x16", "--spp", "1"};
const Words kSwitch = {RAYREPLAY_SWITCH_DISPATCH, "--size", "32x16"};

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Traces of the programs, made once.
class Optimise : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = std::make_unique<test::Scratch>();
    for (const auto& [name, program] : {std::pair{"spheres", kSpheres}, {"switch", kSwitch}, {"cornell", kCornell}}) {
      const std::string counts = program == kCornell   ? "blocks,branches,loads"
                                 : program == kSpheres ? "blocks,values"
                                                       : "blocks";
      const Words options = {"capture", "--profile", counts, "-o", *shared_ / (std::string(name) + ".rrt"), "--"};
      const Outcome outcome =
          run_command(joined(joined(options, program), {"--image", *shared_ / (std::string(name) + ".png")}));
      ASSERT_EQ(outcome.code, 0) << outcome.errors;
    }
  }
  static void TearDownTestSuite() {
    shared_.reset();
  }
  [[nodiscard]] static std::string shared(const std::string& name) {
    return *shared_ / name;
  }
  /// Folder of modules of a trace, and its manifest.
  [[nodiscard]] std::string optimised(const std::string& trace, const Words& more = {}) const {
    const std::string folder = scratch_ / "modules";
    const Outcome outcome = run_command(joined({"optimise", shared(trace), "-o", folder, "--force"}, more));
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return folder;
  }
  [[nodiscard]] static json manifest(const std::string& folder) {
    return json::parse(read_bytes(folder + "/manifest.json"));
  }
  /// A timed run with the folder's modules: its JSON, the picture in `picture`.
  [[nodiscard]] json timed(const std::string& folder, const Words& program) const {
    const Words options = {"capture", "--record", "off", "--shaders", folder, "--format", "json", "--"};
    const Outcome outcome = run_command(joined(joined(options, program), {"--image", scratch_ / "picture.png"}));
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    errors_ = outcome.errors;
    return outcome.code == 0 ? json::parse(outcome.output) : json();
  }

  const test::Scratch scratch_;
  mutable std::string errors_;

 private:
  static std::unique_ptr<test::Scratch> shared_;
};
std::unique_ptr<test::Scratch> Optimise::shared_;

/// Writes a module into a folder as `optimise` does, and adds it to the manifest's list.
layer::ListedModule write_module(const std::string& folder, const std::string& module,
                                 const std::vector<std::uint32_t>& words, json& modules) {
  const layer::ListedModule listed{module, layer::module_hash(words), module + ".spv"};
  test::write_bytes(folder + "/" + listed.file,
                    {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(std::uint32_t)});
  modules.push_back({{"module", module}, {"hash", listed.hash}});
  return listed;
}

void write_lists(const std::string& folder, const std::vector<layer::ListedModule>& list, const json& modules) {
  test::write_bytes(folder + "/" + layer::kModuleList, layer::module_list_text(list));
  test::write_bytes(folder + "/manifest.json", json{{"schema", "rayreplay.optimise/1"}, {"modules", modules}}.dump());
}

/// Modules of the folder are all run, and the picture is the same bit for bit.
void expect_same(const json& times, const json& manifest, const std::string& a, const std::string& b) {
  std::size_t written = 0;
  for (const json& module : manifest["modules"]) {
    written += module["hash"].is_null() ? 0U : 1U;
  }
  EXPECT_GT(written, 0U);
  EXPECT_EQ(times["shaders"]["replaced"].size(), written);
  EXPECT_EQ(times["shaders"]["not_asked_for"].size(), 0U);
  EXPECT_TRUE(times["notes"].empty()) << times["notes"];
  EXPECT_EQ(read_bytes(a), read_bytes(b));
}

TEST_F(Optimise, PicturesStayTheSameExact) {
  int rewritten = 0;
  for (const Words& more : {Words{}, Words{"--outline"}}) {
    for (const auto& [name, program] : {std::pair{"spheres", kSpheres}, {"switch", kSwitch}}) {
      const std::string folder = optimised(std::string(name) + ".rrt", more);
      EXPECT_EQ(manifest(folder)["outline"].get<bool>(), !more.empty());
      if (read_bytes(folder + "/modules.list").find(".spv") == std::string::npos) {
        continue;  // nothing to change in the exact form
      }
      ++rewritten;
      const json times = timed(folder, program);
      expect_same(times, manifest(folder), shared(std::string(name) + ".png"), scratch_ / "picture.png");
    }
  }
  EXPECT_GE(rewritten, 2) << "the switch in both exact forms";
}

TEST_F(Optimise, PicturesStayTheSameAssumed) {
  for (const auto& [name, program] : {std::pair{"spheres", kSpheres}, {"switch", kSwitch}}) {
    const std::string folder = optimised(std::string(name) + ".rrt", {"--assume-profile"});
    const json times = timed(folder, program);
    expect_same(times, manifest(folder), shared(std::string(name) + ".png"), scratch_ / "picture.png");
  }
}

TEST_F(Optimise, RemovesTheUnusedCasesOfTheSwitch) {
  const json exact = manifest(optimised("switch.rrt"));
  const json assumed = manifest(optimised("switch.rrt", {"--assume-profile"}));
  EXPECT_EQ(exact["schema"], "rayreplay.optimise/1");
  EXPECT_FALSE(exact["assume_profile"].get<bool>());
  const auto raygen = [](const json& document) {
    json best;
    for (const json& module : document["modules"]) {
      if (best.is_null() || module["instructions_before"] > best["instructions_before"]) {
        best = module;
      }
    }
    return best;
  };
  EXPECT_GT(raygen(exact)["issue_slots_a_launch_saved"].get<double>(), 0);
  EXPECT_GE(raygen(assumed)["instructions_removed"].get<int>(), 2 * 70);  // at least two in each of the unused cases
  EXPECT_GT(raygen(assumed)["issue_slots_a_launch_saved"].get<double>(),
            raygen(exact)["issue_slots_a_launch_saved"].get<double>());
}

/// In the exact form other inputs are right, too: the switch with all its instructions, by modules of one instruction.
TEST_F(Optimise, ExactModulesHoldForOtherInputs) {
  const std::string folder = optimised("switch.rrt", {"--outline"});
  const Words mixed = joined(kSwitch, {"--mixed"});
  const Outcome alone =
      run_command(joined(joined({"capture", "--record", "off", "--"}, mixed), {"--image", scratch_ / "alone.png"}));
  ASSERT_EQ(alone.code, 0) << alone.errors;
  const json times = timed(folder, mixed);
  expect_same(times, manifest(folder), scratch_ / "alone.png", scratch_ / "picture.png");
  EXPECT_NE(read_bytes(scratch_ / "alone.png"), read_bytes(shared("switch.png")));
}

TEST_F(Optimise, SaysWhichModulesWereNeverAskedFor) {
  const std::string folder = optimised("switch.rrt");
  const json times = timed(folder, kSpheres);
  EXPECT_EQ(times["shaders"]["replaced"].size(), 0U);
  EXPECT_GT(times["shaders"]["not_asked_for"].size(), 0U);
  EXPECT_THAT(errors_, HasSubstr("not used: "));
  EXPECT_EQ(read_bytes(scratch_ / "picture.png"), read_bytes(shared("spheres.png")));
}

/// Branches and loads that groups agreed on: the same pictures, and guards that are counted where the program runs with
/// counts of blocks.
TEST_F(Optimise, ScalarPicturesStayTheSameAndGuardsAreCounted) {
  const std::string folder = optimised("cornell.rrt", {"--scalar"});
  const json written = manifest(folder);
  EXPECT_TRUE(written["scalar"].get<bool>());
  std::size_t guards = 0;
  for (const json& module : written["modules"]) {
    for (const json& step : module["steps"]) {
      const bool is_scalar = step["kind"] == "scalar" || step["kind"] == "scalar load";
      if (is_scalar && step["done"].get<bool>()) {
        ++guards;
        EXPECT_FALSE(step["guard_failed"].is_null());
        EXPECT_GT(step["uniform_slots_a_launch"].get<double>(), 0);
      }
    }
  }
  ASSERT_GT(guards, 0U);
  expect_same(timed(folder, kCornell), written, shared("cornell.png"), scratch_ / "picture.png");

  const Words options = {"capture", "--profile", "blocks", "--shaders", folder, "-o", scratch_ / "again.rrt", "--"};
  const Outcome again = run_command(joined(joined(options, kCornell), {"--image", scratch_ / "again.png"}));
  ASSERT_EQ(again.code, 0) << again.errors;
  EXPECT_EQ(read_bytes(scratch_ / "again.png"), read_bytes(shared("cornell.png")));
  const Outcome counted = run_command({"profile", scratch_ / "again.rrt", "--rows", "guards", "--format", "json"});
  ASSERT_EQ(counted.code, 0) << counted.errors;
  const json rows = json::parse(counted.output)["guards"];
  EXPECT_EQ(rows.size(), guards);
  // Guards of groups whose first lane is idle fail on lavapipe, which broadcasts another value then.
  for (const json& row : rows) {
    EXPECT_GT(row["held"].get<std::uint64_t>() + row["failed"].get<std::uint64_t>(), 0U) << row;
  }
}

/// Other launches group other threads: the picture is right, whichever guards fail.
TEST_F(Optimise, ScalarModulesHoldForOtherInputs) {
  const std::string folder = optimised("cornell.rrt", {"--scalar"});
  const Words other = {RAYREPLAY_MESH_VIEWER, "--scene", "cornell", "--size", "29x11", "--spp", "2"};
  const Outcome alone =
      run_command(joined(joined({"capture", "--record", "off", "--"}, other), {"--image", scratch_ / "alone.png"}));
  ASSERT_EQ(alone.code, 0) << alone.errors;
  expect_same(timed(folder, other), manifest(folder), scratch_ / "alone.png", scratch_ / "picture.png");
}

/// Modules with code for single values, right ones and wrong ones, behind guards: the picture stays the same.
TEST_F(Optimise, CodeForSingleValuesDrawsTheSamePicture) {
  const trace::Profile profile = trace::load_profile(shared("cornell.rrt"));
  const std::string folder = scratch_ / "modules";
  fs::create_directory(folder);
  std::vector<layer::ListedModule> list;
  json modules = json::array();
  int specialised = 0;
  for (std::size_t s = 0; s < profile.shaders.size(); ++s) {
    const auto& words = profile.shaders[s].spirv;
    std::string reason;
    const auto given = spirv::parse(words, reason);
    ASSERT_TRUE(given) << reason;
    std::vector<optimise::BlockExecutions> executions;
    for (std::size_t row = 0; row < profile.block_counts.size(); ++row) {
      if (profile.block_counts.shader[row] == s) {
        executions.push_back(
            {profile.block_counts.function[row], profile.block_counts.block[row], profile.block_counts.lanes[row]});
      }
    }
    // The meshes' indices have 32 bits; of most other loads the value is wrong.
    std::vector<optimise::ConstantLoad> constants;
    for (std::uint32_t f = 0; f < given->functions.size(); ++f) {
      for (std::uint32_t at = 0; at < given->functions[f].body.size(); ++at) {
        constants.push_back({f, at, 32});
      }
    }
    const optimise::Optimised result = optimise::optimise(words, executions, {}, {{}, constants});
    for (const auto& step : result.steps) {
      specialised += step.done && step.kind == "specialise" ? 1 : 0;
    }
    const std::string module = layer::module_hash(words);
    if (result.words.empty() ||
        std::any_of(list.begin(), list.end(), [&](const auto& known) { return known.module == module; })) {
      continue;
    }
    list.push_back(write_module(folder, module, result.words, modules));
  }
  EXPECT_GT(specialised, 0);
  write_lists(folder, list, modules);
  const json times = timed(folder, kCornell);
  EXPECT_EQ(times["shaders"]["replaced"].size(), list.size());
  EXPECT_TRUE(times["notes"].empty()) << times["notes"];
  EXPECT_EQ(read_bytes(scratch_ / "picture.png"), read_bytes(shared("cornell.png")));
}

/// The number of bounces comes from a uniform buffer: the trace has counted that it was always 4.
TEST_F(Optimise, LoadsThatGaveOneValueAreSpecialised) {
  const auto steps_of = [&](const std::string& trace) {
    const Outcome outcome =
        run_command({"optimise", trace, "-o", scratch_ / "steps", "--force", "--rows", "steps", "--format", "json"});
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    std::size_t found = 0;
    const json document = json::parse(outcome.output);
    for (const json& module : document["modules"]) {
      for (const json& step : module["steps"]) {
        found += step["kind"] == "specialise" && step["done"] == true ? 1U : 0U;
      }
    }
    return found;
  };
  const std::size_t with_values = steps_of(shared("spheres.rrt"));
  EXPECT_GT(with_values, 0U);
  const Words plain = {"capture", "--profile", "blocks", "-o", scratch_ / "plain.rrt", "--"};
  ASSERT_EQ(run_command(joined(plain, kSpheres)).code, 0);
  EXPECT_LT(steps_of(scratch_ / "plain.rrt"), with_values);
  const std::string folder = optimised("spheres.rrt");
  const json times = timed(folder, kSpheres);
  expect_same(times, manifest(folder), scratch_ / "picture.png", shared("spheres.png"));
}

/// Steps add up to what their module saves, and a profile of the rewritten program has so many slots less.
TEST_F(Optimise, SlotsOfStepsAddUpToThoseThatNoLongerRun) {
  std::map<std::string, int> done;
  for (const auto& [name, program, more] : {std::tuple{"spheres", kSpheres, Words{}},
                                            {"switch", kSwitch, Words{"--outline"}},
                                            {"switch", kSwitch, Words{"--assume-profile"}}}) {
    const std::string folder = optimised(std::string(name) + ".rrt", more);
    std::map<std::string, double> expected;  // slots by hash of the rewritten module
    const json written = manifest(folder);
    for (const json& module : written["modules"]) {
      double sum = 0;
      for (const json& step : module["steps"]) {
        sum += step["done"] == true ? step["issue_slots_a_launch_saved"].get<double>() : 0;
        done[step["kind"]] += step["done"] == true ? 1 : 0;
      }
      const double saved = module["issue_slots_a_launch_saved"].get<double>();
      EXPECT_DOUBLE_EQ(sum, saved) << name << ": " << module["names"];
      if (!module["hash"].is_null()) {
        expected[module["hash"]] = module["issue_slots_a_launch_before"].get<double>() - saved;
      }
    }
    ASSERT_FALSE(expected.empty()) << name;
    const std::string again = scratch_ / "again.rrt";
    const Words options = {"capture", "--profile", "blocks", "--shaders", folder, "-o", again, "--force", "--"};
    const Outcome captured = run_command(joined(options, program));
    ASSERT_EQ(captured.code, 0) << captured.errors;
    const Outcome outcome = run_command({"optimise", again, "-o", scratch_ / "second", "--force", "--format", "json"});
    ASSERT_EQ(outcome.code, 0) << outcome.errors;
    std::size_t found = 0;
    const json second = json::parse(outcome.output);
    for (const json& module : second["modules"]) {
      if (const auto of = expected.find(module["module"]); of != expected.end()) {
        ++found;
        EXPECT_DOUBLE_EQ(module["issue_slots_a_launch_before"].get<double>(), of->second) << name;
      }
    }
    EXPECT_EQ(found, expected.size()) << name;
  }
  for (const char* kind : {"specialise", "outline", "prune", "simplify"}) {
    EXPECT_GT(done[kind], 0) << kind;
  }
}

TEST_F(Optimise, StepsAreATableOfTheirOwn) {
  const Outcome outcome =
      run_command({"optimise", shared("switch.rrt"), "-o", scratch_ / "modules", "--rows", "steps"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("slots a launch saved"));
  EXPECT_THAT(outcome.output, HasSubstr("peel"));
}

TEST_F(Optimise, ScalarNeedsCountsOfBranches) {
  const Outcome outcome = run_command({"optimise", shared("switch.rrt"), "-o", scratch_ / "modules", "--scalar"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.errors, HasSubstr("the trace has no counts of branches"));
  EXPECT_THAT(outcome.errors, HasSubstr("--profile blocks,branches"));
  EXPECT_FALSE(fs::exists(scratch_ / "modules"));
}

TEST_F(Optimise, ScalarWithoutCountsOfLoadsTakesBranchesAlone) {
  trace::Trace trace = trace::load(shared("cornell.rrt"));
  trace.load_counts = {};
  trace::write(trace, scratch_ / "branches.rrt");
  const auto steps_of = [&](const std::string& path, bool notes) {
    const Outcome outcome = run_command(
        {"optimise", path, "-o", scratch_ / "steps", "--force", "--scalar", "--rows", "steps", "--format", "json"});
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_EQ(outcome.errors.find("the trace has no counts of loads") != std::string::npos, notes) << outcome.errors;
    std::size_t loads = 0;
    const json document = json::parse(outcome.output);
    for (const json& module : document["modules"]) {
      for (const json& step : module["steps"]) {
        loads += step["kind"] == "scalar load" ? 1U : 0U;
      }
    }
    return loads;
  };
  EXPECT_GT(steps_of(shared("cornell.rrt"), false), 0U);
  EXPECT_EQ(steps_of(scratch_ / "branches.rrt", true), 0U);
}

/// Merged counts have no launches to divide by.
TEST_F(Optimise, MergedProfilesAreSums) {
  const std::string other = scratch_ / "other.rrt", merged = scratch_ / "merged.rrt";
  ASSERT_EQ(
      run_command(joined({"capture", "--profile", "blocks", "-o", other, "--"}, joined(kSwitch, {"--frames", "2"})))
          .code,
      0);
  ASSERT_EQ(run_command({"profile", "merge", shared("switch.rrt"), other, "-o", merged}).code, 0);
  const auto slots = [](const json& document) {
    double sum = 0;
    for (const json& module : document["modules"]) {
      sum += module["issue_slots_a_launch_before"].get<double>();
    }
    return sum;
  };
  const json one = manifest(optimised("switch.rrt"));
  EXPECT_EQ(one["launches"], 1);
  const Outcome outcome = run_command({"optimise", merged, "-o", scratch_ / "modules", "--force", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json both = json::parse(outcome.output);
  EXPECT_EQ(both["launches"], 0);
  EXPECT_EQ(slots(both), 3 * slots(one));
  EXPECT_THAT(outcome.errors, HasSubstr("sums over all launches of the runs"));
}

TEST_F(Optimise, IsDeterministic) {
  const std::string folder = optimised("switch.rrt", {"--assume-profile"});
  const std::string first = read_bytes(folder + "/manifest.json") + read_bytes(folder + "/modules.list");
  EXPECT_EQ(first, [&] {
    const std::string again = optimised("switch.rrt", {"--assume-profile"});
    return read_bytes(again + "/manifest.json") + read_bytes(again + "/modules.list");
  }());
}

TEST_F(Optimise, RefusesATraceWithoutCounts) {
  const Outcome captured = run_command(joined({"capture", "-o", scratch_ / "plain.rrt", "--"}, kSwitch));
  ASSERT_EQ(captured.code, 0) << captured.errors;
  const Outcome outcome = run_command({"optimise", scratch_ / "plain.rrt", "-o", scratch_ / "modules"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.errors, HasSubstr("--profile blocks"));
  EXPECT_FALSE(fs::exists(scratch_ / "modules"));
}

TEST_F(Optimise, KeepsAFolderThatIsThere) {
  const std::string folder = optimised("switch.rrt");
  EXPECT_EQ(run_command({"optimise", shared("switch.rrt"), "-o", folder}).code, 4);
  std::ofstream(folder + "/notes.txt") << "mine";
  const Outcome outcome = run_command({"optimise", shared("switch.rrt"), "-o", folder, "--force"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.errors, HasSubstr("notes.txt"));
}

/// Every damage of the folder is found before the program starts.
TEST_F(Optimise, CaptureRefusesADamagedFolder) {
  const auto expect_refused = [&](const std::string& folder, const std::string& text) {
    const Outcome outcome = run_command(joined({"capture", "--record", "off", "--shaders", folder, "--"},
                                               joined(kSwitch, {"--image", scratch_ / "no.png"})));
    EXPECT_EQ(outcome.code, 3) << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr(text));
    EXPECT_FALSE(fs::exists(scratch_ / "no.png"));
  };
  expect_refused(scratch_ / "absent", "modules.list");
  const auto module_file = [](const std::string& folder) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".spv") {
        return entry.path().string();
      }
    }
    return std::string();
  };
  const std::string changed = optimised("switch.rrt");
  std::ofstream(module_file(changed), std::ios::app) << "more";
  expect_refused(changed, "is not the one that was written");
  const std::string missing = optimised("switch.rrt");
  fs::remove(module_file(missing));
  expect_refused(missing, ".spv");
  const std::string listed = optimised("switch.rrt");
  std::ofstream(listed + "/modules.list") << "rayreplay.modules/1\n../x y z\n";
  expect_refused(listed, "line 2");
  const std::string other = optimised("switch.rrt");
  std::ofstream(other + "/manifest.json") << R"({"schema": "rayreplay.optimise/9", "modules": []})";
  expect_refused(other, "rayreplay.optimise/9");
}

/// The layer by itself: a damaged file gives one message, and the application's own module runs.
TEST_F(Optimise, TheLayerKeepsTheApplicationsModuleWhereAFileIsDamaged) {
  const std::string folder = optimised("switch.rrt", {"--assume-profile"});
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".spv") {
      std::ofstream(entry.path(), std::ios::app) << "more";
    }
  }
  ::setenv("RAYREPLAY_CAPTURE_SHADERS", folder.c_str(), 1);
  const Outcome outcome = run_command(joined({"capture", "--record", "off", "--format", "json", "--"},
                                             joined(kSwitch, {"--image", scratch_ / "picture.png"})));
  ::unsetenv("RAYREPLAY_CAPTURE_SHADERS");
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(json::parse(outcome.output)["notes"].dump(), HasSubstr("does not have the hash"));
  EXPECT_EQ(read_bytes(scratch_ / "picture.png"), read_bytes(shared("switch.png")));
}

/// Modules in every form that applications give them, replaced by ones that differ in the number of their generator.
class Forms : public testing::TestWithParam<std::string> {};

TEST_P(Forms, AreReplaced) {
  const test::Scratch scratch;
  const Words program = {RAYREPLAY_SCENARIOS, GetParam()};
  const Outcome captured = run_command(joined({"capture", "-o", scratch / "t.rrt", "--"}, program));
  ASSERT_EQ(captured.code, 0) << captured.errors;
  const std::string folder = scratch / "modules";
  fs::create_directory(folder);
  std::vector<layer::ListedModule> list;
  json modules = json::array();
  for (const auto& shader : trace::load(scratch / "t.rrt").shaders) {
    auto words = shader.spirv;
    ASSERT_GT(words.size(), 5U);
    words[2] ^= 1U;
    const std::string module = layer::module_hash(shader.spirv);
    if (std::any_of(list.begin(), list.end(), [&](const auto& known) { return known.module == module; })) {
      continue;
    }
    list.push_back(write_module(folder, module, words, modules));
  }
  write_lists(folder, list, modules);
  const Outcome outcome =
      run_command(joined({"capture", "--record", "off", "--shaders", folder, "--format", "json", "--"}, program));
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json times = json::parse(outcome.output.substr(outcome.output.find("{\n")));
  EXPECT_EQ(times["shaders"]["replaced"].size(), list.size()) << outcome.errors;
  EXPECT_TRUE(times["notes"].empty()) << times["notes"];
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Forms, testing::Values("modules", "inline", "library", "deferred"),
                         [](const auto& scenario) { return scenario.param; });

TEST(ModuleList, ReadsWhatItWrites) {
  const std::string hash(32, 'a'), other(32, '0');
  std::string why;
  const auto text = layer::module_list_text(std::vector<layer::ListedModule>{{hash, other, "a.spv"}});
  const auto list = layer::parse_module_list(text, why);
  ASSERT_TRUE(list) << why;
  EXPECT_EQ(list->at(0).file, "a.spv");
  EXPECT_EQ(list->at(0).hash, other);
  for (const std::string& bad :
       {std::string(), std::string("rayreplay.modules/2\n"), text + "x\n", text + hash + " " + other + " a/b\n",
        text + hash + " " + other + " b.spv\n", text + "A" + hash.substr(1) + " " + other + " b.spv\n",
        text + other + " " + hash + " ..\n"}) {
    EXPECT_FALSE(layer::parse_module_list(bad, why)) << bad;
    EXPECT_NE(why, "");
  }
}

}  // namespace
}  // namespace rayreplay
