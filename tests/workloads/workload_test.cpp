// Specs, hashes, limits, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/workloads/workload.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::workloads {
namespace {

using testing::HasSubstr;

void expect_usage(const std::string& spec, const std::string& part) {
  EXPECT_THAT(test::message_of(ErrorKind::Usage,
                               [&] {
                                 const auto created = Workloads::create(spec);
                                 static_cast<void>(created.model->kind() == WorkloadKind::Memory
                                                       ? created.model->make_memory().records.records()
                                                       : created.model->make_trace().launches.size());
                               }),
              HasSubstr(part));
}

TEST(Workload, RefusesWhatIsNot) {
  expect_usage("divergance", "divergence");
  expect_usage("divergence:degre=2", "degree");
  expect_usage("divergence:degree=0", "degree");
  expect_usage("divergence:degree=1.5", "degree");
  expect_usage("divergence:placement=anywhere", "interleaved");
  expect_usage("coherence:coherence=1.1", "coherence");
  expect_usage("coherence:shaders=5,cells=2", "more shaders than cells");
  expect_usage("stride:stride=6", "multiple of 4");
}

TEST(Workload, RefusesWhatWouldNotFit) {
  expect_usage("divergence:warps=1048576,bounces=4096", "too large");
  expect_usage("coherence:warps=1048576,warp_size=64", "too large");
  expect_usage("box-overlap:kind=boxes,overlap=1,primitives=4096,warps=100000", "too large");
  expect_usage("stride:instructions=1048576,repeats=65536", "too large");
  expect_usage("working-set:lines=16777216,passes=65536,sms=4096", "too large");
  expect_usage("reuse-distance:near=1048576,blocks=65536,repeats=4096,rounds=4096", "too large");
}

TEST(Workload, RefusesWarpsThatWouldNotFit) {
  for (const char* spec : {"littles-law:resident_warps=48,rounds=65536", "compute-bound:warps=12,rounds=65536",
                           "mshr-bound:loads=65536,clauses=4096", "streaming:resident_warps=48,lines=4096"}) {
    EXPECT_THAT(
        test::message_of(
            ErrorKind::Usage,
            [&] { static_cast<void>(Workloads::create(spec).model->make_warps(machine::load_machine("rtx4090"))); }),
        HasSubstr("too large"))
        << spec;
  }
}

TEST(Workload, EveryGeneratorSaysWhatItIs) {
  for (const std::string& name : Workloads::names()) {
    const ModelDescription& description = Workloads::describe(name);
    EXPECT_FALSE(description.summary.empty());
    EXPECT_FALSE(description.text.empty());
    EXPECT_FALSE(description.source.empty());
    EXPECT_FALSE(Workloads::create(name).model->examples().empty());
  }
  EXPECT_GE(Workloads::names().size(), 8U);
}

}  // namespace
}  // namespace rayreplay::workloads
