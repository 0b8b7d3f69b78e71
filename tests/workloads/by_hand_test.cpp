// Are the closed forms right? What the workloads hold, counted one by one and by no library of rayreplay's.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <set>

#include "sim/workloads/workload.hpp"

namespace rayreplay::workloads {
namespace {

using trace::EventKind;

trace::Trace trace_of(const std::string& spec) {
  return Workloads::create(spec).model->make_trace();
}

/// The first answer for the metric whose settings hold all of `with`.
KnownAnswer answer_of(const std::string& spec, const std::string& metric,
                      const std::vector<std::pair<std::string, std::string>>& with = {}) {
  for (const KnownAnswer& known : Workloads::create(spec).model->answers(machine::load_machine("rtx4090"))) {
    const bool fits = std::ranges::all_of(
        with, [&](const auto& setting) { return std::ranges::find(known.settings, setting) != known.settings.end(); });
    if (known.metric == metric && fits) {
      return known;
    }
  }
  ADD_FAILURE() << spec << " has no " << metric;
  return {};
}

/// Lanes over warp events of warps of `lanes` threads in which all lanes meet before every ray: for each ray of the
/// threads one event for each different call, tests of intersection shaders one after the other.
double efficiency_when_lanes_meet(const trace::Trace& trace, std::size_t lanes) {
  const trace::ThreadData& data = trace.launches[0].data;
  std::uint64_t events = 0;
  std::uint64_t active = 0;
  for (std::size_t first = 0; first < data.threads(); first += lanes) {
    std::map<std::uint64_t, std::set<std::uint64_t>> calls;  // by ray and place in it: shaders
    for (std::size_t thread = first; thread < std::min(first + lanes, data.threads()); ++thread) {
      std::uint64_t ray = 0;
      std::uint64_t tests = 0;
      for (std::uint64_t e = data.event_offset[thread]; e < data.event_offset[thread + 1]; ++e) {
        const EventKind kind = data.events.kind[e];
        ray += kind == EventKind::Begin ? 1U : 0U;
        tests = kind == EventKind::Begin ? 0 : tests;
        // Tests by number, everything else behind all tests of the ray.
        const std::uint64_t place = kind == EventKind::Begin          ? 0
                                    : kind == EventKind::Intersection ? ++tests
                                                                      : 1'000'000;
        calls[ray * 10'000'000 + place].insert(data.events.shader[e]);
        ++active;
      }
    }
    for (const auto& [place, shaders] : calls) {
      events += shaders.size();
    }
  }
  return static_cast<double>(active) / static_cast<double>(events * lanes);
}

TEST(ByHand, DivergenceOfLanesThatMeet) {
  for (const int degree : {1, 2, 3, 4, 7, 32, 50}) {
    for (const int bounces : {1, 3}) {
      const std::string spec =
          "divergence:warps=6,degree=" + std::to_string(degree) + ",bounces=" + std::to_string(bounces);
      const double counted = efficiency_when_lanes_meet(trace_of(spec), 32);
      EXPECT_DOUBLE_EQ(answer_of(spec, "simt_efficiency", {{"policy", "trace-barrier"}}).value, counted) << spec;
      EXPECT_DOUBLE_EQ(counted, 2.0 / (1 + std::min(degree, 32)));
    }
  }
}

TEST(ByHand, DivergenceOfLanesThatPart) {
  // Two lanes, two shaders, two bounces: begin(2) hit(1) begin(1) hit(1), hit(1) begin(1) hit(1): 8 lanes in 7 events.
  EXPECT_DOUBLE_EQ(
      answer_of("divergence:degree=2,bounces=2,warp_size=2", "simt_efficiency", {{"policy", "stage-majority"}}).value,
      8.0 / (2 * 7));
  EXPECT_DOUBLE_EQ(answer_of("divergence:degree=1,bounces=9", "simt_efficiency").value, 1);
}

TEST(ByHand, WeightedEfficiencyOfTwoCosts) {
  // 8 of 32 lanes at 1000 cycles, 24 at 100: (24·100 + 8·1000) / (32·1100).
  const std::string spec = "shader-cost:ratio=10,share=0.25,cost=100";
  EXPECT_DOUBLE_EQ(answer_of(spec, "simt_weighted_efficiency").value, 10400.0 / 35200);
  const trace::Trace trace = trace_of(spec);
  EXPECT_EQ(std::ranges::count(trace.launches[0].data.events.shader, 2), 8 * 256);
  EXPECT_EQ(trace.shaders[2].name, "dear");
}

TEST(ByHand, PoolsSortedOneByOne) {
  for (const int shaders : {1, 3, 8, 32, 40}) {
    const std::string spec = "ser-pool:warps=21,shaders=" + std::to_string(shaders);
    const trace::Trace trace = trace_of(spec);
    std::vector<std::uint16_t> hit;
    for (std::size_t e = 1; e < trace.launches[0].data.events.size(); e += 2) {
      hit.push_back(trace.launches[0].data.events.shader[e]);
    }
    ASSERT_EQ(hit.size(), 21U * 32);
    for (const std::size_t pool : {1U, 2U, 8U, 16U}) {
      std::uint64_t events = 21;
      for (std::size_t first = 0; first < hit.size(); first += pool * 32) {
        std::vector<std::uint16_t> sorted(
            hit.begin() + static_cast<std::ptrdiff_t>(first),
            hit.begin() + static_cast<std::ptrdiff_t>(std::min(first + pool * 32, hit.size())));
        std::ranges::sort(sorted);
        for (std::size_t warp = 0; warp < sorted.size(); warp += 32) {
          events += std::set(sorted.begin() + static_cast<std::ptrdiff_t>(warp),
                             sorted.begin() + static_cast<std::ptrdiff_t>(warp + 32))
                        .size();
        }
      }
      const std::string model = "ser:scope=pool,pool_warps=" + std::to_string(pool);
      EXPECT_DOUBLE_EQ(answer_of(spec, "model_efficiency", {{"scheduler.model", model}}).value,
                       42.0 / static_cast<double>(events))
          << spec << " " << model;
    }
  }
  // 8 shaders in pools of 4 warps: 2·4 / (2·4 + 8 − 4).
  EXPECT_DOUBLE_EQ(
      answer_of("ser-pool", "model_efficiency", {{"scheduler.model", "ser:scope=pool,pool_warps=4"}}).value, 8.0 / 12);
}

TEST(ByHand, CoherenceIsTheMeanOverManyDraws) {
  // Another seed each time: the mean of 20 launches is 4.5 times as near as one.
  for (const char* coherence : {"0", "0.5", "0.9"}) {
    double sum = 0;
    KnownAnswer known;
    for (int seed = 0; seed < 20; ++seed) {
      const std::string spec = std::string("coherence:coherence=") + coherence + ",seed=" + std::to_string(seed);
      sum += efficiency_when_lanes_meet(trace_of(spec), 32);
      known = answer_of(spec, "simt_efficiency");
    }
    EXPECT_NEAR(sum / 20, known.value, known.tolerance / 4) << coherence;
    EXPECT_LT(known.tolerance, 0.1 * known.value) << "an answer that says little";
  }
}

TEST(ByHand, BoxesMetOneByOne) {
  for (const char* overlap : {"0", "0.1", "0.5", "0.875", "0.99", "1"}) {
    const std::string spec = std::string("box-overlap:primitives=50,kind=boxes,warps=5,overlap=") + overlap;
    const trace::Trace trace = trace_of(spec);
    const trace::Launch& launch = trace.launches[0];
    const auto& boxes = trace.scene.geometries[0].boxes;
    ASSERT_EQ(boxes.size(), 300U);
    std::uint64_t met = 0;
    for (std::size_t ray = 0; ray < launch.data.rays.size(); ++ray) {
      std::vector<std::uint32_t> expected;
      for (std::uint32_t box = 0; box < 50; ++box) {
        const float x = launch.data.rays.origin_x[ray];
        if (x > boxes[6 * box] && x < boxes[6 * box + 3]) {
          expected.push_back(box);
        }
      }
      std::vector<std::uint32_t> tested;
      for (std::uint64_t e = launch.data.event_offset[ray]; e < launch.data.event_offset[ray + 1]; ++e) {
        if (launch.data.events.kind[e] == EventKind::Intersection) {
          tested.push_back(launch.data.events.primitive[e]);
        }
      }
      EXPECT_EQ(tested, expected);
      met += expected.size();
    }
    EXPECT_DOUBLE_EQ(answer_of(spec, "simt_efficiency").value, efficiency_when_lanes_meet(trace, 32)) << spec;
    const std::string triangles = std::string("box-overlap:primitives=50,warps=5,overlap=") + overlap;
    EXPECT_DOUBLE_EQ(answer_of(triangles, "traversal_triangles_per_ray").value, static_cast<double>(met) / (5 * 32));
  }
}

struct Reads {
  std::uint64_t transactions = 0;
  std::uint64_t hits = 0;
};

/// Lines of every record, in ascending order, through one list of the most recently used.
Reads through_lru(const MemoryWorkload& made, std::uint64_t line_bytes, std::size_t lines) {
  Reads reads;
  std::list<std::uint64_t> held;
  for (std::size_t row = 0; row < made.records.records(); ++row) {
    std::set<std::uint64_t> touched;
    for (std::uint32_t i = made.records.first[row]; i < made.records.first[row + 1]; ++i) {
      touched.insert(made.records.address[i] / line_bytes);
      touched.insert((made.records.address[i] + made.records.bytes[row] - 1) / line_bytes);
    }
    for (const std::uint64_t line : touched) {
      ++reads.transactions;
      const auto found = std::ranges::find(held, line);
      if (found != held.end()) {
        ++reads.hits;
        held.erase(found);
      }
      held.push_front(line);
      if (held.size() > lines) {
        held.pop_back();
      }
    }
  }
  return reads;
}

TEST(ByHand, StridesLineByLine) {
  for (const int stride : {0, 4, 8, 12, 28, 36, 100, 128, 132, 1024}) {
    const std::string spec = "stride:instructions=60,repeats=2,stride=" + std::to_string(stride);
    for (const std::uint64_t line : {32U, 128U}) {
      const Reads reads = through_lru(Workloads::create(spec).model->make_memory(), line, 128);
      const std::pair<std::string, std::string> with{"cache.l1.line_bytes", std::to_string(line)};
      EXPECT_DOUBLE_EQ(answer_of(spec, "stream_transactions", {with}).value, static_cast<double>(reads.transactions))
          << spec;
      EXPECT_DOUBLE_EQ(answer_of(spec, "l1_hit_rate", {with}).value,
                       static_cast<double>(reads.hits) / static_cast<double>(reads.transactions))
          << spec;
    }
  }
}

TEST(ByHand, CachesOfEverySize) {
  for (const char* spec : {"working-set:lines=9,passes=4", "reuse-distance:near=5,blocks=3,repeats=3,rounds=2",
                           "reuse-distance:near=4,blocks=1"}) {
    const MemoryWorkload made = Workloads::create(spec).model->make_memory();
    for (const KnownAnswer& known : Workloads::create(spec).model->answers(machine::load_machine("rtx4090"))) {
      if (known.metric != "l1_hit_rate") {
        continue;
      }
      const std::uint64_t lines = std::stoull(known.settings.front().second) / 128;
      const Reads reads = through_lru(made, 128, lines);
      EXPECT_DOUBLE_EQ(known.value, static_cast<double>(reads.hits) / static_cast<double>(reads.transactions))
          << spec << " " << lines;
    }
  }
}

TEST(ByHand, RandomReadsAreTheMeanOverManyDraws) {
  double sum = 0;
  KnownAnswer known;
  for (int seed = 0; seed < 20; ++seed) {
    const std::string spec = "working-set:pattern=random,lines=64,seed=" + std::to_string(seed);
    const Reads reads = through_lru(Workloads::create(spec).model->make_memory(), 128, 16);
    sum += static_cast<double>(reads.hits) / static_cast<double>(reads.transactions);
    known = answer_of(spec, "l1_hit_rate", {{"cache.l1.bytes", "2048"}});
  }
  EXPECT_NEAR(sum / 20, known.value, known.tolerance / 4);
}

}  // namespace
}  // namespace rayreplay::workloads
