// rayreplay microbench, run as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include <nlohmann/json.hpp>

#include "tests/app/run_command.hpp"

namespace rayreplay::test {
namespace {

using testing::HasSubstr;

nlohmann::json rows_of(const Outcome& outcome) {
  const nlohmann::json document = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(document.at("schema"), "rayreplay.microbench/1");
  return document.at("rows");
}

TEST(Microbench, FindsEveryKnownAnswer) {
  const Outcome outcome = run_command({"microbench", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.output << outcome.errors;
  const nlohmann::json rows = rows_of(outcome);
  EXPECT_GT(rows.size(), 100U);
  for (const nlohmann::json& row : rows) {
    EXPECT_EQ(row.at("verdict"), "ok") << row.dump(2);
    EXPECT_FALSE(row.at("because").get<std::string>().empty());
  }
}

TEST(Microbench, SaysWhatIsNoLongerKnown) {
  const Outcome outcome = run_command(
      {"microbench", "reuse-distance", "divergence:degree=2", "--set", "cache.l1.model=fifo", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  for (const nlohmann::json& row : rows_of(outcome)) {
    const bool cache = row.at("metric") == "l1_hit_rate";
    EXPECT_EQ(row.at("verdict"), cache ? "not known" : "ok") << row.dump(2);
    EXPECT_EQ(row.at("expected").is_null(), cache);
    EXPECT_TRUE(row.at("found").is_number());
  }
  EXPECT_THAT(outcome.errors, HasSubstr("not known"));
}

TEST(Microbench, SkipsWorkloadsWithoutTheShader) {
  const Outcome outcome = run_command({"microbench", "divergence:degree=2", "shader-cost", "reuse-distance", "--set",
                                       "costs.hit-0=9", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  std::size_t skipped = 0, changed = 0;
  for (const nlohmann::json& row : rows_of(outcome)) {
    const std::string workload = row.at("workload"), verdict = row.at("verdict");
    if (verdict == "skipped") {
      ++skipped;
      EXPECT_TRUE(row.at("found").is_null() && row.at("expected").is_null());
      EXPECT_EQ(row.at("error"), "it has no shader 'hit-0'");
    }
    changed += verdict == "not known" ? 1U : 0U;
    EXPECT_TRUE(verdict != "failed" && verdict != "wrong") << row.dump(2);
    EXPECT_TRUE(workload != "reuse-distance" || verdict == "ok") << "no shader decides there";
  }
  EXPECT_GT(skipped, 0U);
  EXPECT_GT(changed, 0U);
  EXPECT_THAT(outcome.errors, HasSubstr("skipped, it has no shader 'hit-0'"));
}

TEST(Microbench, AnswersStayKnownUnderTheSameValue) {
  const Outcome outcome = run_command({"microbench", "reuse-distance:near=7", "--set", "cache.l1.model=lru", "--set",
                                       "bvh.layout=binary", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  for (const nlohmann::json& row : rows_of(outcome)) {
    EXPECT_NE(row.at("verdict"), "wrong");
  }
}

/// Workloads of warps have answers on any machine.
TEST(Microbench, ChecksMemoryTimeOnAMachine) {
  const Scratch scratch;
  write_bytes(scratch / "own.toml",
              "sms = 2\nissue_partitions = 1\ndram_latency_cycles = 700\noutstanding_misses = 16\nl1_bytes = 0\n");
  const std::vector<std::string> specs = {
      "pointer-chase:loads=10", "pointer-chase:level=l1", "littles-law", "mshr-bound:loads=64", "overlap",
      "compute-bound",          "streaming:access=store"};
  std::vector<std::string> words = {"microbench", "--machine", scratch / "own.toml", "--format", "json"};
  words.insert(words.end(), specs.begin(), specs.end());
  const Outcome outcome = run_command(words);
  ASSERT_EQ(outcome.code, 0) << outcome.output << outcome.errors;
  std::size_t skipped = 0;
  for (const nlohmann::json& row : rows_of(outcome)) {
    const bool has_no_l1 = row.at("workload") == "pointer-chase:level=l1";
    EXPECT_EQ(row.at("verdict"), has_no_l1 ? "skipped" : "ok") << row.dump(2);
    skipped += has_no_l1 ? 1U : 0U;
    if (row.at("workload") == "pointer-chase:loads=10" && row.at("metric") == "time_cycles") {
      EXPECT_EQ(row.at("expected"), 7000);
    }
  }
  EXPECT_EQ(skipped, 1U);
  EXPECT_THAT(outcome.errors, HasSubstr("skipped, the machine has no L1"));
  // A key of the machine changes the answer, another key hides it.
  words.insert(words.end(), {"--set", "machine.dram_latency_cycles=900"});
  const Outcome slower = run_command(words);
  ASSERT_EQ(slower.code, 0) << slower.errors;
  EXPECT_EQ(rows_of(slower).at(0).at("expected"), 9000);
  EXPECT_EQ(rows_of(slower).at(0).at("verdict"), "ok");
  words.insert(words.end(), {"--set", "schedule.compute_cycles=10"});
  const Outcome changed = run_command(words);
  ASSERT_EQ(changed.code, 0) << changed.errors;
  EXPECT_EQ(rows_of(changed).at(0).at("verdict"), "not known");
  EXPECT_EQ(rows_of(changed).at(0).at("found"), 9090) << "ten cycles between two loads";
}

/// Without workloads: those whose answers are the machine's, on machines of other lines and partitions too.
TEST(Microbench, ChecksMemoryTimeOfShippedMachines) {
  for (const char* name : {"arc-a770", "rx7900-xtx", "h200", "generic"}) {
    const Outcome outcome = run_command({"microbench", "--machine", name, "--format", "json"});
    ASSERT_EQ(outcome.code, 0) << name << outcome.output << outcome.errors;
    const nlohmann::json rows = rows_of(outcome);
    EXPECT_GT(rows.size(), 50U);
    for (const nlohmann::json& row : rows) {
      EXPECT_EQ(row.at("verdict"), "ok") << name << row.dump(2);
      EXPECT_TRUE(row.at("metric").get<std::string>().starts_with("time_"));
    }
  }
}

TEST(Microbench, TellsOfExperimentsThatFail) {
  // Three ways divide one of the sizes of the L1 with 63 lines and 64; a count of shader calls reads no cache.
  const Outcome outcome =
      run_command({"microbench", "reuse-distance:blocks=1", "divergence:degree=2", "--set", "cache.l1.ways=3"});
  EXPECT_EQ(outcome.code, 1) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("failed"));
  EXPECT_THAT(outcome.output, HasSubstr("ok"));
  EXPECT_THAT(outcome.errors, HasSubstr("ways"));
  EXPECT_THAT(outcome.errors, HasSubstr("3 ways"));
  // Each origin once, with its keys.
  EXPECT_THAT(outcome.errors, HasSubstr("workload, cache.l1.bytes, cache.l1.line_bytes"));
}

TEST(Microbench, SaysThatItHasNoShadersWithAccesses) {
  for (const char* key : {"stream.image_layout=linear", "stream.shader_accesses=on"}) {
    const Outcome outcome = run_command({"microbench", "divergence:degree=2", "--set", key});
    EXPECT_EQ(outcome.code, 2) << key;
    EXPECT_THAT(outcome.errors, HasSubstr("microbenchmarks have no accesses of shaders")) << key;
  }
}

/// One error in place of as many failed rows as there are answers.
TEST(Microbench, RefusesAMachineThatContradictsItselfBeforeAnyExperiment) {
  const Scratch scratch;
  write_bytes(scratch / "own.toml", "registers = 100\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--machine", "rtx4090", "--set", "machine.l1_ways=5"}, "5 ways"},
      {{"--machine", "rtx4090", "--set", "machine.l2_sector_bytes=8"}, "8 bytes"},
      {{"--machine", "rtx4090", "--set", "machine.registers=100"}, "machine.registers = 100"},
      {{"--machine", scratch / "own.toml"}, "machine.registers = 100"},
      {{"--machine", "rtx4090", "--set", "machine.l1_latency_cycles=900"}, "machine.l1_latency_cycles = 900"},
      // Also beside workloads that read nothing of the machine's caches, and where no experiment could begin.
      {{"--set", "machine.l1_ways=5"}, "5 ways"},
      {{"stride:stride=4", "--set", "cache.l1.ways=3"}, "3 ways"},
      // Most of the experiments that read the ways cannot begin; the others, and those that read no cache, would.
      {{"--set", "cache.l1.ways=5"}, "Fix: nearest: 4 or 8 ways"},
      {{"stride:stride=4", "divergence:degree=2", "--set", "cache.l1.ways=3"},
       "of 4 experiments that the settings affect 4 cannot begin"}};
  for (const auto& [words, part] : cases) {
    std::vector<std::string> all = {"microbench"};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = run_command(all);
    EXPECT_EQ(outcome.code, 2) << part << outcome.output << outcome.errors;
    EXPECT_TRUE(outcome.output.empty()) << part;
    EXPECT_THAT(outcome.errors, HasSubstr(part));
    EXPECT_THAT(outcome.errors, testing::Not(HasSubstr("failed")));
    const std::size_t first = outcome.errors.find("rayreplay: ");
    EXPECT_EQ(outcome.errors.find("rayreplay: ", first + 1), std::string::npos) << "one error:\n" << outcome.errors;
  }
}

TEST(Microbench, WritesWorkloadsThatOtherCommandsRead) {
  const Scratch scratch;
  ASSERT_EQ(run_command({"microbench", "divergence:degree=2", "-o", scratch / "t.rrt"}).code, 0);
  EXPECT_EQ(run_command({"validate", scratch / "t.rrt"}).code, 0);
  EXPECT_THAT(run_command({"whatif", scratch / "t.rrt", "--packing", "identity"}).output, HasSubstr("66.67 %"));
  ASSERT_EQ(run_command({"microbench", "stride", "-o", scratch / "t.rrm"}).code, 0);
  EXPECT_THAT(run_command({"import", scratch / "t.rrm"}).output, HasSubstr("1,024"));
  // Not without being told.
  EXPECT_EQ(run_command({"microbench", "stride", "-o", scratch / "t.rrm"}).code, 4);
  EXPECT_EQ(run_command({"microbench", "stride", "-o", scratch / "t.rrm", "--force"}).code, 0);
}

TEST(Microbench, RefusesWhatMakesNoSense) {
  const Scratch scratch;
  const auto refused = [](const std::vector<std::string>& words, const std::string& part) {
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, 2) << outcome.output;
    EXPECT_THAT(outcome.errors, HasSubstr(part));
    EXPECT_TRUE(outcome.output.empty());
  };
  refused({"microbench", "divergance"}, "divergence");
  refused({"microbench", "divergence:degre=2"}, "degree");
  refused({"microbench", "--set", "cache.l1.byts=1"}, "cache.l1.bytes");
  refused({"microbench", "--set", "trace=t.rrt"}, "sets this key itself");
  refused({"microbench", "divergence:degree=2", "--set", "costs.hit-00=3"}, "did you mean 'hit-0'");
  refused({"microbench", "shader-cost", "--set", "shader_costs.nobody=3"}, "none of the workloads");
  refused({"microbench", "--set", "workload:degree=3"}, "sets this key itself");
  refused({"microbench", "-o", scratch / "t.rrt"}, "one workload");
  refused({"microbench", "littles-law", "-o", scratch / "t.rrt"}, "no file holds warps and their work");
  refused({"microbench", "--machine", "rtx4091"}, "rtx4090");
  refused({"microbench", "stride", "divergence", "-o", scratch / "t.rrt"}, "one workload");
  EXPECT_TRUE(scratch.names().empty());
}

TEST(Microbench, ListsItsGenerators) {
  const Outcome outcome = run_command({"microbench", "--list"});
  ASSERT_EQ(outcome.code, 0);
  for (const char* name : {"divergence", "coherence", "box-overlap", "shader-cost", "ser-pool", "stride", "working-set",
                           "reuse-distance", "pointer-chase", "streaming", "compute-bound", "ray-tests", "littles-law",
                           "mshr-bound", "rays-in-flight", "state-reordering", "overlap"}) {
    EXPECT_THAT(outcome.output, HasSubstr(name));
    EXPECT_THAT(run_command({"list", "workload"}).output, HasSubstr(name));
    EXPECT_EQ(run_command({"describe", name}).code, 0);
  }
}

TEST(Microbench, TheReferenceNamesEveryOption) {
  const std::string reference = read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/cli.md");
  const std::size_t begin = reference.find("\n## microbench\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string section = reference.substr(begin, reference.find("\n## ", begin + 1) - begin);
  const std::string help = run_command({"microbench", "--help"}).output;
  const std::regex option("--[a-z][a-z-]*");
  for (auto match = std::sregex_iterator(help.begin(), help.end(), option); match != std::sregex_iterator(); ++match) {
    EXPECT_TRUE(match->str() == "--help" || section.find(match->str()) != std::string::npos) << match->str();
  }
}

}  // namespace
}  // namespace rayreplay::test
