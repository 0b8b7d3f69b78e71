// Experiments on a device: the processor's numbers, and its name.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/accelerator.hpp"
#include "base/error.hpp"
#include "sim/engine/evaluator.hpp"
#include "sim/settings/metrics.hpp"
#include "tests/support/vulkan_device.hpp"

namespace rayreplay::test {
namespace {

using experiment::Outcome;
using experiment::Settings;

Settings of(const std::vector<std::string>& assignments) {
  Settings settings;
  settings.set_text("workload=coherence:warps=16", "test");
  for (const std::string& assignment : assignments) {
    settings.set_text(assignment, "test");
  }
  return experiment::complete(settings);
}

TEST(EvaluatorOnDevice, NumbersAreTheProcessors) {
  std::vector<std::unique_ptr<kernels::Device>> devices;
  devices.push_back(open_test_device());
  const std::string name = devices.front()->info().name;
  Accelerator accelerator(std::move(devices), true, {});
  const std::vector<Settings> asked = {of({"outputs=simt,traversal", "packing=random"}),
                                       of({"outputs=simt", "packing=identity"}),
                                       of({"outputs=model", "scheduler.model=ser"}),
                                       of({"outputs=cache", "cache.l1.bytes=64KiB"}), of({"outputs=structure"})};
  experiment::Evaluator on_cpu({});
  experiment::Evaluator on_device({});
  const std::vector<Outcome> expected = on_cpu.evaluate(asked);
  const std::vector<Outcome> outcomes = on_device.evaluate(asked, &accelerator);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    SCOPED_TRACE(i);
    ASSERT_FALSE(outcomes[i].failure) << format_error(outcomes[i].failure->info);
    EXPECT_EQ(outcomes[i].metrics, expected[i].metrics);
    EXPECT_EQ(outcomes[i].configuration, expected[i].configuration);
    EXPECT_EQ(expected[i].device, "CPU");
  }
  EXPECT_NE(outcomes[0].device.find(name), std::string::npos) << outcomes[0].device;
  EXPECT_EQ(outcomes[4].device, "CPU") << "structures are built on the processor";
  // What was made there is taken as it is by those who have no device.
  const std::vector<Outcome> again = on_device.evaluate(asked);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    EXPECT_EQ(again[i].device, outcomes[i].device);
  }
}

}  // namespace
}  // namespace rayreplay::test
