// Experiments: the numbers of the commands, however configurations are grouped, kept and stored.
#include "sim/engine/evaluator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "base/error.hpp"
#include "bvh/reports/summary.hpp"
#include "capture/import/memory_trace.hpp"
#include "capture/trace/reader.hpp"
#include "sim/caching/cache.hpp"
#include "sim/comparison/compare.hpp"
#include "sim/engine/stages/simt.hpp"
#include "sim/rays/traverse.hpp"
#include "sim/settings/metrics.hpp"
#include "sim/settings/stage.hpp"
#include "sim/workloads/workload.hpp"
#include "tests/engine/evaluated.hpp"
#include "tests/support/file_bytes.hpp"
#include "tests/support/second_path.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

using experiment::Evaluator;
using experiment::Outcome;
using experiment::Settings;
using experiment::Stage;

// Queues and lots begin anew with each batch of rays: the batches must not depend on who traces them.
TEST(Evaluator, TraversalDoesNotDependOnThreads) {
  const Settings settings = of_workload(
      "coherence", {"outputs=traversal", "traversal.ray=any-order", "traversal.warp=persistent-while-while"});
  Outcome one;
  tbb::task_arena alone(1);
  alone.execute([&] { one = evaluated(settings); });
  Outcome many;
  tbb::task_arena four(4);
  four.execute([&] { many = evaluated(settings); });
  ASSERT_FALSE(one.metrics.empty());
  EXPECT_EQ(one.metrics, many.metrics);
}

TEST(Evaluator, SimtIsThatOfWhatIf) {
  const trace::Trace trace = trace::load(path_of("bunny.rrt"));
  experiment::Configuration configuration;
  configuration.packings = {"random"};
  configuration.costs = {{"closest-hit", 20}};
  configuration.policy = "min-shader";
  const std::vector<simt::ReplayResult> expected = what_if_by_hand(trace, configuration);
  const scheduler::Bound bound = scheduler::lower_bound(trace.launches[0], 32);
  for (const std::size_t row : {0U, 1U}) {
    const Outcome outcome =
        evaluated(of(path_of("bunny.rrt"), {"packing=" + std::string(row == 0 ? "identity" : "random"),
                                            "costs.closest-hit=20", "policy=min-shader", "outputs=simt"}));
    const simt::Tally& one = expected[row].total;
    EXPECT_EQ(metric(outcome, "simt_efficiency"), one.efficiency(32));
    EXPECT_EQ(metric(outcome, "simt_weighted_efficiency"), one.weighted_efficiency(32));
    EXPECT_EQ(metric(outcome, "simt_warp_events"), as_double(one.warp_events));
    EXPECT_EQ(metric(outcome, "simt_active_lanes"), as_double(one.active_lanes));
    EXPECT_EQ(metric(outcome, "simt_bound_efficiency"), bound.efficiency);
    EXPECT_EQ(outcome.metrics.size(), 5U) << "what was asked for and nothing else";
    EXPECT_EQ(outcome.trace_hash, trace.hash);
    EXPECT_EQ(outcome.device, "CPU");
  }
}

TEST(Evaluator, ModelsAreThoseOfCompare) {
  const trace::Trace trace = trace::load(path_of("one-weekend.rrt"));
  experiment::CompareOptions options;
  options.models = {"plain", "ser", "wavefront"};
  options.break_even = false;
  options.machine = machine::load_machine("rtx4090");
  options.live_state = machine::live_state(trace, trace.launches[0]);
  const experiment::CompareResult expected = compare_by_hand(trace, experiment::resolve({}, trace), options);
  std::vector<Settings> asked;
  for (const experiment::CompareRow& row : expected.rows) {
    asked.push_back(of(path_of("one-weekend.rrt"), {"scheduler.model=" + row.model, "outputs=model"}));
  }
  Evaluator evaluator({});
  const std::vector<Outcome> outcomes = evaluator.evaluate(asked);
  ASSERT_EQ(outcomes.size(), 3U);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const experiment::CompareRow& row = expected.rows[i];
    SCOPED_TRACE(row.model);
    EXPECT_EQ(metric(outcomes[i], "model_cycles"), row.timing.cycles);
    EXPECT_EQ(metric(outcomes[i], "model_milliseconds"), row.timing.milliseconds);
    EXPECT_EQ(metric(outcomes[i], "model_speed_up"), row.speed_up);
    EXPECT_EQ(metric(outcomes[i], "model_efficiency"), row.efficiency);
    EXPECT_EQ(metric(outcomes[i], "model_moved_threads"), as_double(row.moved));
    EXPECT_EQ(metric(outcomes[i], "model_busy_share"), row.timing.busy_share);
    EXPECT_EQ(metric(outcomes[i], "model_idle_share"),
              row.timing.split.idle / (row.timing.cycles * expected.machine.sms));
    EXPECT_EQ(metric(outcomes[i], "model_traffic_bytes"), row.timing.traffic_bytes);
  }
  EXPECT_NE(metric(outcomes[0], "model_cycles"), metric(outcomes[1], "model_cycles"));
}

TEST(Evaluator, TraversalsAreThoseOfTraverse) {
  const trace::Trace trace = trace::load(path_of("teapot-alpha.rrt"));
  experiment::TraverseOptions options;
  options.traversals = {"fixed-order"};
  options.warp_traversals = {"if-if"};
  bvh::BvhOptions structure;
  structure.layout = "binary";
  const experiment::TraverseResult expected =
      traverse_by_hand(trace, experiment::resolve({}, trace), options, structure, "random");
  const Outcome outcome =
      evaluated(of(path_of("teapot-alpha.rrt"), {"traversal.ray=fixed-order", "traversal.warp=if-if",
                                                 "bvh.layout=binary", "packing=random", "outputs=traversal"}));
  const experiment::TraverseRow& rays = expected.rows[1];
  EXPECT_EQ(metric(outcome, "traversal_rays"), as_double(rays.rays));
  EXPECT_EQ(metric(outcome, "traversal_nodes_per_ray"), as_double(rays.nodes) / as_double(rays.rays));
  EXPECT_EQ(metric(outcome, "traversal_triangles_per_ray"), as_double(rays.triangles) / as_double(rays.rays));
  EXPECT_EQ(metric(outcome, "traversal_hits"), as_double(rays.hits));
  traversal::StepTally all;
  for (const traversal::StepTally& steps : expected.rows[2].steps) {
    all += steps;
  }
  EXPECT_EQ(metric(outcome, "traversal_warp_efficiency"), all.efficiency(32));
}

TEST(Evaluator, StructuresAreThoseOfTheSummary) {
  const trace::Trace trace = trace::load(path_of("bunny.rrt"));
  std::vector<bvh::Tree> trees;
  bvh::BvhOptions options;
  options.builder = "high";
  options.trees = &trees;
  const bvh::Bvh structure = bvh::build_bvh(trace.scene, trace.launches[0].tlas, "test", options);
  const bvh::BvhSummary expected = bvh::summarise(structure, trees);
  Evaluator evaluator({});
  const std::vector<std::string> common = {"bvh.builder=high", "scheduler.model=plain"};
  auto with = [&](const std::string& outputs) {
    auto list = common;
    list.push_back("outputs=" + outputs);
    return of(path_of("bunny.rrt"), list);
  };
  const Settings traversed = with("traversal");
  const Settings asked = with("structure");
  // Once where it is made for this, once where it is there already without its trees.
  for (const bool first : {true, false}) {
    Evaluator other({});
    if (!first) {
      EXPECT_FALSE(other.evaluate({&traversed, 1}).front().failure);
    }
    const Outcome outcome = other.evaluate({&asked, 1}).front();
    EXPECT_EQ(metric(outcome, "structure_bytes"), as_double(structure.memory.end));
    EXPECT_EQ(metric(outcome, "structure_nodes"), as_double(expected.all.quality.nodes));
    EXPECT_EQ(metric(outcome, "structure_leaves"), as_double(expected.all.quality.leaves));
    EXPECT_EQ(metric(outcome, "structure_depth"), as_double(expected.all.depth));
    EXPECT_EQ(metric(outcome, "structure_sah_cost"), expected.all.quality.sah);
  }
}

TEST(Evaluator, ModelsWithoutRoundsHaveNoSuchMetric) {
  for (const auto& [model, has_rounds] : std::vector<std::pair<std::string, bool>>{{"plain", true},
                                                                                   {"ser", true},
                                                                                   {"ser:arrival=full", false},
                                                                                   {"bindless-dispatch", false},
                                                                                   {"oracle", false}}) {
    const Outcome outcome = evaluated(of(path_of("teapot-alpha.rrt"), {"outputs=model", "scheduler.model=" + model}));
    EXPECT_TRUE(metric(outcome, "model_cycles")) << model;
    EXPECT_EQ(metric(outcome, "model_rounds").has_value(), has_rounds) << model;
    EXPECT_GE(metric(outcome, "model_rounds").value_or(1), 1) << model;
  }
}

/// Configurations that share much, differ in every stage, and among which some fail.
std::vector<Settings> mixed() {
  const std::string made = "coherence";
  const std::string teapot = path_of("teapot-alpha.rrt");
  return {of_workload(made, {"outputs=simt,model,traversal,cache,structure,time,traffic", "schedule.time=memory"}),
          of_workload(made, {"outputs=simt", "packing=random"}),
          of_workload(made, {"outputs=simt", "costs.nobody=3"}),
          of_workload(made, {"outputs=simt,cache", "cache.l1.bytes=32KiB"}),
          of_workload(made, {"outputs=time,cache", "schedule.time=memory", "scheduler.model=ser"}),
          of_workload(made, {"outputs=time", "schedule.time=memory", "cache.l1.bytes=32KiB"}),
          of_workload(made, {"outputs=cache", "cache.l1.bytes=0", "cache.l2.bytes=0"}),
          of_workload(made, {"outputs=cache", "cache.l1.bytes=64KiB", "cache.l1.model=random"}),
          of(teapot, {"outputs=model", "scheduler.model=ser"}),
          of(teapot, {"outputs=model", "scheduler.model=ser", "scheduler.replay_steps=true"}),
          of(teapot, {"outputs=model,simt", "scheduler.model=wavefront", "machine.sms=16"}),
          of(teapot, {"outputs=model", "shader_costs.nobody=3"}),
          of(teapot, {"outputs=traversal", "traversal.ray=fixed-order"}),
          of(teapot, {"outputs=traversal,simt", "warp_size=16", "order=z-order", "traversal.warp=if-if"}),
          of(teapot, {"outputs=simt", "launch=7"}),
          of("nowhere.rrt", {"outputs=simt"}),
          of_workload(made, {"outputs=simt"})};
}

void expect_same(const Outcome& a, const Outcome& b, std::size_t index) {
  SCOPED_TRACE(index);
  EXPECT_EQ(a.metrics, b.metrics);
  EXPECT_EQ(a.configuration, b.configuration);
  EXPECT_EQ(a.trace_hash, b.trace_hash);
  ASSERT_EQ(a.failure.has_value(), b.failure.has_value());
  if (a.failure) {
    EXPECT_EQ(a.failure->kind, b.failure->kind);
    EXPECT_EQ(format_error(a.failure->info), format_error(b.failure->info));
  } else {
    EXPECT_EQ(a.device, b.device);
  }
}

TEST(Evaluator, GroupsStoresAndMemoryChangeNothing) {
  const std::vector<Settings> asked = mixed();
  std::vector<Outcome> alone;
  for (const Settings& settings : asked) {
    Evaluator evaluator({});
    alone.push_back(evaluator.evaluate({&settings, 1}).front());
  }
  std::size_t failed = 0;
  for (const Outcome& outcome : alone) {
    failed += outcome.failure ? 1U : 0U;
    EXPECT_NE(outcome.failure.has_value(), !outcome.metrics.empty());
    EXPECT_FALSE(outcome.configuration.empty());
  }
  EXPECT_EQ(failed, 5U) << "unknown shaders, no cache, no such launch, no such file";
  const TemporaryFolder folder;
  experiment::Store store({.folder = folder.path()});
  // The second finds numbers in memory, the third on disk; the last keeps nothing.
  Evaluator first({.store = &store});
  Evaluator third({.store = &store});
  Evaluator forgetful({.memory_bytes = 0});
  for (Evaluator* evaluator : {&first, &first, &third, &forgetful}) {
    const std::vector<Outcome> together = evaluator->evaluate(asked);
    ASSERT_EQ(together.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      expect_same(together[i], alone[i], i);
    }
  }
  // Kinds of data without accesses have no traffic, and traces without paths of calls no efficiency by path.
  const auto is_traffic = [](const std::string& name) { return name.starts_with("traffic_"); };
  const auto is_by_path = [](const std::string& name) { return name.find("_path_") != std::string::npos; };
  EXPECT_EQ(std::ranges::count_if(alone.front().metrics, [&](const auto& one) { return !is_traffic(one.first); }),
            std::ranges::count_if(experiment::all_metrics(),
                                  [&](const auto& one) { return !is_traffic(one.name) && !is_by_path(one.name); }))
      << "a configuration that asks for everything gets every metric";
  EXPECT_TRUE(std::ranges::none_of(alone.front().metrics, [&](const auto& one) { return is_by_path(one.first); }));
  EXPECT_TRUE(std::ranges::any_of(alone.front().metrics, [&](const auto& one) { return is_traffic(one.first); }));
}

TEST(Evaluator, ThreadsShareResults) {
  const std::vector<Settings> asked = mixed();
  Evaluator reference({});
  const std::vector<Outcome> expected = reference.evaluate(asked);
  Evaluator shared({});
  std::vector<std::vector<Outcome>> outcomes(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < outcomes.size(); ++t) {
    threads.emplace_back([&, t] {
      // Each begins somewhere else, and two take all at once.
      if (t % 2 == 0) {
        outcomes[t] = shared.evaluate(asked);
        return;
      }
      outcomes[t].resize(asked.size());
      for (std::size_t i = 0; i < asked.size(); ++i) {
        const std::size_t place = (i + 5 * t) % asked.size();
        outcomes[t][place] = shared.evaluate({&asked[place], 1}).front();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::vector<Outcome>& one : outcomes) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expect_same(one[i], expected[i], i);
    }
  }
}

TEST(Evaluator, CallsFromTasksDoNotWaitForEachOther) {
  std::vector<Settings> asked;
  for (const char* packing : {"identity", "random"}) {
    for (const char* outputs : {"simt", "model", "traversal", "cache", "simt,cache"}) {
      asked.push_back(
          of_workload("coherence:warps=64", {std::string("outputs=") + outputs, std::string("packing=") + packing}));
    }
  }
  Evaluator reference({});
  const std::vector<Outcome> expected = reference.evaluate(asked);
  for (int round = 0; round < 5; ++round) {
    Evaluator shared({});
    std::vector<Outcome> outcomes(40);
    tbb::parallel_for(std::size_t{0}, outcomes.size(), [&](std::size_t i) {
      outcomes[i] = shared.evaluate({&asked[i % asked.size()], 1}).front();
    });
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      expect_same(outcomes[i], expected[i % asked.size()], i);
    }
  }
}

TEST(Evaluator, WhatIsStoredIsNotBelievedBlindly) {
  const TemporaryFolder folder;
  experiment::Store store({.folder = folder.path()});
  const Settings asked = of_workload("coherence", {"outputs=simt,cache", "packing=random"});
  const Outcome expected = evaluated(asked, &store);
  Evaluator keys({});
  for (const auto& [kind, stage] :
       {std::pair{"metrics", experiment::stage("simt")}, std::pair{"metrics", experiment::stage("cache")},
        std::pair{"stream", experiment::stage("stream")}, std::pair{"packing", experiment::stage("assignment")}}) {
    const std::string key = key_of(keys, asked, stage);
    const auto bytes = store.get(kind, key);
    ASSERT_TRUE(bytes) << kind;
    store.put(kind, key, bytes->substr(0, bytes->size() / 2));
  }
  expect_same(evaluated(asked, &store), expected, 0);
}

TEST(Evaluator, AnotherContentIsAnotherTrace) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "t.rrt").string();
  std::filesystem::copy_file(path_of("bunny.rrt"), path);
  const Settings asked = of(path, {"outputs=simt"});
  Evaluator evaluator({});
  const Outcome before = evaluator.evaluate({&asked, 1}).front();
  EXPECT_EQ(evaluator.input_hash(asked), before.trace_hash);
  std::filesystem::remove(path);
  std::filesystem::copy_file(path_of("teapot-alpha.rrt"), path);
  const Outcome after = evaluator.evaluate({&asked, 1}).front();
  EXPECT_NE(before.trace_hash, after.trace_hash);
  EXPECT_NE(before.metrics, after.metrics);
  EXPECT_EQ(after.metrics, evaluated(of(path_of("teapot-alpha.rrt"), {"outputs=simt"})).metrics);
}

TEST(Evaluator, ForecastsSayWhatIsThere) {
  const TemporaryFolder folder;
  experiment::Store store({.folder = folder.path()});
  const Settings asked = of(path_of("bunny.rrt"), {"outputs=simt,cache"});
  Evaluator evaluator({.store = &store});
  const auto before = evaluator.forecast(asked);
  ASSERT_EQ(before.size(), 6U) << "input, structure, assignment, simt, stream, cache";
  for (const experiment::StageForecast& one : before) {
    EXPECT_FALSE(one.stored || one.kept);
    EXPECT_TRUE(one.needed) << to_string(one.stage);
    EXPECT_GT(one.memory_bytes, 0U) << to_string(one.stage);
    EXPECT_EQ(one.key.size(), 32U);
  }
  EXPECT_FALSE(evaluator.evaluate({&asked, 1}).front().failure);
  for (const experiment::StageForecast& one : evaluator.forecast(asked)) {
    EXPECT_TRUE(one.kept);
    EXPECT_FALSE(one.needed) << to_string(one.stage);
  }
  // All that is asked for is on disk.
  Evaluator later({.store = &store});
  for (const experiment::StageForecast& one : later.forecast(asked)) {
    EXPECT_EQ(one.stored, one.stage == experiment::stage("simt") || one.stage == experiment::stage("stream") ||
                              one.stage == experiment::stage("cache"));
    EXPECT_EQ(one.memory_bytes, 0U) << to_string(one.stage);
  }
  // Another cache of the same stream: the stream is on disk, and nothing before it is needed.
  Evaluator other({.store = &store});
  for (const experiment::StageForecast& one :
       other.forecast(of(path_of("bunny.rrt"), {"outputs=cache", "cache.l1.bytes=32KiB"}))) {
    EXPECT_EQ(one.stored, one.stage == experiment::stage("stream")) << to_string(one.stage);
    EXPECT_EQ(one.needed, one.stage == experiment::stage("cache")) << to_string(one.stage);
    EXPECT_EQ(one.memory_bytes > 0, one.stage == experiment::stage("cache") || one.stage == experiment::stage("stream"))
        << to_string(one.stage);
  }
  EXPECT_THROW(static_cast<void>(other.forecast(of("nowhere.rrt", {}))), Error);
}

TEST(Evaluator, MemoryTracesAndMemoryWorkloadsHaveCaches) {
  const std::string spec = "working-set";
  const workloads::MemoryWorkload workload = workloads::Workloads::create(spec).model->make_memory();
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "t.rrm").string();
  const auto writer = import::create_memory_trace(path, import::TraceForm::Binary, false, workload.header);
  import::RecordBlock block;
  for (std::size_t row = 0; row < workload.records.records(); ++row) {
    block.add(workload.records.sm[row], workload.records.warp[row], workload.records.store[row] != 0,
              workload.records.bytes[row], workload.records.mask[row],
              workload.records.address.data() + workload.records.first[row]);
    if (block.records() == 1000 || row + 1 == workload.records.records()) {
      writer->append(block);
      block.clear();
    }
  }
  writer->commit();
  const experiment::CacheResult expected =
      experiment::run_cache_imported(path, experiment::cache_of(of(path, {"outputs=cache", "cache.distances=false"})));
  const Outcome of_file = evaluated(of(path, {"outputs=cache"}));
  const Outcome made = evaluated(of_workload(spec, {"outputs=cache"}));
  EXPECT_EQ(of_file.metrics, made.metrics);
  EXPECT_EQ(of_file.trace_hash, expected.trace_hash);
  EXPECT_NE(of_file.trace_hash, made.trace_hash);
  EXPECT_EQ(metric(made, "stream_transactions"), as_double(expected.analysis.transactions));
  EXPECT_EQ(metric(made, "l1_accesses"), as_double(expected.analysis.levels[memory::kL1].counts.accesses));
  EXPECT_EQ(metric(made, "dram_read_bytes"), as_double(expected.analysis.total.dram_read_bytes));
  EXPECT_FALSE(metric(made, "stream_cycles")) << "nothing was scheduled";
  const Settings impossible = of_workload(spec, {"outputs=simt,cache"});
  Evaluator evaluator({});
  const Outcome refused = evaluator.evaluate({&impossible, 1}).front();
  ASSERT_TRUE(refused.failure);
  EXPECT_EQ(refused.failure->kind, ErrorKind::Missing);
}

TEST(Evaluator, WorkloadsAreTraces) {
  const Outcome outcome = evaluated(of_workload("divergence:degree=4", {"outputs=simt"}));
  ASSERT_TRUE(metric(outcome, "simt_efficiency"));
  EXPECT_LT(*metric(outcome, "simt_efficiency"), 1);
  EXPECT_NE(outcome.trace_hash, evaluated(of_workload("divergence:degree=8", {"outputs=simt"})).trace_hash);
}

TEST(Evaluator, KnownAnswersOfWorkloadsAreFound) {
  Evaluator evaluator({});
  std::size_t known = 0;
  for (const std::string& name : workloads::Workloads::names()) {
    for (const workloads::KnownAnswer& answer :
         workloads::Workloads::create(name).model->answers(machine::load_machine("rtx4090"))) {
      SCOPED_TRACE(name + ", " + answer.metric + ": " + answer.because);
      std::vector<std::string> assignments = {"outputs=" + experiment::find_metric(answer.metric).output};
      for (const auto& [key, value] : answer.settings) {
        assignments.push_back(key + "=" + value);
      }
      const Settings asked = of_workload(name, assignments);
      const Outcome outcome = evaluator.evaluate({&asked, 1}).front();
      ASSERT_FALSE(outcome.failure) << format_error(outcome.failure->info);
      ASSERT_TRUE(metric(outcome, answer.metric));
      EXPECT_TRUE(workloads::agrees(answer, *metric(outcome, answer.metric)))
          << *metric(outcome, answer.metric) << " instead of " << answer.value;
      ++known;
    }
  }
  EXPECT_GT(known, 0U);
}

TEST(Stages, TheirTableInTheManualSaysWhatTheyTake) {
  const std::string manual = read_bytes(RAYREPLAY_SOURCE_DIR "/docs/stages.md");
  for (const experiment::StageInfo& info : experiment::all_stages()) {
    std::string taken;
    for (const std::string& name : info.takes) {
      taken += (taken.empty() ? "`" : ", `") + name + "`";
    }
    for (const auto& [name, key] : info.takes_if) {
      taken += "; with `" + key + "`: `" + name + "`";
    }
    const std::string row = "\n| `" + info.name + "` | " + (taken.empty() ? "" : taken + " |");
    EXPECT_NE(manual.find(row), std::string::npos) << "docs/stages.md needs the row" << row;
  }
}

}  // namespace
}  // namespace rayreplay::test
