// Inputs of schedules and of replays of segments, for comparisons of twins.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler-models/regrouping/regroup.hpp"
#include "sim/simt/segment_replay.hpp"
#include "tests/regrouping/support.hpp"

namespace rayreplay::test {

/// Every scope with everything that can be switched.
inline std::vector<scheduler::Regrouping> regroupings() {
  using scheduler::Scope;
  std::vector<scheduler::Regrouping> result;
  for (const Scope scope : {Scope::Warp, Scope::Pool, Scope::Sm, Scope::Launch}) {
    for (unsigned bits = 0; bits < 8; ++bits) {
      result.push_back({.scope = scope,
                        .pool_warps = scope == Scope::Pool ? 3U : 1U,
                        .split_keys = (bits & 1) != 0,
                        .keep_lanes = (bits & 2) != 0,
                        .only_if_fewer = (bits & 4) != 0});
    }
  }
  return result;
}

inline std::string describe(const scheduler::Regrouping& regrouping) {
  return "scope " + std::to_string(static_cast<int>(regrouping.scope)) + (regrouping.split_keys ? ", split keys" : "") +
         (regrouping.keep_lanes ? ", keep lanes" : "") + (regrouping.only_if_fewer ? ", only if fewer" : "");
}

/// `distinct` values, so far apart that they differ in several bytes.
inline trace::Column<std::uint64_t> random_keys(std::size_t segments, std::uint64_t distinct, std::mt19937_64& random) {
  trace::Column<std::uint64_t> keys(segments);
  for (std::uint64_t& key : keys) {
    key = (random() % distinct) * 0x0000'0100'0001'0101U;
  }
  return keys;
}

/// The same warps, rounds and units.
inline void expect_same_rounds(const scheduler::SegmentSchedule& found, const scheduler::SegmentSchedule& expected,
                               const std::string& what) {
  EXPECT_EQ(found.round_begin, expected.round_begin) << what;
  EXPECT_EQ(found.unit_begin, expected.unit_begin) << what;
  EXPECT_EQ(found.unit_sm, expected.unit_sm) << what;
  EXPECT_EQ(found.moved, expected.moved) << what;
  EXPECT_EQ(found.segment_at, expected.segment_at) << what;
  EXPECT_EQ(found.spread, expected.spread) << what;
}

struct ScheduleShape {
  std::uint32_t warp_size;
  std::uint32_t threads;
  std::uint64_t keys;
};

inline std::string shape_name(const testing::TestParamInfo<ScheduleShape>& instance) {
  return std::to_string(instance.param.warp_size) + "Lanes" + std::to_string(instance.param.threads) + "Threads" +
         std::to_string(instance.param.keys) + "Keys";
}

/// A launch of this shape in random warps that start in random order, on five SMs of which two are withheld.
inline Plan random_plan(const ScheduleShape& shape, std::uint32_t most_rays, std::mt19937_64& random) {
  trace::Trace trace;
  trace.shaders = shaders_of_all_stages(11);
  trace.launches.push_back(RandomLaunch(11, random()).make(shape.threads, most_rays));
  auto order = shuffled_assignment(shape.threads, shape.warp_size, random);
  std::shuffle(order.start_rank.begin(), order.start_rank.end(), random);
  Plan plan(std::move(trace), std::move(order));
  plan.machine.sms = 5;
  plan.machine.withheld_sms = 2;
  return plan;
}

inline std::vector<simt::CallWeights> random_weights(std::size_t tables, std::size_t shaders, std::mt19937_64& random) {
  std::vector<simt::CallWeights> result(tables, simt::CallWeights(shaders * trace::kEventKinds));
  for (auto& table : result) {
    for (std::uint32_t& weight : table) {
      weight = static_cast<std::uint32_t>(random());
    }
  }
  return result;
}

}  // namespace rayreplay::test
