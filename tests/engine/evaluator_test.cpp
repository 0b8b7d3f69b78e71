// Experiments: the numbers of the commands, however configurations are grouped, kept and stored.
#include "sim/engine/evaluator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "base/error.hpp"
#include "bvh/reports/summary.hpp"
#include "capture/import/memory_trace.hpp"
#include "capture/trace/reader.hpp"
#include "sim/caching/cache.hpp"
#include "sim/caching/grid/cache_grid.hpp"
#include "sim/comparison/compare.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/simt.hpp"
#include "sim/rays/traverse.hpp"
#include "sim/settings/metrics.hpp"
#include "sim/settings/stage.hpp"
#include "sim/workloads/workload.hpp"
#include "tests/support/cache_one_by_one.hpp"
#include "tests/support/file_bytes.hpp"
#include "tests/support/second_path.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

using experiment::Evaluator;
using experiment::Outcome;
using experiment::Settings;
using experiment::Stage;

std::string path_of(const std::string& name) {
  return (std::filesystem::path(RAYREPLAY_SOURCE_DIR) / "tests/data/h200" / name).string();
}

Settings of(const std::string& trace, const std::vector<std::string>& assignments) {
  Settings settings;
  settings.set("trace", trace, "test");
  for (const std::string& assignment : assignments) {
    settings.set_text(assignment, "test");
  }
  return experiment::complete(settings);
}

Settings of_workload(const std::string& spec, const std::vector<std::string>& assignments) {
  Settings settings;
  settings.set("workload", spec, "test");
  for (const std::string& assignment : assignments) {
    settings.set_text(assignment, "test");
  }
  return experiment::complete(settings);
}

Outcome evaluated(const Settings& settings, experiment::Store* store = nullptr) {
  Evaluator evaluator({.store = store});
  Outcome outcome = evaluator.evaluate({&settings, 1}).front();
  EXPECT_FALSE(outcome.failure) << (outcome.failure ? format_error(outcome.failure->info) : "");
  return outcome;
}

std::optional<double> metric(const Outcome& outcome, const std::string& name) {
  for (const auto& [other, value] : outcome.metrics) {
    if (other == name) {
      return value;
    }
  }
  return std::nullopt;
}

double as_double(std::uint64_t value) {
  return static_cast<double>(value);
}

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

void expect_level(const Outcome& outcome, const std::string& level, const memory::CacheCounts& counts,
                  std::uint32_t sector) {
  const double hits = as_double(counts.hits) / memory::kOne;
  EXPECT_EQ(metric(outcome, level + "_accesses"), as_double(counts.accesses));
  EXPECT_EQ(metric(outcome, level + "_hit_rate"), hits / as_double(counts.accesses));
  EXPECT_EQ(metric(outcome, level + "_misses"), as_double(counts.accesses) - hits);
  EXPECT_EQ(metric(outcome, level + "_filled_bytes"), as_double(counts.sectors_filled * sector));
  EXPECT_EQ(metric(outcome, level + "_written_bytes"), as_double(counts.sectors_written * sector));
}

TEST(Evaluator, CachesAreThoseOfTheCacheCommand) {
  const trace::Trace trace = workloads::Workloads::create("coherence").model->make_trace();
  const Settings settings =
      of_workload("coherence", {"outputs=cache", "packing=random", "stream.stack_entries=4", "cache.distances=false"});
  const experiment::CacheResult expected = caches_by_hand(trace, settings);
  const Outcome outcome = evaluated(settings);
  EXPECT_EQ(metric(outcome, "stream_transactions"), as_double(expected.interleaved.transactions));
  EXPECT_EQ(metric(outcome, "stream_instructions"), as_double(expected.interleaved.instructions));
  EXPECT_EQ(metric(outcome, "stream_cycles"), as_double(expected.interleaved.cycles));
  expect_level(outcome, "l1", expected.analysis.levels[memory::kL1].counts, 32);
  expect_level(outcome, "l2", expected.analysis.levels[memory::kL2].counts, 32);
  EXPECT_EQ(metric(outcome, "dram_read_bytes"), as_double(expected.analysis.total.dram_read_bytes));
  EXPECT_EQ(metric(outcome, "dram_written_bytes"), as_double(expected.analysis.total.dram_write_bytes));
}

std::string key_of(Evaluator& evaluator, const Settings& settings, Stage stage) {
  for (const experiment::StageForecast& one : evaluator.forecast(settings)) {
    if (one.stage == stage) {
      return one.key;
    }
  }
  return "";
}

TEST(Evaluator, CachesObeyTheSchedulerModel) {
  const std::string path = path_of("one-weekend-ser.rrt");
  const trace::Trace trace = trace::load(path);
  std::map<double, std::string> transactions;
  for (const std::string model : {"plain", "ser", "ser:scope=sm,arrival=full", "wavefront", "bindless-dispatch"}) {
    SCOPED_TRACE(model);
    const Settings settings = of(path, {"outputs=cache", "scheduler.model=" + model, "schedule.distribution=launch",
                                        "order=z-order", "machine.sms=4", "cache.distances=false"});
    const experiment::CacheResult expected = caches_by_hand(trace, settings);
    const Outcome outcome = evaluated(settings);
    ASSERT_FALSE(outcome.failure);
    EXPECT_EQ(metric(outcome, "stream_transactions"), as_double(expected.interleaved.transactions));
    EXPECT_EQ(metric(outcome, "stream_cycles"), as_double(expected.interleaved.cycles));
    expect_level(outcome, "l1", expected.analysis.levels[memory::kL1].counts, 32);
    expect_level(outcome, "l2", expected.analysis.levels[memory::kL2].counts, 32);
    transactions[metric(outcome, "l1_hit_rate").value()] = model;
  }
  EXPECT_EQ(transactions.size(), 5U) << "each model has a hit rate of its own";
}

TEST(Evaluator, MemoryTimeIsThatOfTheCacheCommand) {
  const std::string path = path_of("one-weekend-ser.rrt");
  const trace::Trace trace = trace::load(path);
  std::map<double, std::string> cycles;
  for (const std::string model : {"plain", "ser:split_cycles=50", "bindless-dispatch"}) {
    SCOPED_TRACE(model);
    const Settings settings = of(
        path, {"outputs=time,cache", "schedule.time=memory", "scheduler.model=" + model, "schedule.distribution=launch",
               "order=z-order", "machine.sms=4", "cache.distances=false", "shader_costs.closest-hit=100:900"});
    const experiment::CacheResult expected = caches_by_hand(trace, settings);
    const machine::InterleaveResult& interleaved = expected.interleaved;
    const Outcome outcome = evaluated(settings);
    ASSERT_FALSE(outcome.failure) << outcome.failure->info.what;
    EXPECT_EQ(metric(outcome, "time_cycles"), as_double(interleaved.cycles));
    EXPECT_EQ(metric(outcome, "stream_cycles"), as_double(interleaved.cycles));
    EXPECT_EQ(metric(outcome, "time_milliseconds"), as_double(interleaved.cycles) / (expected.machine.clock_mhz * 1e3));
    EXPECT_EQ(metric(outcome, "time_l2_bytes"), as_double(interleaved.time.l2_bytes));
    EXPECT_EQ(metric(outcome, "time_dram_bytes"), as_double(interleaved.time.dram_bytes));
    EXPECT_EQ(metric(outcome, "time_dram_busy"), interleaved.time.dram_cycles / as_double(interleaved.cycles));
    EXPECT_EQ(metric(outcome, "time_stalled_share"),
              as_double(interleaved.stalled_cycles) / (as_double(interleaved.cycles) * 4));
    double parts = 0;
    for (const char* part :
         {"reorder", "issue", "traversal", "load_unit", "l1", "merged", "l2", "dram", "barrier", "idle"}) {
      parts += metric(outcome, "time_" + std::string(part) + "_share").value();
    }
    EXPECT_NEAR(parts, 1, 1e-9);
    EXPECT_EQ(metric(outcome, "time_reorder_share").value() > 0, model != "plain");
    EXPECT_GT(metric(outcome, "time_traversal_share").value(), 0);
    EXPECT_GT(metric(outcome, "time_issue_share").value(), 0);
    cycles[interleaved.time.issue_cycles] = model;
    const Outcome accesses =
        evaluated(of(path, {"outputs=cache", "scheduler.model=" + model, "schedule.distribution=launch",
                            "order=z-order", "machine.sms=4", "cache.distances=false",
                            "shader_costs.closest-hit=100:900"}));  // costs form the warps of the last model
    EXPECT_EQ(metric(outcome, "stream_transactions"), metric(accesses, "stream_transactions"));
    EXPECT_GT(metric(outcome, "stream_cycles").value(), metric(accesses, "stream_cycles").value());
  }
  EXPECT_EQ(cycles.size(), 3U) << "regrouped warps issue other numbers of instructions";
}

TEST(Evaluator, MemoryTimeIsRefusedWhereThereIsNone) {
  const std::string path = path_of("bunny.rrt");
  const auto refused = [&](const Settings& settings) {
    const Outcome outcome = Evaluator({}).evaluate({&settings, 1}).at(0);
    EXPECT_TRUE(outcome.failure);
    return outcome.failure ? outcome.failure->info.what + "; " + outcome.failure->info.fix : "";
  };
  EXPECT_EQ(refused(of(path, {"outputs=simt,time"})),
            "the output time needs memory time; add --set schedule.time=memory, or leave the output out");
  EXPECT_EQ(refused(of_workload("stride", {"outputs=cache", "schedule.time=memory"})),
            "a memory trace has no warps whose time could be modelled; leave the key out, or give a trace of a launch "
            "(.rrt)");
  EXPECT_NE(refused(of_workload("stride", {"outputs=time", "schedule.time=memory"})), "");
  EXPECT_NE(refused(of(path, {"outputs=time", "schedule.time=memory", "scheduler.model=oracle"})), "");
}

TEST(Evaluator, StreamsThatNoModelCanHaveAreRefused) {
  const std::string path = path_of("bunny.rrt");
  const auto refused = [&](const Settings& settings) {
    const Outcome outcome = Evaluator({}).evaluate({&settings, 1}).at(0);
    EXPECT_TRUE(outcome.failure && outcome.failure->kind == ErrorKind::Usage);
    return outcome.failure ? outcome.failure->info.what : "";
  };
  EXPECT_EQ(refused(of(path, {"outputs=simt,cache", "scheduler.model=oracle"})),
            "the scheduler model is a bound: it has no warps whose accesses could be simulated");
  EXPECT_EQ(refused(of(path, {"outputs=cache", "scheduler.model=ser", "schedule.distribution=scanline"})),
            "the scheduler model places the warps itself");
  EXPECT_EQ(refused(of_workload("stride", {"outputs=cache", "scheduler.model=ser"})),
            "a memory trace has no threads that a scheduler model could regroup");
  EXPECT_FALSE(evaluated(of(path, {"outputs=model", "scheduler.model=oracle"})).failure);
}

/// Costs of shader calls decide the warps of timed models alone, and any stream in memory time.
TEST(Evaluator, StreamsDependOnCostsUnderTimedModelsAlone) {
  const std::string path = path_of("bunny.rrt");
  Evaluator evaluator({});
  const auto stream_key = [&](const std::string& model, const std::string& key) {
    return key_of(evaluator, of(path, {"outputs=cache", "scheduler.model=" + model, key}), experiment::stage("stream"));
  };
  for (const auto& [model, key, differs] :
       std::vector<std::tuple<std::string, std::string, bool>>{{"plain", "scheduler.steps_per_ray=7", false},
                                                               {"ser", "scheduler.steps_per_ray=7", false},
                                                               {"bindless-dispatch", "scheduler.steps_per_ray=7", true},
                                                               {"plain", "scheduler.hints=a:1=shader", false},
                                                               {"ser", "scheduler.hints=a:1=shader", true},
                                                               {"ser", "shader_costs.miss=9", false},
                                                               {"bindless-dispatch", "shader_costs.miss=9", true},
                                                               {"ser", "scheduler.model:scope=sm", true}}) {
    EXPECT_EQ(stream_key(model, key) != stream_key(model, "outputs=cache"), differs) << model << " " << key;
  }
  EXPECT_NE(stream_key("plain", "outputs=cache"), stream_key("ser", "outputs=cache"));
  EXPECT_NE(stream_key("plain", "schedule.time=memory"), stream_key("plain", "outputs=cache"));
}

/// In memory time costs of calls and all figures of the machine count, but those of the scheduler models' own hardware;
/// else only what decides on accesses and their latencies.
TEST(Evaluator, StreamsDependOnRatesInMemoryTimeAlone) {
  const std::string path = path_of("bunny.rrt");
  Evaluator evaluator({});
  const auto depends = [&](const char* time, const std::string& key) {
    const auto key_with = [&](const std::string& more) {
      return key_of(
          evaluator,
          of(path, {"outputs=cache", time, "machine.rt_boxes_per_cycle=2", "machine.rt_triangles_per_cycle=2", more}),
          experiment::stage("stream"));
    };
    return key_with(key) != key_with("outputs=cache");
  };
  for (const char* key :
       {"shader_costs.miss=9", "scheduler.cost_source=spirv", "scheduler.cycles_per_instruction=9",
        "machine.issue_per_cycle=1", "machine.issue_partitions=2", "machine.clock_mhz=1000",
        "machine.rt_steps_per_cycle=0.5", "machine.rt_boxes_per_cycle=4", "machine.rt_triangles_per_cycle=1",
        "machine.rt_rays=64", "machine.rt_step_latency_cycles=99", "machine.dram_bytes_per_second=1e9",
        "machine.l2_bytes_per_second=1e9", "machine.software_traversal=true"}) {
    EXPECT_TRUE(depends("schedule.time=memory", key)) << key;
    EXPECT_FALSE(depends("schedule.time=accesses", key)) << key;
  }
  for (const char* key :
       {"machine.sms=4", "machine.l2_latency_cycles=99", "machine.outstanding_misses=7", "schedule.compute_cycles=3"}) {
    EXPECT_TRUE(depends("schedule.time=memory", key)) << key;
    EXPECT_TRUE(depends("schedule.time=accesses", key)) << key;
  }
  EXPECT_FALSE(depends("schedule.time=memory", "machine.reorder_cycles=99")) << "plain warps do not reorder";
}

TEST(Evaluator, OtherCachesSeeTheSameStream) {
  const TemporaryFolder folder;
  experiment::Store store({.folder = folder.path()});
  const std::string trace = path_of("bunny.rrt");
  const std::vector<Settings> asked = {
      of(trace, {"outputs=cache"}),
      of(trace, {"outputs=cache", "cache.l1.bytes=16384", "cache.l1.ways=4", "cache.l2.bytes=0"}),
      of(trace, {"outputs=cache", "cache.l1.bytes=0", "cache.l2.bytes=1MiB", "cache.l2_feed=all"}),
      of(trace, {"outputs=cache", "cache.l1.model=fifo", "cache.l1.bytes=32KiB"})};
  Evaluator evaluator({.store = &store});
  const std::vector<Outcome> outcomes = evaluator.evaluate(asked);
  const std::string key = key_of(evaluator, asked[0], experiment::stage("stream"));
  for (const Settings& settings : asked) {
    EXPECT_EQ(key_of(evaluator, settings, experiment::stage("stream")), key);
  }
  const auto bytes = store.get("stream", key);
  ASSERT_TRUE(bytes);
  const experiment::RecordedStream stream = experiment::read_stream(*bytes, "test");
  experiment::Hierarchy small;
  small.l1 = {16384, 128, 4, 32};
  small.l1_model = "lru:write=through,allocate=false";
  small.l2_model = "lru";
  expect_level(outcomes[1], "l1", cache_one_by_one(stream, small).l1, 32);
  EXPECT_FALSE(metric(outcomes[1], "l2_accesses")) << "a cache that is not there has no metrics";
  const experiment::HierarchyCounts without =
      cache_one_by_one(stream, {{}, {1 << 20, 128, 16, 32}, "lru", "lru", memory::L2Feed::All});
  EXPECT_EQ(metric(outcomes[2], "l2_accesses"), as_double(without.l2.accesses));
  EXPECT_FALSE(metric(outcomes[2], "l1_accesses"));
  EXPECT_NE(metric(outcomes[0], "l1_hit_rate"), metric(outcomes[1], "l1_hit_rate"));
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

TEST(Evaluator, LineAndSectorAreThoseOfTheCoalescer) {
  const trace::Trace trace = trace::load(path_of("bunny.rrt"));
  const Settings both = of(path_of("bunny.rrt"), {"outputs=cache", "machine.l1_line_bytes=64",
                                                  "machine.l1_sector_bytes=16", "cache.distances=false"});
  const experiment::CacheResult expected = caches_by_hand(trace, both);
  const Outcome outcome =
      evaluated(of(path_of("bunny.rrt"), {"outputs=cache", "cache.l1.line_bytes=64", "cache.l1.sector_bytes=16"}));
  EXPECT_EQ(metric(outcome, "stream_transactions"), as_double(expected.interleaved.transactions));
  EXPECT_EQ(metric(outcome, "stream_cycles"), as_double(expected.interleaved.cycles));
  expect_level(outcome, "l1", expected.analysis.levels[memory::kL1].counts, 16);
}

/// Configurations that share much, differ in every stage, and among which some fail.
std::vector<Settings> mixed() {
  const std::string made = "coherence";
  const std::string teapot = path_of("teapot-alpha.rrt");
  return {of_workload(made, {"outputs=simt,model,traversal,cache,structure,time", "schedule.time=memory"}),
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
  EXPECT_EQ(alone.front().metrics.size(), experiment::all_metrics().size())
      << "a configuration that asks for everything gets every metric";
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
    for (const workloads::KnownAnswer& answer : workloads::Workloads::create(name).model->answers()) {
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
