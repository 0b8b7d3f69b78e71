// Does every generator make sound workloads, and do the libraries find what it says is known?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "bvh/bvh.hpp"
#include "capture/trace/validate.hpp"
#include "sim/machine/work_distribution.hpp"
#include "sim/rays/traverse.hpp"
#include "sim/workloads/workload.hpp"
#include "tests/support/second_path.hpp"
#include "tests/workloads/measure.hpp"
#include "tests/workloads/specs.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::workloads {
namespace {

class EveryWorkload : public testing::TestWithParam<std::string> {};

TEST_P(EveryWorkload, IsSound) {
  const auto created = Workloads::create(GetParam());
  if (created.model->kind() == WorkloadKind::Warps) {
    const machine::Machine machine = machine::load_machine("rtx4090");
    const WarpWorkload made = created.model->make_warps(machine);
    machine::check(made.plan, made.streams.size(), machine.sms);
    ASSERT_FALSE(made.streams.empty());
    EXPECT_EQ(made.start_delay.size(), made.streams.size());
    for (const memory::WarpStream& stream : made.streams) {
      EXPECT_EQ(stream.work.size(), stream.instructions() + 1);
      EXPECT_EQ(stream.first.back(), stream.transactions.size());
    }
    EXPECT_EQ(made.streams, created.model->make_warps(machine).streams);
    EXPECT_THROW(static_cast<void>(created.model->make_trace()), Error);
    EXPECT_THROW(static_cast<void>(created.model->make_memory()), Error);
    return;
  }
  EXPECT_THROW(static_cast<void>(created.model->make_warps({})), Error);
  if (created.model->kind() == WorkloadKind::Memory) {
    const MemoryWorkload made = created.model->make_memory();
    import::check(made.header, "workload");
    ASSERT_GT(made.records.records(), 0U);
    for (std::size_t row = 0; row < made.records.records(); ++row) {
      import::check(made.header, made.records, row, "workload");
    }
    const import::TraceAllocation& data = made.header.allocations.front();
    EXPECT_GE(*std::ranges::min_element(made.records.address), data.start);
    EXPECT_LT(*std::ranges::max_element(made.records.address), data.start + data.bytes);
    EXPECT_EQ(made.records, created.model->make_memory().records);
    EXPECT_THROW(static_cast<void>(created.model->make_trace()), Error);
    return;
  }
  const trace::Trace made = created.model->make_trace();
  trace::check(made, "workload");
  EXPECT_THROW(static_cast<void>(created.model->make_memory()), Error);
  experiment::TraverseOptions options;
  options.traversals = {"near-first", "fixed-order"};
  const experiment::TraverseResult traced = test::traverse_by_hand(made, experiment::resolve({}, made), options);
  for (const experiment::TraverseRow& row : traced.rows) {
    if (row.kind == experiment::TraverseKind::Scalar) {
      EXPECT_EQ(row.compared, row.rays) << row.traversal;
      EXPECT_EQ(row.agreed, row.rays) << row.traversal;
      EXPECT_EQ(row.ignored, 0U);
      EXPECT_EQ(row.unobserved, 0U);
    }
  }
}

/// Every closest hit's event against the ray traced again: also where, and from which side.
TEST(RayWorkloads, HitWhatTheirEventsSay) {
  for (const char* spec : {"divergence", "shader-cost", "ser-pool", "coherence", "coherence:coherence=0"}) {
    const trace::Trace made = Workloads::create(spec).model->make_trace();
    const trace::ThreadData& data = made.launches[0].data;
    std::vector<traversal::Ray> rays;
    for (std::size_t row = 0; row < data.rays.size(); ++row) {
      rays.push_back(traversal::ray_of(data.rays, row));
    }
    const traversal::TraceResult traced =
        traversal::Traversals::create("near-first").model->trace(bvh::build_bvh(made.scene, 0, spec, {}), rays, {});
    ASSERT_EQ(data.events.size(), 2 * rays.size());
    for (std::size_t row = 0; row < rays.size(); ++row) {
      const std::size_t event = 2 * row + 1;
      ASSERT_EQ(traced.hits[row].instance, data.events.instance[event]) << spec << " " << row;
      ASSERT_EQ(traced.hits[row].primitive, data.events.primitive[event]) << spec << " " << row;
      ASSERT_EQ(traced.hits[row].hit_kind, data.events.hit_kind[event]) << spec << " " << row;
      ASSERT_NEAR(traced.hits[row].t, data.events.t[event], 1e-5) << spec << " " << row;
    }
  }
}

TEST_P(EveryWorkload, HasTheKnownAnswers) {
  const auto created = Workloads::create(GetParam());
  const std::vector<KnownAnswer> answers = created.model->answers(machine::load_machine("rtx4090"));
  ASSERT_FALSE(answers.empty());
  for (const KnownAnswer& known : answers) {
    EXPECT_FALSE(known.because.empty());
    std::string under;
    for (const auto& [key, value] : known.settings) {
      under.append(key).append("=").append(value).append(" ");
    }
    const double found = test::measure(*created.model, known);
    EXPECT_TRUE(agrees(known, found)) << created.spec << ": " << known.metric << " is " << found << ", known "
                                      << known.value << " ± " << known.tolerance << " under " << under;
  }
}

/// Machines on which a part of the model is missing, slow, or of another shape.
std::vector<machine::Machine> odd_machines() {
  std::vector<machine::Machine> machines;
  const auto vary = [&machines](const char* name, const auto& change) {
    machine::Machine machine = machine::load_machine("rtx4060-laptop");
    machine.name = name;
    machine.sms = 3;
    machine.l2_bytes_per_second /= 8;
    machine.dram_bytes_per_second /= 8;
    change(machine);
    machines.push_back(std::move(machine));
  };
  using machine::Machine;
  vary("one SM", [](Machine& one) { one.sms = 1; });
  vary("no L1", [](Machine& one) { one.l1_bytes = 0; });
  vary("no L2", [](Machine& one) { one.l2_bytes = 0; });
  vary("no cache", [](Machine& one) { one.l1_bytes = one.l2_bytes = 0; });
  vary("slow DRAM", [](Machine& one) { one.dram_bytes_per_second = 1e9; });
  vary("slower than its latency", [](Machine& one) { one.dram_bytes_per_second = 1e7; });
  vary("slow L2", [](Machine& one) { one.l2_bytes_per_second = 2e9; });
  vary("L2 slower than its latency", [](Machine& one) { one.l2_bytes_per_second = 3e7; });
  vary("fast memory", [](Machine& one) { one.l2_bytes_per_second = one.dram_bytes_per_second = 1e15; });
  vary("few MSHRs", [](Machine& one) { one.outstanding_misses = 3; });
  vary("one MSHR", [](Machine& one) { one.outstanding_misses = 1; });
  vary("short latencies", [](Machine& one) {
    one.l1_latency_cycles = one.l2_latency_cycles = one.dram_latency_cycles = 1;
    one.rt_test_latency_cycles = 0;
  });
  vary("one partition", [](Machine& one) { one.issue_partitions = 1; });
  vary("three partitions, odd rates", [](Machine& one) {
    one.issue_partitions = 3;
    one.issue_per_cycle = 0.7;
    one.rt_steps_per_cycle = 0.37;
    one.clock_mhz = 1777;
  });
  vary("boxes and triangles", [](Machine& one) {
    one.rt_boxes_per_cycle = 4.3;
    one.rt_triangles_per_cycle = 0.9;
  });
  vary("software", [](Machine& one) {
    one.software_traversal = true;
    one.rt_rays = 0;
  });
  vary("few rays", [](Machine& one) { one.rt_rays = 100; });
  vary("one ray", [](Machine& one) { one.rt_rays = 1; });
  vary("small lines", [](Machine& one) {
    one.l1_line_bytes = 64;
    one.l2_line_bytes = 256;
    one.l2_sector_bytes = 128;
  });
  return machines;
}

/// Holds all answers of the specs on the machine against the interleaving; the number of answers, by workload.
void expect_answers(const std::vector<std::string>& specs, const machine::Machine& machine,
                    std::map<std::string, std::size_t>& known_by_workload) {
  for (const std::string& spec : specs) {
    const auto created = Workloads::create(spec);
    const std::vector<KnownAnswer> answers = created.model->answers(machine);
    ASSERT_FALSE(answers.empty());
    if (!answers.front().unknown.empty()) {
      EXPECT_EQ(answers.size(), 1U);
      continue;
    }
    const std::map<std::string, double> found = test::measure_warps(*created.model, answers.front(), machine);
    for (const KnownAnswer& known : answers) {
      EXPECT_EQ(known.settings, answers.front().settings);
      if (known.metric == "time_cycles") {
        EXPECT_LE(known.tolerance, std::max(2.0, 0.01 * known.value))
            << machine.name << ", " << spec << ": such a tolerance says little";
      }
      EXPECT_TRUE(agrees(known, found.at(known.metric)))
          << machine.name << ", " << spec << ": " << known.metric << " is " << found.at(known.metric) << ", known "
          << known.value << " ± " << known.tolerance;
      ++known_by_workload[parse_spec(spec).name];
    }
  }
}

std::vector<std::string> warps_among(const std::vector<std::string>& specs) {
  std::vector<std::string> chosen = specs;
  std::erase_if(chosen,
                [](const std::string& spec) { return Workloads::create(spec).model->kind() != WorkloadKind::Warps; });
  return chosen;
}

TEST(WarpWorkloads, HaveTheKnownAnswersOnOddMachines) {
  std::map<std::string, std::size_t> known;
  for (const machine::Machine& machine : odd_machines()) {
    expect_answers(warps_among(test::all_specs()), machine, known);
  }
  EXPECT_EQ(known.size(), 9U);
  for (const auto& [workload, answers] : known) {
    EXPECT_GT(answers, 40U) << workload << " has no answer on most machines";
  }
}

/// Rates of fractions against latencies: each round begins in a whole cycle, which no form without rounding follows.
TEST(WarpWorkloads, RayTestsAreExactAtEveryRate) {
  machine::Machine machine = machine::load_machine("rtx4060-laptop");
  machine.sms = 1;
  std::size_t compared = 0;
  const auto compare = [&](const std::string& spec) {
    const auto created = Workloads::create(spec);
    const KnownAnswer known = created.model->answers(machine).front();
    ASSERT_EQ(known.metric, "time_cycles");
    ASSERT_EQ(known.unknown, "");
    EXPECT_EQ(known.tolerance, 0);
    const double found = test::measure_warps(*created.model, known, machine).at(known.metric);
    EXPECT_EQ(found, known.value) << spec << ", " << machine.rt_steps_per_cycle << " visits or "
                                  << machine.rt_boxes_per_cycle << " boxes and " << machine.rt_triangles_per_cycle
                                  << " triangles a cycle, latency " << machine.rt_test_latency_cycles << ", "
                                  << machine.issue_partitions << " partitions, software " << machine.software_traversal;
    ++compared;
  };
  for (const bool software : {false, true}) {
    machine.software_traversal = software;
    for (const std::uint32_t partitions : {1U, 3U, 4U}) {
      machine.issue_partitions = partitions;
      for (const double rate : {0.013, 0.37, 1.0, 1.52, 3.3, 7.7, 9.1, 31.7, 100.3, 999.0}) {
        machine.rt_steps_per_cycle = rate;
        for (const double latency : {0.0, 1.0, 4.4, 33.0, 34.5, 390.0}) {
          machine.rt_test_latency_cycles = latency;
          for (const char* spec : {"ray-tests:warps=1", "ray-tests:warps=2", "ray-tests:warps=3,visits=7,rounds=11"}) {
            compare(spec);
          }
        }
      }
    }
  }
  machine.software_traversal = false;
  for (const double boxes : {0.0007, 0.9, 4.3, 37.1}) {
    machine.rt_boxes_per_cycle = boxes;
    for (const double triangles : {0.11, 1.0, 6.3}) {
      machine.rt_triangles_per_cycle = triangles;
      for (const double latency : {0.0, 5.0, 33.0}) {
        machine.rt_test_latency_cycles = latency;
        compare("ray-tests:warps=2");
        compare("ray-tests:warps=3,boxes=5,triangles=1,rounds=9");
      }
    }
  }
  EXPECT_GT(compared, 1000U);
}

/// A user's first call: every example on every machine that rayreplay brings.
TEST(WarpWorkloads, HaveTheKnownAnswersOnShippedMachines) {
  std::vector<std::string> specs;
  for (const std::string& name : Workloads::names()) {
    for (const std::string& spec : Workloads::create(name).model->examples()) {
      specs.push_back(spec);
    }
  }
  std::map<std::string, std::size_t> known;
  for (const std::string& name : machine::shipped_machines()) {
    expect_answers(warps_among(specs), machine::load_machine(name), known);
  }
  EXPECT_EQ(known.size(), 9U);
}

TEST(WarpWorkloads, SayWhatTheMachineCannotAnswer) {
  machine::Machine machine = machine::load_machine("rtx4090");
  const auto why = [&machine](const std::string& spec) {
    return Workloads::create(spec).model->answers(machine).front().unknown;
  };
  EXPECT_EQ(why("pointer-chase:level=l1"), "");
  machine.l1_bytes = 0;
  EXPECT_EQ(why("pointer-chase:level=l1"), "the machine has no L1");
  machine.l2_bytes = 0;
  EXPECT_EQ(why("pointer-chase:level=l2"), "its L2 of 0 bytes does not hold 256 lines");
  EXPECT_EQ(why("pointer-chase:level=dram"), "");
  EXPECT_EQ(why("littles-law:resident_warps=49"), "an SM of the machine holds 48 warps, not 49");
  machine.outstanding_misses = 8;
  EXPECT_EQ(why("overlap"), "an SM has 8 MSHRs for its 16 loads");
}

INSTANTIATE_TEST_SUITE_P(Workloads, EveryWorkload, testing::ValuesIn(test::all_specs()),
                         [](const testing::TestParamInfo<std::string>& spec) {
                           std::string name = std::to_string(spec.index) + "_" + spec.param;
                           for (char& letter : name) {
                             letter = std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
                           }
                           return name;
                         });

TEST(Agrees, TellsWhatIsNotKnown) {
  EXPECT_TRUE(agrees({"m", 0.5, 0, ""}, 0.5));
  EXPECT_FALSE(agrees({"m", 0.5, 0, ""}, 0.500001));
  EXPECT_TRUE(agrees({"m", 0.5, 0.01, ""}, 0.491));
  EXPECT_FALSE(agrees({"m", 0.5, 0.01, ""}, 0.489));
  EXPECT_FALSE(agrees({"m", 0.5, 0.01, ""}, std::numeric_limits<double>::quiet_NaN()));
  const KnownAnswer bound{"m", 2, 0.1, "", {}, Relation::AtMost};
  EXPECT_TRUE(agrees(bound, 0.1));
  EXPECT_TRUE(agrees(bound, 2.05));
  EXPECT_FALSE(agrees(bound, 2.2));
  EXPECT_FALSE(agrees(bound, std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace
}  // namespace rayreplay::workloads
