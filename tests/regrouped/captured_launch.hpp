// A captured launch on four SMs, and the scheduler model that regroups it: the parameters of a test.
#pragma once

#include <cctype>
#include <cstdint>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "bvh/bvh.hpp"
#include "capture/trace/reader.hpp"
#include "scheduler-models/launch_order.hpp"
#include "sim/launch/launch_stream.hpp"
#include "sim/launch/regrouped_launch.hpp"
#include "sim/memory/data_kind.hpp"

namespace rayreplay::test {

/// Accesses by which threads get from one warp to the next: whole threads have none of them.
inline bool is_of_exchanges(memory::DataKind kind) {
  return kind == memory::DataKind::State || kind == memory::DataKind::Queue;
}

/// kind, store, bytes, address, element
using OneAccess = std::tuple<memory::DataKind, bool, std::uint32_t, std::uint64_t, std::uint32_t>;

/// Trace and scheduler model.
class CapturedLaunch : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  CapturedLaunch()
      : trace_(trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/" + std::string(std::get<0>(GetParam())) + ".rrt")),
        structure_(bvh::build_bvh(trace_.scene, launch().tlas, "test")),
        start_(scheduler::LaunchOrders::create("z-order").model->assign(launch(), 32)) {
    schedule_.plan = machine::WorkDistributions::create("launch").model->plan(launch(), start_, 4);
    machine_.sms = 4;
    stream_.coalescing.keep_raw = true;
    stream_.stack_entries = 4;
  }
  [[nodiscard]] const trace::Launch& launch() const {
    return trace_.launches[0];
  }
  [[nodiscard]] experiment::RegroupedLaunch regrouped(bool closed_loop) const {
    experiment::RegroupOptions options;
    options.machine = machine_;
    options.resident_warps = 4;
    options.closed_loop = closed_loop;
    return experiment::regroup_launch(trace_, launch(), start_, std::get<1>(GetParam()), options);
  }

  trace::Trace trace_;
  bvh::Bvh structure_;
  scheduler::WarpAssignment start_;
  experiment::LaunchSchedule schedule_;
  machine::Machine machine_;
  memory::StreamOptions stream_;
};

/// For INSTANTIATE_TEST_SUITE_P.
inline std::string name_of_case(const testing::TestParamInfo<std::tuple<const char*, const char*>>& chosen) {
  std::string name = std::string(std::get<0>(chosen.param)) + "_" + std::get<1>(chosen.param);
  for (char& letter : name) {
    letter = std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
  }
  return name;
}

}  // namespace rayreplay::test
