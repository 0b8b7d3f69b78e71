// Are lists of specs split where users mean it, and costs read as they are written?
#include "sim/experiment/model_list.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"
#include "sim/experiment/compare_options.hpp"

namespace rayreplay::test {
namespace {

using Specs = std::vector<std::string>;

Specs split(const std::string& text) {
  return experiment::split_model_list(text, {"plain", "ser"});
}

TEST(ModelList, CommasBelongToTheSpecTheyAreIn) {
  EXPECT_EQ(split("plain"), Specs({"plain"}));
  EXPECT_EQ(split("plain,ser:scope=sm,arrival=full,wavefront"),
            Specs({"plain", "ser:scope=sm,arrival=full", "wavefront"}));
  EXPECT_EQ(split("ser,scope=sm"), Specs({"ser:scope=sm"}));
  EXPECT_EQ(split("ser:a=1,ser:a=2,b=3"), Specs({"ser:a=1", "ser:a=2,b=3"}));
  EXPECT_EQ(split("all"), Specs({"plain", "ser"}));
  EXPECT_EQ(split("all,ser:scope=sm"), Specs({"plain", "ser", "ser:scope=sm"}));
}

TEST(ModelList, WhatIsNoListIsRefused) {
  for (const char* bad : {"", ",", "plain,", ",plain", "plain,,ser", "scope=sm", "all,scope=sm"}) {
    EXPECT_THROW(static_cast<void>(split(bad)), Error) << bad;
  }
}

TEST(ModelList, ResolvedModelsStartWithPlainAndComeOnce) {
  const Specs models = experiment::resolve_models({"wavefront", "plain", "wavefront"});
  ASSERT_EQ(models.size(), 2U);
  EXPECT_EQ(models[0], "plain");
  EXPECT_EQ(models[1].substr(0, 9), "wavefront");
}

TEST(ShaderCostList, InstructionsAndLatency) {
  const std::vector<machine::HandCost> costs =
      experiment::parse_shader_cost_list("metal=40,closest-hit=250:1500.5,a=b=3");
  ASSERT_EQ(costs.size(), 3U);
  EXPECT_EQ(costs[0].shader, "metal");
  EXPECT_DOUBLE_EQ(costs[0].issue, 40);
  EXPECT_LT(costs[0].latency, 0);
  EXPECT_EQ(costs[1].shader, "closest-hit");
  EXPECT_DOUBLE_EQ(costs[1].latency, 1500.5);
  EXPECT_EQ(costs[2].shader, "a=b");
  for (const char* bad : {"metal", "=3", "metal=", "metal=x", "metal=-1", "metal=3:", "metal=3:x", "metal=nan"}) {
    EXPECT_THROW(static_cast<void>(experiment::parse_shader_cost_list(bad)), Error) << bad;
  }
}

TEST(CompareOptions, WhatNeedsNoTraceIsCheckedWithoutOne) {
  const auto fault = [](const auto& spoil) {
    experiment::ModelsConfiguration configuration;
    configuration.models = {"ser"};
    spoil(configuration);
    try {
      static_cast<void>(experiment::compare_options(configuration));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Usage);
      return std::string(error.what());
    }
    return std::string();
  };
  using Configuration = experiment::ModelsConfiguration;
  EXPECT_EQ(fault([](Configuration&) {}), "");
  const auto names = [](const std::string& message, const char* word) {
    EXPECT_NE(message.find(word), std::string::npos) << message;
  };
  names(fault([](Configuration& c) { c.models = {"serr"}; }), "'ser'");
  names(fault([](Configuration& c) { c.models = {"ser:scop=sm"}; }), "scope");
  names(fault([](Configuration& c) { c.machine = "rtx4091"; }), "rtx4090");
  names(fault([](Configuration& c) { c.cost_source = "spirvv"; }), "'spirv'");
  names(fault([](Configuration& c) { c.registers_per_thread = 0; }), "registers_per_thread");
  names(fault([](Configuration& c) { c.cycles_per_instruction = 0; }), "cycles_per_instruction");
  names(fault([](Configuration& c) { c.steps_per_ray = -1; }), "steps_per_ray");
  names(fault([](Configuration& c) { c.hints = {"m:4=instance", "m:3=primitive"}; }), "'m'");
  names(fault([](Configuration& c) { c.hints = {"m:4=instanc"}; }), "instance");
}

}  // namespace
}  // namespace rayreplay::test
