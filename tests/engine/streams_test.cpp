// Access streams, caches and memory time of experiments: the numbers of the commands, and what streams depend on.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "capture/trace/reader.hpp"
#include "sim/caching/cache.hpp"
#include "sim/settings/metrics.hpp"
#include "sim/workloads/workload.hpp"
#include "tests/engine/evaluated.hpp"
#include "tests/support/cache_one_by_one.hpp"
#include "tests/support/second_path.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

void expect_level(const Outcome& outcome, const std::string& level, const memory::CacheCounts& counts,
                  std::uint32_t sector) {
  const double hits = as_double(counts.hits) / memory::kOne;
  EXPECT_EQ(metric(outcome, level + "_accesses"), as_double(counts.accesses));
  EXPECT_EQ(metric(outcome, level + "_hit_rate"), hits / as_double(counts.accesses));
  EXPECT_EQ(metric(outcome, level + "_misses"), as_double(counts.accesses) - hits);
  EXPECT_EQ(metric(outcome, level + "_filled_bytes"), as_double(counts.sectors_filled * sector));
  EXPECT_EQ(metric(outcome, level + "_written_bytes"), as_double(counts.sectors_written * sector));
}

TEST(Streams, CachesAreThoseOfTheCacheCommand) {
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

/// A cache that evicts nothing: each sector is filled once, by the first load that asks for it.
TEST(Streams, SectorHitsAreThoseOfSectorsCountedOneByOne) {
  for (const char* spec : {"stride:stride=4,repeats=3", "stride:stride=36", "stride:stride=64,repeats=2",
                           "working-set:lines=40,passes=5"}) {
    SCOPED_TRACE(spec);
    constexpr std::uint64_t kSectorBytes = 32;
    const workloads::MemoryWorkload made = workloads::Workloads::create(spec).model->make_memory();
    std::set<std::uint64_t> held;
    double asked = 0, hits = 0;
    for (std::size_t row = 0; row < made.records.records(); ++row) {
      std::set<std::uint64_t> of_row;
      for (std::uint32_t i = made.records.first[row]; i < made.records.first[row + 1]; ++i) {
        const std::uint64_t address = made.records.address[i];
        for (std::uint64_t byte = 0; byte < made.records.bytes[row]; ++byte) {
          of_row.insert((address + byte) / kSectorBytes);
        }
      }
      for (const std::uint64_t sector : of_row) {
        ++asked;
        hits += held.insert(sector).second ? 0 : 1;
      }
    }
    const Outcome outcome =
        evaluated(of_workload(spec, {"outputs=cache", "cache.l1.bytes=16MiB", "cache.l1.line_bytes=128",
                                     "cache.l1.sector_bytes=32", "cache.l1.ways=0"}));
    ASSERT_TRUE(metric(outcome, "l1_sector_hit_rate"));
    EXPECT_DOUBLE_EQ(*metric(outcome, "l1_sector_hit_rate"), hits / asked);
  }
  // Probabilities have no sectors.
  const Outcome sdcm = evaluated(of_workload("stride", {"outputs=cache", "cache.l1.model=sdcm"}));
  EXPECT_FALSE(metric(sdcm, "l1_sector_hit_rate"));
}

TEST(Streams, CachesObeyTheSchedulerModel) {
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

TEST(Streams, MemoryTimeIsThatOfTheCacheCommand) {
  const std::string path = path_of("one-weekend-ser.rrt");
  const trace::Trace trace = trace::load(path);
  std::map<double, std::string> cycles;
  for (const std::string model : {"plain", "ser:split_cycles=50", "bindless-dispatch"}) {
    SCOPED_TRACE(model);
    const Settings settings = of(path, {"outputs=time,cache,traffic", "schedule.time=memory",
                                        "scheduler.model=" + model, "schedule.distribution=launch", "order=z-order",
                                        "machine.sms=4", "cache.distances=false", "shader_costs.closest-hit=100:900"});
    const experiment::CacheResult expected = caches_by_hand(trace, settings);
    const machine::InterleaveResult& interleaved = expected.interleaved;
    const Outcome outcome = evaluated(settings);
    ASSERT_FALSE(outcome.failure) << outcome.failure->info.what;
    EXPECT_EQ(metric(outcome, "time_cycles"), as_double(interleaved.cycles));
    EXPECT_EQ(metric(outcome, "stream_cycles"), as_double(interleaved.cycles));
    EXPECT_EQ(metric(outcome, "time_milliseconds"), as_double(interleaved.cycles) / (expected.machine.clock_mhz * 1e3));
    const memory::WarpCalls& calls = interleaved.time.calls;
    EXPECT_EQ(metric(outcome, "time_efficiency"), as_double(calls.lanes) / (as_double(calls.calls) * 32));
    EXPECT_EQ(metric(outcome, "time_l2_bytes"), as_double(interleaved.time.l2_bytes));
    EXPECT_EQ(metric(outcome, "time_dram_bytes"), as_double(interleaved.time.dram_bytes));
    EXPECT_EQ(metric(outcome, "time_dram_written_bytes"), as_double(interleaved.time.dram_written_bytes));
    EXPECT_EQ(metric(outcome, "time_dram_bandwidth_busy"),
              interleaved.time.dram_cycles / as_double(interleaved.cycles));
    EXPECT_EQ(metric(outcome, "time_mshrs_busy"),
              as_double(interleaved.mshr_stall_cycles) / (as_double(interleaved.cycles) * 4));
    double parts = 0;
    for (const char* part :
         {"reorder", "issue", "traversal", "load_unit", "l1", "merged", "l2", "dram", "barrier", "idle"}) {
      parts += metric(outcome, "time_" + std::string(part) + "_share").value();
    }
    EXPECT_NEAR(parts, 1, 1e-9);
    EXPECT_EQ(metric(outcome, "time_reorder_share").value() > 0, model != "plain");
    EXPECT_GT(metric(outcome, "time_traversal_share").value(), 0);
    EXPECT_GT(metric(outcome, "time_issue_share").value(), 0);
    double l2 = 0, dram = 0;
    for (const auto& [name, value] : outcome.metrics) {
      l2 += name.starts_with("traffic_") && name.ends_with("_l2") ? value : 0;
      dram += name.starts_with("traffic_") && name.ends_with("_dram") ? value : 0;
    }
    EXPECT_EQ(l2, as_double(interleaved.l2_hits));
    EXPECT_EQ(dram, as_double(interleaved.dram));
    EXPECT_EQ(metric(outcome, "traffic_state_bytes").has_value(), model != "plain");
    cycles[interleaved.time.issue_cycles] = model;
    const Outcome accesses =
        evaluated(of(path, {"outputs=cache", "scheduler.model=" + model, "schedule.distribution=launch",
                            "order=z-order", "machine.sms=4", "cache.distances=false",
                            "shader_costs.closest-hit=100:900"}));  // costs form the warps of the last model
    // The warps of the last model form at the times of memory time: others.
    EXPECT_EQ(metric(outcome, "stream_transactions") == metric(accesses, "stream_transactions"),
              model != "bindless-dispatch");
    if (model == "plain") {  // the loads of a state overlap in memory time: models with states may take less
      EXPECT_GT(metric(outcome, "stream_cycles").value(), metric(accesses, "stream_cycles").value());
    }
  }
  EXPECT_EQ(cycles.size(), 3U) << "regrouped warps issue other numbers of instructions";
}

TEST(Streams, MemoryTimeIsRefusedWhereThereIsNone) {
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

TEST(Streams, StreamsThatNoModelCanHaveAreRefused) {
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
TEST(Streams, StreamsDependOnCostsUnderTimedModelsAlone) {
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

/// In memory time the warps of timed models form with the accesses: the time model's figures decide nothing.
TEST(Streams, WarpsOfTimedModelsDependOnMemoryTimeInAClosedLoop) {
  const std::string path = path_of("bunny.rrt");
  Evaluator evaluator({});
  const auto key = [&](const char* stage, const std::string& model, const std::string& one, const std::string& other) {
    return key_of(evaluator, of(path, {"outputs=cache", "scheduler.model=" + model, one, other}),
                  experiment::stage(stage));
  };
  const std::string memory = "schedule.time=memory";
  EXPECT_EQ(key("regrouping", "ser", memory, "machine.sms=4"),
            key("regrouping", "ser", "outputs=cache", "machine.sms=4"));
  for (const char* model : {"bindless-dispatch", "ser:scope=sm,arrival=timeout"}) {
    const auto of_memory = [&](const char* stage, const std::string& other) {
      return key(stage, model, memory, other);
    };
    EXPECT_NE(of_memory("regrouping", "outputs=cache"), key("regrouping", model, "outputs=cache", "outputs=cache"));
    for (const char* unused : {"scheduler.steps_per_ray=7", "policy=min-shader"}) {
      EXPECT_EQ(of_memory("stream", unused), of_memory("stream", "outputs=cache")) << unused;
    }
    EXPECT_EQ(of_memory("regrouping", "shader_costs.miss=9"), of_memory("regrouping", "outputs=cache"));
    EXPECT_NE(of_memory("stream", "shader_costs.miss=9"), of_memory("stream", "outputs=cache"));
    EXPECT_NE(of_memory("stream", "schedule.resident_warps=3"), of_memory("stream", "outputs=cache"));
  }
}

/// The requests of warps that form on the way are counted by a run of their own.
TEST(Streams, WindowsOfAClosedLoopAreEqual) {
  const std::string path = path_of("teapot-alpha.rrt");
  const auto run = [&](const std::string& windows) {
    return caches_by_hand(trace::load(path), of(path, {"schedule.time=memory", "scheduler.model=bindless-dispatch",
                                                       "machine.sms=4", "cache.distances=false", windows}));
  };
  const experiment::CacheResult whole = run("cache.windows=1");
  const experiment::CacheResult parts = run("cache.windows=5");
  EXPECT_EQ(parts.interleaved.cycles, whole.interleaved.cycles);
  EXPECT_EQ(parts.tally.rays, whole.tally.rays);
  ASSERT_EQ(parts.analysis.windows.size(), 5U);
  const std::uint64_t requests = whole.analysis.requests;
  EXPECT_EQ(parts.analysis.requests, requests);
  for (std::uint64_t window = 0; window < 5; ++window) {
    // A window starts with a transaction, of up to 32 requests.
    EXPECT_GE(parts.analysis.windows[window].first_request, window * requests / 5);
    EXPECT_LT(parts.analysis.windows[window].first_request, window * requests / 5 + 32);
  }
}

/// In memory time costs of calls and all figures of the machine count, but those of the scheduler models' own hardware;
/// else only what decides on accesses and their latencies.
TEST(Streams, StreamsDependOnRatesInMemoryTimeAlone) {
  const std::string path = path_of("bunny.rrt");
  Evaluator evaluator({});
  const auto depends = [&](const char* time, const std::string& key) {
    // One rate alone contradicts itself, and so do rates of a unit beside traversal in software.
    const char* const rate = key == "machine.software_traversal=true" ? "0" : "2";
    const auto key_with = [&](const std::string& more) {
      const std::vector<std::string> assignments = {"outputs=cache", time,
                                                    std::string("machine.rt_boxes_per_cycle=") + rate,
                                                    std::string("machine.rt_triangles_per_cycle=") + rate, more};
      return key_of(evaluator, of(path, assignments), experiment::stage("stream"));
    };
    return key_with(key) != key_with("outputs=cache");
  };
  for (const char* key :
       {"shader_costs.miss=9", "scheduler.cost_source=spirv", "scheduler.cycles_per_instruction=9",
        "machine.issue_per_cycle=1", "machine.issue_partitions=2", "machine.clock_mhz=1000",
        "machine.rt_steps_per_cycle=0.5", "machine.rt_boxes_per_cycle=4", "machine.rt_triangles_per_cycle=1",
        "machine.rt_rays=64", "machine.rt_test_latency_cycles=99", "machine.dram_bytes_per_second=1e9",
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

TEST(Streams, TheTimeModelReadsTheLatencyOfTheL1AndNotTheBandwidthOfTheL2) {
  const std::string path = path_of("bunny.rrt");
  Evaluator evaluator({});
  const auto key_with = [&](const char* more) {
    return key_of(evaluator, of(path, {"outputs=model", more}), experiment::stage("model"));
  };
  const std::string usual = key_with("outputs=model");
  EXPECT_EQ(key_with("machine.l2_bytes_per_second=1e9"), usual);
  EXPECT_EQ(key_with("machine.l2_latency_cycles=99"), usual);
  EXPECT_NE(key_with("machine.l1_latency_cycles=99"), usual);
  EXPECT_NE(key_with("machine.rt_test_latency_cycles=99"), usual);
}

TEST(Streams, OtherCachesSeeTheSameStream) {
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

TEST(Streams, LineAndSectorAreThoseOfTheCoalescer) {
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

}  // namespace
}  // namespace rayreplay::test
