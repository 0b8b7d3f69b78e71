// whatif --outputs as a user runs it: are its numbers those of `run`, and does it say what moved them and when?
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/app/report/perfetto_reader.hpp"
#include "tests/app/small_trace.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

using Words = std::vector<std::string>;
using Metrics = std::map<std::string, double>;

class WhatifMemoryTest : public SmallTrace {
 protected:
  [[nodiscard]] static Outcome ask(const Words& more) {
    Words words = {"whatif", trace(), "--sms", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }
  [[nodiscard]] static json answer_of(const Words& more) {
    Words words = more;
    words.insert(words.end(), {"--format", "json"});
    const Outcome outcome = ask(words);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return json::parse(outcome.output);
  }
  /// `rayreplay run` with memory time on two SMs.
  [[nodiscard]] static Metrics run_of(const Words& settings) {
    Words words = {"run",
                   "--set",
                   "trace=" + trace(),
                   "--set",
                   "machine.sms=2",
                   "--set",
                   "schedule.time=memory",
                   "--set",
                   "outputs=time,cache,model,traffic",
                   "--format",
                   "json"};
    for (const std::string& setting : settings) {
      words.insert(words.end(), {"--set", setting});
    }
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    Metrics metrics;
    const json document = json::parse(outcome.output);
    for (const json& row : document["rows"]) {
      metrics[row["metric"]] = row["value"];
    }
    return metrics;
  }
};

/// The verdict needs memory time.
TEST_F(WhatifMemoryTest, ModelWithCacheAddsTime) {
  const std::vector<std::string> rest = {"--models", "plain,ser", "--no-break-even", "--outputs"};
  const auto with = [&](const char* outputs) {
    std::vector<std::string> words = rest;
    words.emplace_back(outputs);
    return answer_of(words);
  };
  const json implied = with("cache,model");
  EXPECT_EQ(implied["rows"], with("cache,model,time")["rows"]);
  EXPECT_FALSE(implied["rows"][0]["cycles"].is_null());
  EXPECT_FALSE(implied["numbers"].empty());
}

TEST_F(WhatifMemoryTest, NumbersAreThoseOfRun) {
  const json answer =
      answer_of({"--models", "plain,ser,wavefront", "--outputs", "cache,model,time", "--no-break-even"});
  EXPECT_EQ(answer["schema"], "rayreplay.memory/2");
  ASSERT_EQ(answer["rows"].size(), 3U);
  const std::vector<std::pair<const char*, const char*>> kNames = {{"efficiency", "model_efficiency"},
                                                                   {"model_milliseconds", "model_milliseconds"},
                                                                   {"cycles", "time_cycles"},
                                                                   {"time_efficiency", "time_efficiency"},
                                                                   {"milliseconds", "time_milliseconds"},
                                                                   {"reorder", "time_reorder_share"},
                                                                   {"issue", "time_issue_share"},
                                                                   {"traversal", "time_traversal_share"},
                                                                   {"load_unit", "time_load_unit_share"},
                                                                   {"l1_wait", "time_l1_share"},
                                                                   {"merged", "time_merged_share"},
                                                                   {"l2_wait", "time_l2_share"},
                                                                   {"dram_wait", "time_dram_share"},
                                                                   {"barrier", "time_barrier_share"},
                                                                   {"idle", "time_idle_share"},
                                                                   {"l1_hit_rate", "l1_hit_rate"},
                                                                   {"l2_hit_rate", "l2_hit_rate"},
                                                                   {"dram_busy", "time_dram_bandwidth_busy"},
                                                                   {"traffic_node_l2", "traffic_node_l2"}};
  std::vector<Metrics> runs;
  for (const char* model : {"plain", "ser", "wavefront"}) {
    const json& row = answer["rows"][runs.size()];
    const Metrics& run = runs.emplace_back(run_of({std::string("scheduler.model=") + model}));
    for (const auto& [column, metric] : kNames) {
      EXPECT_EQ(row[column].get<double>(), run.at(metric)) << model << ", " << column;
    }
    const double rays = answer["rays"];
    EXPECT_DOUBLE_EQ(row["l2_bytes_per_ray"].get<double>() * rays, run.at("time_l2_bytes"));
    EXPECT_DOUBLE_EQ(row["dram_bytes_per_ray"].get<double>() * rays, run.at("time_dram_bytes"));
    EXPECT_DOUBLE_EQ(row["dram_share_of_bytes"], run.at("time_dram_bytes") / run.at("time_l2_bytes"));
    EXPECT_DOUBLE_EQ(row["speed_up"], runs.front().at("time_cycles") / run.at("time_cycles"));
  }
  EXPECT_TRUE(answer["rows"][0]["state_sector_bytes"].is_null());
  EXPECT_EQ(answer["rows"][1]["state_sector_bytes"], runs[1].at("traffic_state_bytes"));
  EXPECT_TRUE(answer["break_even"].empty());
  EXPECT_EQ(answer["memory_times"], 0);
}

TEST_F(WhatifMemoryTest, WhatMovedSumsToTheChange) {
  const json answer = answer_of({"--models", "plain,ser", "--outputs", "time", "--no-break-even"});
  const json& row = answer["rows"][1];
  double shares = 0, loads = 0;
  for (const json& part : row["moved"]["parts"]) {
    shares += part["share"].get<double>();
  }
  EXPECT_NEAR(shares, 1 / row["speed_up"].get<double>() - 1, 1e-9);
  for (const json& kind : row["moved"]["kinds"]) {
    loads += kind["loads"].get<double>();
  }
  double expected = 0;
  for (const auto& [key, value] : row.items()) {
    if (key.starts_with("traffic_") && !key.ends_with("_bytes")) {
      const json& before = answer["rows"][0][key];
      expected += (value.is_null() ? 0.0 : value.get<double>()) - (before.is_null() ? 0.0 : before.get<double>());
    }
  }
  EXPECT_DOUBLE_EQ(loads, expected);
  EXPECT_TRUE(row["model_milliseconds"].is_null()) << "the fluid model was not asked for";
  const Outcome text = ask({"--models", "plain,ser", "--outputs", "time", "--no-break-even"});
  EXPECT_THAT(text.output, HasSubstr("moved    ser: SM-cycles "));
  EXPECT_THAT(text.output, HasSubstr("loads that missed the L1: "));
}

TEST_F(WhatifMemoryTest, WithoutMemoryOutputsItIsTheUsualAnswer) {
  const Words usual = {"--models", "plain,ser", "--no-sensitivity", "--format", "json"};
  Words named = usual;
  named.insert(named.end(), {"--outputs", "model"});
  const Outcome without = ask(usual);
  ASSERT_EQ(without.code, 0) << without.errors;
  EXPECT_EQ(ask(named).output, without.output);
}

TEST_F(WhatifMemoryTest, BreakEvenPointsAreThoseOfRun) {
  const json answer = answer_of({"--models", "plain,ser", "--outputs", "time", "--break-even",
                                 "machine.l1_bytes,scheduler.model:live_state,shader_costs.closest-hit=10..50000,"
                                 "stream.payload_bytes,machine.rt_rays,stream.stack_entries"});
  const json& rows = answer["break_even"];
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(answer["rows"][0]["verdict"], nullptr);
  std::size_t points = 0;
  for (const json& row : rows) {
    const std::string key = row["quantity"];
    EXPECT_LE(row["low"], row["value"]);
    EXPECT_LE(row["value"], row["high"]);
    points += row["points"].size() - 1;
    // The first and the last point again, as a user would.
    for (const json& point : {row["points"].front(), row["points"].back()}) {
      const double value = point["value"];
      if (value == row["value"]) {
        continue;
      }
      const bool whole = key.starts_with("machine.") || key.starts_with("stream.");
      const std::string setting = key + "=" + (whole ? std::to_string(std::llround(value)) : json(value).dump());
      const bool of_model = key.starts_with("scheduler.model:");
      const double plain = run_of(of_model ? Words{} : Words{setting}).at("time_cycles");
      const double ser = run_of({"scheduler.model=ser", setting}).at("time_cycles");
      EXPECT_DOUBLE_EQ(point["speed_up"], plain / ser) << setting;
    }
    // The sign is the present one between holds_from and holds_to.
    const bool pays = answer["rows"][1]["speed_up"].get<double>() > 1;
    for (const json& point : row["points"]) {
      if (row["holds_from"] <= point["value"] && point["value"] <= row["holds_to"]) {
        EXPECT_EQ(point["speed_up"].get<double>() > 1, pays) << point;
      }
    }
    if (key == "machine.l1_bytes") {
      for (const json& point : row["points"]) {
        EXPECT_EQ(std::fmod(point["value"].get<double>(), 128), 0) << "whole lines";
      }
    }
  }
  EXPECT_GE(points, 6U);
  EXPECT_GE(answer["memory_times"], 8);
  EXPECT_THAT(answer["rows"][1]["verdict"]["not_varied"].dump(), HasSubstr("machine.rt_steps_per_cycle"));
  const json& verdict = answer["rows"][1]["verdict"];
  EXPECT_EQ(verdict["ranges"].size(), 5U) << "live state, shader cost, payload, rays in flight and stack entries are "
                                             "assumed, the size of the L1 is published";
}

/// Samples name the values that were used: a run with them gives their speed-up.
TEST_F(WhatifMemoryTest, SamplesOfAVerdictAreThoseOfRun) {
  const json answer =
      answer_of({"--models", "plain,ser", "--outputs", "time", "--machine", "rtx4060-laptop", "--break-even",
                 "machine.l1_latency_cycles=10..290,machine.l2_latency_cycles=41..630,machine.dram_"
                 "latency_cycles=300..2000"});
  const json& samples = answer["rows"][1]["verdict"]["samples"];
  // Six of a hypercube and its corners, and those of the search for the other sign.
  ASSERT_GE(samples.size(), 6U);
  std::size_t raised = 0;
  for (const json& sample : samples) {
    Words settings = {"machine.name=rtx4060-laptop"};
    std::vector<double> latencies;
    for (const char* key : {"machine.l1_latency_cycles", "machine.l2_latency_cycles", "machine.dram_latency_cycles"}) {
      latencies.push_back(sample["values"].at(key));
      settings.push_back(std::string(key) + "=" + std::to_string(std::llround(latencies.back())));
    }
    EXPECT_TRUE(std::is_sorted(latencies.begin(), latencies.end())) << sample;
    raised += latencies[0] == latencies[1] || latencies[1] == latencies[2] ? 1U : 0U;
    const double plain = run_of(settings).at("time_cycles");
    settings.emplace_back("scheduler.model=ser");
    EXPECT_DOUBLE_EQ(sample["speed_up"], plain / run_of(settings).at("time_cycles")) << sample;
  }
  EXPECT_GT(raised, 0U) << "the ranges overlap, so that some sample had to be put in order";
}

TEST_F(WhatifMemoryTest, PointsOfModelsThatFormWarpsWhileTimePassesAreThoseOfRun) {
  const json answer = answer_of(
      {"--models", "bindless-dispatch", "--outputs", "time", "--break-even", "machine.l2_latency_cycles=150..400"});
  const json& points = answer["break_even"][0]["points"];
  ASSERT_GE(points.size(), 3U);
  EXPECT_EQ(points.back()["value"], 400);
  const std::string setting = "machine.l2_latency_cycles=400";
  EXPECT_DOUBLE_EQ(
      points.back()["speed_up"],
      run_of({setting}).at("time_cycles") / run_of({"scheduler.model=bindless-dispatch", setting}).at("time_cycles"));
}

TEST_F(WhatifMemoryTest, UsualNumbersAndVerdictComeFirst) {
  const Outcome outcome = ask({"--models", "plain,ser", "--outputs", "cache,time", "--machine", "rtx4060-laptop"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_TRUE(outcome.output.starts_with("answer   ser: ")) << outcome.output;
  for (const char* name :
       {"a closest-hit call", "a miss call", "the latency of an exchange", "the latency of a visit's load",
        "the visits of a ray-tracing unit per cycle", "the bandwidth of the L2", "the number of registers of a thread",
        "the payload of a ray", "the live state of a thread", "the size of an L1", "the size of the L2",
        "the bandwidth of DRAM", "the latency of an instruction", "the number of MSHRs", "were run for it"}) {
    EXPECT_THAT(outcome.output, HasSubstr(name));
  }
}

/// A verdict over a part of the numbers says so; a number that flips it decides, however it is known.
TEST_F(WhatifMemoryTest, VerdictsSayOverWhichNumbers) {
  const Words partly = {"--models",  "plain,ser",      "--outputs",    "time",
                        "--machine", "rtx4060-laptop", "--break-even", "machine.l1_bytes"};
  const Outcome text = ask(partly);
  ASSERT_EQ(text.code, 0) << text.errors;
  EXPECT_THAT(text.output, HasSubstr(", over the numbers varied, on rtx4060-laptop"));
  EXPECT_THAT(text.output, HasSubstr("uncertain numbers that could decide the verdict too were not varied: "));
  EXPECT_THAT(text.output, HasSubstr("machine.reorder_cycles"));
  EXPECT_THAT(text.errors, HasSubstr("withholds 2 SMs while it reorders: cut to 1"));
  Words fitted = partly;
  fitted.back() = "machine.reorder_cycles=0..1000000";
  const json answer = answer_of(fitted);
  const json& row = answer["rows"][1];
  ASSERT_EQ(row["verdict"]["ranges"].size(), 1U) << "fitted, not known";
  const bool flips = answer["break_even"][0]["changes_above"];
  EXPECT_EQ(row["verdict"]["answer"], flips                               ? "cannot-tell"
                                      : row["speed_up"].get<double>() > 1 ? "pays"
                                                                          : "does-not-pay");
  EXPECT_EQ(row["numbers_not_varied"], row["verdict"]["not_varied"].size());
}

TEST_F(WhatifMemoryTest, ParametersThatWereGivenAreNotAssumed) {
  const auto origin = [&](const Words& more) {
    Words words = more;
    words.insert(words.end(), {"--outputs", "time", "--break-even", "scheduler.model:live_state"});
    return answer_of(words)["break_even"][0]["origin"].get<std::string>();
  };
  EXPECT_EQ(origin({"--models", "ser"}), "assumed");
  EXPECT_EQ(origin({"--models", "ser:live_state=84"}), "given");
  EXPECT_EQ(origin({"--set", "scheduler.model=ser", "--set", "scheduler.model:live_state=84"}), "given");
  EXPECT_EQ(origin({"--set", "scheduler.model=ser:live_state=84"}), "given");
  EXPECT_EQ(origin({"--set", "scheduler.model=ser"}), "assumed");
  const json fluid = answer_of({"--models", "ser:live_state=84"});
  for (const json& range : fluid["rows"][1]["verdict"]["ranges"]) {
    EXPECT_NE(range["quantity"], "scheduler.model:live_state");
  }
}

/// A number that all rows have alike is there once. Ranges are those in which it was varied.
TEST_F(WhatifMemoryTest, NumbersInUseNameTheirOrigin) {
  const Words words = {"--models", "plain,ser:spill=moved",        "--outputs", "time", "--shader-cost", "miss=25",
                       "--set",    "machine.l2_latency_cycles=250"};
  const json answer = answer_of(words);
  const auto number = [&answer](const std::string& key) {
    std::vector<json> found;
    for (const json& row : answer["numbers"]) {
      if (row["quantity"] == key) {
        found.push_back(row);
      }
    }
    EXPECT_EQ(found.size(), 1U) << key;
    return found.empty() ? json() : found.front();
  };
  EXPECT_EQ(number("shader_costs.miss")["value"], 25);
  EXPECT_EQ(number("shader_costs.miss")["origin"], "given");
  EXPECT_EQ(number("shader_costs.miss")["high"], 100) << "varied for its break-even alone";
  EXPECT_EQ(number("shader_costs.closest-hit")["origin"], "assumed");
  EXPECT_GT(number("shader_costs.closest-hit")["high"], 250);
  EXPECT_EQ(number("machine.l2_latency_cycles")["origin"], "given");
  EXPECT_EQ(number("machine.dram_latency_cycles")["origin"], "measured");
  EXPECT_EQ(number("machine.rt_rays")["meaning"], "no limit");
  EXPECT_TRUE(number("machine.sms")["variant"].is_null());
  EXPECT_EQ(number("scheduler.model:live_state")["variant"], "ser:spill=moved");
  const auto varied = [&words](const Words& more) {
    Words all = words;
    all.insert(all.end(), more.begin(), more.end());
    std::set<std::string> keys;
    const json varied_answer = answer_of(all);
    EXPECT_FALSE(varied_answer["numbers"].empty());
    for (const json& row : varied_answer["numbers"]) {
      if (row["low"] < row["high"]) {
        keys.insert(row["quantity"]);
      }
    }
    return keys;
  };
  EXPECT_THAT(varied({"--no-break-even"}), testing::IsEmpty());
  EXPECT_THAT(varied({"--break-even", "machine.l1_bytes,shader_costs.miss"}),
              testing::ElementsAre("machine.l1_bytes", "shader_costs.miss"));
  Words fixed = words;
  fixed.emplace_back("--no-break-even");
  const Outcome text = ask(fixed);
  EXPECT_THAT(text.output, HasSubstr("ser:spill=moved: the live state of a thread"));
  EXPECT_THAT(text.output, HasSubstr("a miss call"));
  EXPECT_THAT(text.output, testing::Not(HasSubstr(" to ")));
}

/// The cost of one shader is a number beside that of the others of its stage, and stays while theirs varies.
TEST_F(WhatifMemoryTest, AGivenShaderIsANumberOfItsOwn) {
  const std::string many = scratch_ / "many.rrt";
  ASSERT_EQ(run_command({"trace", "--scene", "one-weekend", "--size", "32x18", "--spp", "1", "--hit-groups",
                         "per-material", "-o", many})
                .code,
            0);
  const auto cycles = [&many](const Words& settings) {
    Words words = {"run", "--format", "json"};
    for (const std::string& one : {"trace=" + many, std::string("machine.sms=2"), std::string("schedule.time=memory"),
                                   std::string("outputs=time")}) {
      words.insert(words.end(), {"--set", one});
    }
    for (const std::string& one : settings) {
      words.insert(words.end(), {"--set", one});
    }
    const json document = json::parse(run_command(words).output);
    const auto row =
        std::ranges::find_if(document["rows"], [](const json& one) { return one["metric"] == "time_cycles"; });
    return (*row)["value"].get<double>();
  };
  const auto speed_up = [&cycles](const Words& costs) {
    Words ser = costs;
    ser.emplace_back("scheduler.model=ser");
    return cycles(costs) / cycles(ser);
  };
  const Outcome outcome =
      run_command({"whatif", many, "--sms", "2", "--models", "plain,ser", "--outputs", "time", "--shader-cost",
                   "shading, metal=2000", "--break-even", "shader_costs.closest-hit", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const json answer = json::parse(outcome.output);
  std::map<std::string, json> numbers, varied;
  for (const json& row : answer["numbers"]) {
    if (row["quantity"] == "shader_costs.closest-hit") {
      numbers[row["origin"]] = row;
    }
  }
  ASSERT_EQ(numbers.size(), 2U);
  EXPECT_EQ(numbers["given"]["value"], 2000);
  EXPECT_EQ(numbers["given"]["name"], "a closest-hit call whose cost is given");
  EXPECT_EQ(numbers["assumed"]["value"], 250);
  EXPECT_EQ(numbers["assumed"]["low"], 25);
  for (const json& row : answer["break_even"]) {
    varied[row["origin"]] = row;
  }
  ASSERT_EQ(varied.size(), 2U);
  for (const json& point : {varied["assumed"]["points"].front(), varied["assumed"]["points"].back()}) {
    EXPECT_DOUBLE_EQ(point["speed_up"], speed_up({"shader_costs.shading, metal=2000",
                                                  "shader_costs.closest-hit=" + point["value"].dump()}));
  }
  const json& last = varied["given"]["points"].back();
  EXPECT_EQ(last["value"], 8000);
  EXPECT_DOUBLE_EQ(last["speed_up"], speed_up({"shader_costs.shading, metal=8000"}));
  const json& ranges = answer["rows"][1]["verdict"]["ranges"];
  ASSERT_EQ(ranges.size(), 1U) << "a given cost decides nothing";
  EXPECT_EQ(ranges[0]["quantity"], "shader_costs.closest-hit");
  EXPECT_EQ(ranges[0]["high"], 2500);
}

/// Latencies that are given are numbers, and the latency of an instruction is none if no call has it.
TEST_F(WhatifMemoryTest, LatenciesOfCallsAreNumbers) {
  const Words costs = {"shader_costs.ray-generation=120:900", "shader_costs.closest-hit=250:4000",
                       "shader_costs.miss=20:300", "shader_costs.intersection=60:500"};
  Words words = {"--models", "plain,ser", "--outputs", "time", "--break-even", "shader_costs.closest-hit:latency"};
  for (const std::string& cost : costs) {
    words.insert(words.end(), {"--set", cost});
  }
  const json answer = answer_of(words);
  std::set<std::string> keys;
  for (const json& row : answer["numbers"]) {
    keys.insert(row["quantity"]);
    if (row["quantity"] == "shader_costs.closest-hit:latency") {
      EXPECT_EQ(row["value"], 4000);
      EXPECT_EQ(row["origin"], "given");
      EXPECT_EQ(row["name"], "the latency of a closest-hit call");
      EXPECT_EQ(row["high"], 16000);
    }
  }
  EXPECT_TRUE(keys.contains("shader_costs.miss:latency"));
  EXPECT_FALSE(keys.contains("scheduler.cycles_per_instruction"));
  const json& last = answer["break_even"][0]["points"].back();
  Words at = costs;
  at[1] = "shader_costs.closest-hit=250:16000";
  Words ser = at;
  ser.emplace_back("scheduler.model=ser");
  EXPECT_DOUBLE_EQ(last["speed_up"], run_of(at).at("time_cycles") / run_of(ser).at("time_cycles"));
  Words refused = {"whatif",    trace(), "--models",     "plain,ser",
                   "--outputs", "time",  "--break-even", "scheduler.cycles_per_instruction"};
  for (const std::string& cost : costs) {
    refused.insert(refused.end(), {"--set", cost});
  }
  EXPECT_THAT(run_command(refused).errors, HasSubstr("the latencies of all calls are given or captured"));
}

TEST_F(WhatifMemoryTest, PackingsAndOrdersOfNodesAreRowsToo) {
  const json answer = answer_of({"--outputs", "cache,time", "--no-break-even", "--packing", "identity", "--packing",
                                 "direction-morton", "--node-order", "depth-first", "--node-order", "treelet"});
  ASSERT_EQ(answer["rows"].size(), 4U);
  EXPECT_EQ(answer["rows"][0]["speed_up"], 1.0);
  const json& last = answer["rows"][3];
  EXPECT_THAT(last["variant"], HasSubstr("plain, direction-morton"));
  EXPECT_THAT(last["variant"], HasSubstr("treelet"));
  const Metrics run = run_of({"packing=direction-morton", "bvh.node_order=treelet"});
  EXPECT_EQ(last["cycles"], run.at("time_cycles"));
  EXPECT_EQ(last["l1_hit_rate"], run.at("l1_hit_rate"));
}

TEST_F(WhatifMemoryTest, ABoundHasNoMemory) {
  const json answer = answer_of({"--models", "plain,oracle", "--outputs", "model,time", "--no-break-even"});
  EXPECT_TRUE(answer["rows"][1]["cycles"].is_null());
  EXPECT_GT(answer["rows"][1]["model_speed_up"], 1.0);
  EXPECT_TRUE(answer["rows"][1]["moved"].is_null());
  EXPECT_THAT(ask({"--models", "plain,oracle", "--outputs", "model,time", "--no-break-even"}).output,
              HasSubstr("oracle: a bound without warps"));
  const Outcome refused = ask({"--models", "plain,oracle", "--outputs", "time"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.errors, HasSubstr("the model is a bound: it has no warps"));
}

/// Sums of a counter's samples in one trace, by name; those of SMs are added up.
std::map<std::string, std::int64_t> counter_sums(const PerfettoTrace& trace) {
  std::map<std::string, std::int64_t> sums;
  for (const auto& count : trace.counts) {
    sums[count.name] += count.value;
  }
  return sums;
}

/// Warps that form while they run: at each point anew, and for the timeline.
TEST_F(WhatifMemoryTest, ModelsInAClosedLoopAreThoseOfRun) {
  const std::string file = scratch_ / "closed.pftrace";
  const json answer = answer_of({"--models", "plain,bindless-dispatch", "--outputs", "time", "--break-even",
                                 "shader_costs.closest-hit=10..50000", "--timeline", file});
  const Metrics run = run_of({"scheduler.model=bindless-dispatch"});
  EXPECT_EQ(answer["rows"][1]["cycles"], run.at("time_cycles"));
  ASSERT_EQ(answer["break_even"].size(), 1U);
  const json points = answer["break_even"][0]["points"];
  ASSERT_GE(points.size(), 2U);
  for (const json& point : {points.front(), points.back()}) {
    const std::string setting = "shader_costs.closest-hit=" + point["value"].dump();
    const double plain = run_of({setting}).at("time_cycles");
    const double spawned = run_of({"scheduler.model=bindless-dispatch", setting}).at("time_cycles");
    EXPECT_DOUBLE_EQ(point["speed_up"], plain / spawned) << setting;
  }
  auto sums = counter_sums(read_perfetto(read_bytes(file)));
  EXPECT_EQ(static_cast<double>(sums["L2 bytes per window"]), run.at("time_l2_bytes"));
}

TEST_F(WhatifMemoryTest, TimelinesSumToTheTotals) {
  const std::string of_whatif = scratch_ / "w.pftrace", of_cache = scratch_ / "c.pftrace";
  const json answer = answer_of({"--models", "plain,ser", "--outputs", "time", "--no-break-even", "--timeline",
                                 of_whatif, "--timeline-model", "plain"});
  const Outcome cache =
      run_command({"cache", trace(), "--sms", "2", "--time", "memory", "--no-distances", "--timeline", of_cache});
  ASSERT_EQ(cache.code, 0) << cache.errors;
  EXPECT_EQ(read_bytes(of_whatif), read_bytes(of_cache)) << "one run, one timeline";
  const PerfettoTrace trace_read = read_perfetto(read_bytes(of_whatif));
  EXPECT_EQ(trace_read.fault, "");
  ASSERT_EQ(trace_read.processes.size(), 3U);
  EXPECT_EQ(trace_read.processes[0].name, "launch: plain");
  auto sums = counter_sums(trace_read);
  const Metrics run = run_of({});
  EXPECT_EQ(static_cast<double>(sums["L2 bytes per window"]), run.at("time_l2_bytes"));
  EXPECT_EQ(static_cast<double>(sums["DRAM bytes per window"]), run.at("time_dram_bytes"));
  double l2 = 0, dram = 0;
  for (const auto& [name, value] : run) {
    l2 += name.starts_with("traffic_") && name.ends_with("_l2") ? value : 0;
    dram += name.starts_with("traffic_") && name.ends_with("_dram") ? value : 0;
  }
  EXPECT_EQ(static_cast<double>(sums["L2 misses per window"]), dram);
  EXPECT_EQ(static_cast<double>(sums["L1 misses per window"]), 2 * (l2 + dram)) << "of the launch, and of its SMs";
  EXPECT_EQ(answer["rows"][0]["cycles"], run.at("time_cycles"));
}

TEST_F(WhatifMemoryTest, ReportShowsTablesAndTime) {
  const std::string folder = scratch_ / "report";
  const Outcome outcome =
      ask({"--models", "plain,ser", "--outputs", "cache,model,time", "--no-break-even", "--report", folder});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const std::string page = read_bytes(folder + "/index.html");
  for (const char* text :
       {"Misses over time", "MSHRs in use over time", "Bandwidth over time", "Resident warps over time",
        "Where memory time goes", "What moved", "In which stage warps are", "Numbers in use",
        "Plots over time show plain and ser.", "last-access-0-plain.png", "last-access-change-1-ser.png"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  for (const char* file : {"memory.json", "memory.csv", "break-even.csv", "config.toml", "machine.toml",
                           "last-access-0-plain.png", "last-access-1-ser.png", "last-access-change-1-ser.png"}) {
    EXPECT_TRUE(std::filesystem::exists(folder + "/" + file)) << file;
  }
  EXPECT_FALSE(std::filesystem::exists(folder + "/last-access-change-0-plain.png"));
  EXPECT_THAT(page, Not(HasSubstr("Rendered picture")));
  // The folder is known as one of the command; a picture of the launch is shown beside the maps.
  const std::string picture = scratch_ / "picture.png";
  std::filesystem::copy_file(folder + "/last-access-0-plain.png", picture);
  const Outcome again =
      ask({"--outputs", "time", "--no-break-even", "--report", folder, "--force", "--image", picture});
  ASSERT_EQ(again.code, 0) << again.errors;
  EXPECT_THAT(read_bytes(folder + "/index.html"), HasSubstr("Rendered picture"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/last-access-1-ser.png")) << "a new folder";
}

TEST_F(WhatifMemoryTest, WrongQuestionsAreRefused) {
  const auto refused = [&](const Words& words, const char* text) {
    const Outcome outcome = ask(words);
    EXPECT_EQ(outcome.code, 2) << text;
    EXPECT_THAT(outcome.errors, HasSubstr(text));
  };
  refused({"--outputs", "times"}, "this command does not have the output");
  refused({"--outputs", "cache", "--break-even", "machine.l1_bytes"}, "the option is of memory time");
  refused({"--models", "ser", "--break-even", "garbage"}, "expected time among --outputs");
  refused({"--models", "ser", "--outputs", "model", "--break-even", "garbage"}, "add --outputs time");
  refused({"--outputs", "cache", "--timeline", scratch_ / "t"}, "the option is of memory time");
  refused({"--outputs", "time", "--time", "accesses"}, "the output time needs memory time");
  refused({"--outputs", "time", "--segments", scratch_ / "s.h5"}, "segments are of the output model");
  refused({"--outputs", "time", "--no-sensitivity"}, "the option is of the output model");
  refused({"--outputs", "time", "--models", "ser", "--break-even", "packing"}, "the key is not a number");
  refused({"--outputs", "time", "--models", "ser", "--break-even", "cache.l2.bytes"}, "memory time does not depend");
  refused({"--outputs", "time", "--models", "ser", "--break-even", "machine.l1_bytes=1..2"},
          "the range of the key does not fit");
  refused({"--outputs", "time", "--models", "ser", "--break-even", "scheduler.model:livestate"},
          "no scheduler model of the rows has the parameter");
  refused({"--outputs", "time", "--break-even", "machine.l1_bytes=12"}, "not of the form LOW..HIGH");
  refused({"--models", "ser", "--l1", "64KiB"}, "the key has no effect");
  refused({"--models", "bindless-dispatch", "--resident-warps", "4", "--segments", scratch_ / "s.h5"},
          "--set machine.resident_warps=N");
  refused({"--models", "ser", "--node-order", "depth-first", "--node-order", "treelet"}, "several orders of nodes");
  const Outcome cache = run_command({"cache", trace(), "--timeline", scratch_ / "t"});
  EXPECT_EQ(cache.code, 2);
  EXPECT_THAT(cache.errors, HasSubstr("the timeline is of memory time"));
}

}  // namespace
}  // namespace rayreplay::test
