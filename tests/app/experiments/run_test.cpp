// rayreplay run, run as a user runs it.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/small_trace.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class RunTest : public SmallTrace {
 protected:
  [[nodiscard]] std::string store() const {
    return scratch_ / "store";
  }
  /// `run` with a store of the test's own.
  [[nodiscard]] Outcome run(std::vector<std::string> more) const {
    more.insert(more.begin(), {"run", "--store", store()});
    return run_command(more);
  }
  [[nodiscard]] std::string experiment(const std::string& toml) const {
    const std::string path = scratch_ / "e.toml";
    std::ofstream(path) << toml;
    return path;
  }
  [[nodiscard]] static std::string of_trace() {
    return "trace=" + trace();
  }
};

double value_of(const json& answer, const std::string& metric) {
  for (const json& row : answer["rows"]) {
    if (row["metric"] == metric) {
      return row["value"];
    }
  }
  return std::nan("");
}

TEST_F(RunTest, GivesWhatTheOtherCommandsGive) {
  const Outcome outcome = run({"--set", of_trace(), "--set", "outputs=simt,cache", "--set", "packing=numrays", "--set",
                               "machine.name=rtx3080", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json answer = json::parse(outcome.output);
  EXPECT_EQ(answer["schema"], "rayreplay.run/1");
  EXPECT_EQ(answer["input"]["name"], trace());
  EXPECT_EQ(answer["configuration"]["machine.sms"], 68);
  EXPECT_EQ(answer["configuration"]["cache.l1.bytes"], 131072);
  EXPECT_THAT(answer["resolved"].get<std::string>(), HasSubstr("packing = \"numrays"));

  const json whatif = json::parse(run_command({"whatif", trace(), "--packing", "numrays", "--format", "json"}).output);
  EXPECT_EQ(answer["input"]["hash"], whatif["trace"]["hash"]);
  EXPECT_EQ(value_of(answer, "simt_efficiency"), whatif["rows"][1]["efficiency"].get<double>());
  EXPECT_EQ(value_of(answer, "simt_warp_events"), whatif["rows"][1]["warp_events"].get<double>());
  const json cache = json::parse(run_command({"cache", trace(), "--machine", "rtx3080", "--packing", "numrays",
                                              "--no-distances", "--format", "json"})
                                     .output);
  const json& summary = cache["summary"];
  EXPECT_EQ(value_of(answer, "stream_cycles"), summary["cycles"].get<double>());
  EXPECT_EQ(value_of(answer, "stream_transactions"), summary["transactions"].get<double>());
  EXPECT_EQ(value_of(answer, "dram_read_bytes"), summary["dram_read_bytes"].get<double>());
  EXPECT_EQ(value_of(answer, "dram_written_bytes"), summary["dram_write_bytes"].get<double>());
  EXPECT_EQ(value_of(answer, "l1_filled_bytes"), summary["l2_to_l1_bytes"].get<double>());
}

TEST_F(RunTest, TheSameAgainFromTheStoreAndWithoutOne) {
  const std::vector<std::string> words = {"--set",    of_trace(),
                                          "--set",    "outputs=simt,cache,structure",
                                          "--set",    "cache.l1.bytes=16KiB",
                                          "--set",    "cache.l1.ways=32",
                                          "--format", "csv"};
  const Outcome first = run(words);
  ASSERT_EQ(first.code, 0) << first.errors;
  EXPECT_THAT(first.output, StartsWith("metric,value,unit,output,goal,text,input,trace_hash,tool_version,device"));
  EXPECT_FALSE(std::filesystem::is_empty(store()));
  EXPECT_EQ(run(words).output, first.output);
  std::vector<std::string> none = {"run", "--store", "none", "--threads", "1"};
  none.insert(none.end(), words.begin(), words.end());
  EXPECT_EQ(run_command(none).output, first.output);
  // Damaged: told, and computed anew.
  for (const auto& entry : std::filesystem::directory_iterator(store())) {
    std::ofstream(entry.path(), std::ios::trunc) << "no result";
  }
  const Outcome damaged = run(words);
  EXPECT_EQ(damaged.output, first.output);
  EXPECT_THAT(damaged.errors, HasSubstr("does not fit"));
}

TEST_F(RunTest, ADryRunSaysWhatIsThereAndComputesNothing) {
  const std::vector<std::string> words = {"--set",     of_trace(), "--set", "outputs=cache",
                                          "--dry-run", "--format", "json"};
  const Outcome before = run(words);
  ASSERT_EQ(before.code, 0) << before.errors;
  EXPECT_FALSE(std::filesystem::exists(store()));
  const auto states = [](const Outcome& outcome) {
    std::map<std::string, std::string> result;
    const json document = json::parse(outcome.output);
    for (const json& row : document["rows"]) {
      result[row["stage"]] = row["state"];
    }
    return result;
  };
  EXPECT_EQ(states(before).at("cache"), "to compute");
  EXPECT_EQ(states(before).at("stream"), "to compute");
  ASSERT_EQ(run({"--set", of_trace(), "--set", "outputs=cache"}).code, 0);
  EXPECT_EQ(states(run(words)).at("cache"), "on disk");
  // Another L1: the stream is there, what the cache does with it is not.
  std::vector<std::string> other = words;
  other.insert(other.end(), {"--set", "cache.l1.bytes=16KiB"});
  EXPECT_EQ(states(run(other)).at("stream"), "on disk");
  EXPECT_EQ(states(run(other)).at("cache"), "to compute");
  const Outcome text = run({"--set", of_trace(), "--set", "outputs=cache", "--dry-run"});
  EXPECT_THAT(text.output, HasSubstr("on disk"));
}

TEST_F(RunTest, ADryRunRefusesStructuresThatCannotBe) {
  for (const auto& [key, word] : {std::pair{"bvh.leaf_size=64", "0 to 32"},
                                  std::pair{"bvh.builder=median:branching=8", "at most 2 with layout 'binary'"}}) {
    std::vector<std::string> words = {"--set", of_trace(), "--set", "bvh.builder=median", "--set", "bvh.layout=binary",
                                      "--set", key,        "--set", "outputs=structure"};
    const Outcome refused = run(words);
    words.emplace_back("--dry-run");
    const Outcome dry = run(words);
    EXPECT_EQ(refused.code, 2) << key;
    EXPECT_EQ(dry.code, 2) << key;
    EXPECT_THAT(dry.errors, HasSubstr(word));
    EXPECT_EQ(dry.errors, refused.errors);
    // Who needs no structure is not asked about one.
    words.insert(words.end(), {"--set", "outputs=simt"});
    EXPECT_EQ(run(words).code, 0) << key;
  }
}

TEST_F(RunTest, PrintsTheCompleteExperimentWhichGivesTheSame) {
  const std::string file =
      experiment("trace = \"" + trace() + "\"\noutputs = [\"simt\"]\n[scheduler]\nmodel = \"ser\"\n");
  const Outcome printed = run({file, "--print-config", "--set", "packing:seed=3", "--set", "packing=random"});
  ASSERT_EQ(printed.code, 0) << printed.errors;
  EXPECT_THAT(printed.output, HasSubstr("\npacking = \"random:seed=3,tiled=false\"  # How threads"));
  EXPECT_THAT(printed.output, HasSubstr("\n[cache.l1]\nbytes = 131072  # bytes: "));
  const std::string again = scratch_ / "full.toml";
  std::ofstream(again) << printed.output;
  EXPECT_EQ(run({again, "--print-config"}).output, printed.output);
  const Outcome one = run({file, "--set", "packing=random", "--set", "packing:seed=3"});
  ASSERT_EQ(one.code, 0) << one.errors;
  EXPECT_EQ(run({again}).output, one.output);
}

TEST_F(RunTest, EveryCommandTakesItsFile) {
  const std::string file = scratch_ / "full.toml";
  ASSERT_EQ(run({"--set", of_trace(), "--set", "packing=numrays", "--set", "bvh.layout=wide-4", "--set",
                 "machine.name=rtx3080", "--set", "policy=min-shader", "--set", "outputs=simt,model,cache,traversal",
                 "--set", "scheduler.model=ser", "--print-config", "-o", file})
                .code,
            0);
  const json answer = json::parse(run({file, "--format", "json"}).output);
  const auto ask = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--config", file, "--format", "json"});
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, 0) << words[0] << ": " << outcome.errors;
    return outcome.code == 0 ? json::parse(outcome.output) : json();
  };
  const json whatif = ask({"whatif", trace()});
  ASSERT_EQ(whatif["rows"].size(), 2U) << "identity, and the file's packing";
  EXPECT_EQ(whatif["rows"][1]["efficiency"], value_of(answer, "simt_efficiency"));
  EXPECT_EQ(ask({"replay", trace()})["rows"][0]["efficiency"], value_of(answer, "simt_efficiency"));
  EXPECT_EQ(ask({"cache", trace()})["summary"]["cycles"], value_of(answer, "stream_cycles"));
  const json models = ask({"whatif", trace(), "--models", "ser", "--no-break-even"});
  EXPECT_EQ(models["rows"][1]["cycles"], value_of(answer, "model_cycles"));
  const json traverse = ask({"traverse", trace()});
  ASSERT_EQ(traverse["rows"].size(), 3U) << "the trace, and one traversal of each kind";
  EXPECT_EQ(traverse["rows"][1]["nodes"], value_of(answer, "traversal_nodes_per_ray"));
  EXPECT_EQ(ask({"bvh", trace()})["configuration"]["layouts"], json({"wide-4"}));
  EXPECT_EQ(ask({"advise", trace(), "--candidates", "2"})["configuration"]["machine.sms"], 68);
  for (const auto& [command, output] : {std::pair{"order", "o.png"}, {"swizzle", "s.bin"}}) {
    EXPECT_EQ(run_command({command, trace(), "--config", file, "-o", scratch_ / output}).code, 0) << command;
  }
}

TEST_F(RunTest, AWorkloadNeedsNoTrace) {
  const Outcome outcome = run({"--set", "workload=divergence:degree=4", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json answer = json::parse(outcome.output);
  EXPECT_EQ(answer["input"]["kind"], "workload");
  EXPECT_THAT(answer["input"]["name"].get<std::string>(), StartsWith("divergence:degree=4,"));
  // Two bounces a path: 2 b / (1 + g (2 b - 1)) with b bounces and g groups (sim/workloads/generators/divergence.cpp).
  EXPECT_GT(value_of(answer, "simt_efficiency"), 0);
  EXPECT_LT(value_of(answer, "simt_efficiency"), 1);
  EXPECT_EQ(value_of(json::parse(run({"--set", "workload=divergence:degree=1", "--format", "json"}).output),
                     "simt_efficiency"),
            1);
}

TEST_F(RunTest, PathsAreRelativeToTheFile) {
  std::filesystem::create_directory(scratch_ / "in");
  std::filesystem::copy_file(trace(), scratch_ / "in/t.rrt");
  std::ofstream(scratch_ / "in/e.toml") << "trace = \"t.rrt\"\n";
  const Outcome outcome = run({scratch_ / "in/e.toml"});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
}

TEST_F(RunTest, SaysWhatIsWrong) {
  const auto fails = [&](const std::vector<std::string>& words, int code, const std::vector<std::string>& pieces) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, code) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
    for (const std::string& piece : pieces) {
      EXPECT_THAT(outcome.errors, HasSubstr(piece));
    }
  };
  fails({}, 2, {"no input"});
  fails({scratch_ / "missing.toml"}, 3, {"missing.toml"});
  fails({experiment("trace = \"t.rrt\"\n[cache.l1]\nbyte = 3\n")}, 2, {"e.toml:3", "did you mean 'cache.l1.bytes'?"});
  fails({"--set", of_trace(), "--set", "machine.smss=3"}, 2, {"--set", "did you mean 'machine.sms'?"});
  fails({"--set", of_trace(), "--set", "launch=7"}, 2, {"launch"});
  fails({"--set", of_trace(), "--set", "explain.slack=7"}, 2, {"no stage", "rayreplay explain alone reads it"});
  fails({"--set", "trace=" + scratch_ / "none.rrt"}, 3, {"none.rrt"});
  fails({"--set", of_trace(), "--set", "workload=divergence"}, 2, {"two inputs"});
  fails({"--set", of_trace(), "--set", "outputs=cache", "--set", "cache.l1.ways=7"}, 2, {"ways"});
  fails({"--set", of_trace(), "--store-size", "3XB"}, 2, {"--store-size"});
  fails({"--set", of_trace(), "-o", trace(), "--force"}, 2, {"--output"});
  const std::string hints = scratch_ / "hints.bin";
  std::ofstream(hints) << "x";
  fails({"--set", of_trace(), "--set", "scheduler.hint_files=a:4=" + hints, "-o", hints, "--force"}, 2,
        {"--output", "scheduler.hint_files"});
  fails({"--dry-run", "--print-config", "--set", of_trace()}, 2, {"--print-config"});
  const Outcome folder = run_command({"run", "--set", of_trace(), "--store", trace()});
  EXPECT_EQ(folder.code, 4) << folder.errors;
  EXPECT_THAT(folder.errors, HasSubstr("--store none"));
}

TEST_F(RunTest, KeysAndMetricsAreListed) {
  const json keys = json::parse(run_command({"list", "keys", "--format", "json"}).output);
  const json metrics = json::parse(run_command({"list", "metrics", "--format", "json"}).output);
  EXPECT_GT(keys.size(), 60U);
  EXPECT_EQ(keys[0]["name"], "trace");
  EXPECT_EQ(metrics[0]["name"], "simt_efficiency");
  EXPECT_THAT(run_command({"list", "key"}).output, HasSubstr("cache.l1.bytes"));
  EXPECT_THAT(run_command({"list"}).output, Not(HasSubstr("cache.l1.bytes")));
}

}  // namespace
}  // namespace rayreplay::test
