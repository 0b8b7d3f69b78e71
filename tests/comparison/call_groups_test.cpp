// Numbers of calls: one for each kind of calls and each way to know them; varying one leaves the others.
#include "sim/comparison/call_groups.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/groups_by_hand.hpp"

namespace rayreplay::test {
namespace {

using experiment::CallGroups;
using experiment::Quantity;
using machine::CallCost;
using machine::Origin;

constexpr std::size_t kHit = static_cast<std::size_t>(trace::EventKind::ClosestHit);

const CallCost& hit_of(const std::vector<CallCost>& calls, std::size_t shader) {
  return calls[shader * trace::kEventKinds + kHit];
}

std::vector<double> present(const CallGroups& groups) {
  std::vector<double> values;
  for (const experiment::CallGroup& group : groups.list()) {
    values.push_back(group.quantity.value);
  }
  return values;
}

TEST(CallGroups, ACostByHandIsANumberOfItsOwn) {
  const CallGroups groups = groups_of({hit(2000, "hand"), hit(250, "default"), hit(250, "default")});
  ASSERT_EQ(groups.list().size(), 2U);
  const Quantity& given = groups.list()[0].quantity;
  const Quantity& assumed = groups.list()[1].quantity;
  EXPECT_EQ(given.key, "shader_costs.closest-hit");
  EXPECT_EQ(assumed.key, given.key);
  EXPECT_EQ(given.name, "a closest-hit call whose cost is given");
  EXPECT_EQ(assumed.name, "a closest-hit call whose cost is assumed");
  EXPECT_EQ(given.value, 2000);
  EXPECT_EQ(assumed.value, 250);
  EXPECT_FALSE(given.is(assumed));
  const std::vector<Quantity> both = {given, assumed};
  EXPECT_EQ(label_of(both, assumed), "shader_costs.closest-hit (assumed)");
  EXPECT_EQ(label_of(std::vector<Quantity>{assumed}, assumed), "shader_costs.closest-hit");
  const std::vector<CallCost> calls = groups.at(std::vector<double>{2000, 100}, 6, false);
  EXPECT_EQ(hit_of(calls, 0).issue, 2000);
  EXPECT_EQ(hit_of(calls, 0).latency, 12000);
  for (const std::size_t shader : {1U, 2U}) {
    EXPECT_EQ(hit_of(calls, shader).issue, 100);
    EXPECT_EQ(hit_of(calls, shader).latency, 600);
  }
}

TEST(CallGroups, CallsOfOneOriginVaryByOneFactor) {
  OneCall dear = hit(300, "spirv");
  dear.lanes = 3;
  const CallGroups groups = groups_of({hit(100, "spirv"), dear});
  ASSERT_EQ(groups.list().size(), 1U);
  EXPECT_EQ(groups.list()[0].quantity.value, 250) << "the mean over lanes";
  EXPECT_EQ(groups.list()[0].quantity.origin, Origin::Counted);
  EXPECT_EQ(groups.list()[0].most, 300);
  const std::vector<CallCost> calls = groups.at(std::vector<double>{500}, 6, false);
  EXPECT_EQ(hit_of(calls, 0).issue, 200);
  EXPECT_EQ(hit_of(calls, 1).issue, 600);
  EXPECT_EQ(hit_of(calls, 1).latency, 3600);
}

TEST(CallGroups, LatenciesKnownByThemselvesAreNumbersToo) {
  const CallGroups groups =
      groups_of({hit(50, "spirv", 4000, "captured"), hit(70, "spirv", 2000, "captured"), hit(60, "hand", 900, "hand")});
  ASSERT_EQ(groups.list().size(), 4U);
  const Quantity& captured = groups.list()[2].quantity;
  EXPECT_EQ(captured.kind, experiment::QuantityKind::CallLatency);
  EXPECT_EQ(captured.key, "shader_costs.closest-hit:latency");
  EXPECT_EQ(captured.name, "the latency of a closest-hit call whose value is captured");
  EXPECT_EQ(captured.unit, "cycles");
  EXPECT_EQ(captured.origin, Origin::Captured);
  EXPECT_EQ(captured.value, 3000);
  EXPECT_EQ(groups.list()[0].quantity.origin, Origin::Counted) << "clocks say nothing about instructions";
  EXPECT_EQ(groups.list()[3].quantity.origin, Origin::Given);
  EXPECT_FALSE(groups.reads_cycles_per_instruction());
  std::vector<double> values = present(groups);
  values[0] *= 2;
  std::vector<CallCost> calls = groups.at(values, 100, true);
  EXPECT_EQ(hit_of(calls, 0).issue, 100);
  EXPECT_EQ(hit_of(calls, 0).latency, 4000) << "neither instructions nor cycles an instruction move it";
  values[2] /= 2;
  calls = groups.at(values, 6, false);
  EXPECT_EQ(hit_of(calls, 0).latency, 2000);
  EXPECT_EQ(hit_of(calls, 1).latency, 1000);
  EXPECT_EQ(hit_of(calls, 2).latency, 900);
  values[0] = 3000;  // of 60
  calls = groups.at(values, 6, false);
  EXPECT_EQ(hit_of(calls, 0).issue, 2500);
  EXPECT_EQ(hit_of(calls, 0).latency, 2500) << "at least the instructions";
}

TEST(CallGroups, PresentValuesGiveThePresentCosts) {
  const CallGroups groups = groups_of({hit(1.0 / 3, "spirv"), hit(7, "spirv", 1e6 / 7, "captured"), hit(20, "hand")});
  EXPECT_TRUE(groups.reads_cycles_per_instruction());
  const std::vector<CallCost> calls = groups.at(present(groups), 6, false);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].issue, groups.now()[i].issue);
    EXPECT_EQ(calls[i].latency, groups.now()[i].latency);
  }
  const std::vector<CallCost> slower = groups.at(present(groups), 12, true);
  EXPECT_EQ(hit_of(slower, 2).latency, 240);
  EXPECT_EQ(hit_of(slower, 1).latency, 1e6 / 7);
}

}  // namespace
}  // namespace rayreplay::test
