// Inputs: learned once however many ask, workloads made once for what is learned and what is computed.
#include "sim/engine/stage_input.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sim/settings/settings.hpp"

namespace rayreplay::test {
namespace {

using experiment::InputCatalogue;
using experiment::InputData;
using experiment::InputFacts;

experiment::Settings of_workload(const std::string& spec) {
  experiment::Settings settings;
  settings.set("workload", spec, "test");
  return experiment::complete(settings);
}

TEST(InputCatalogue, AWorkloadThatWasMadeIsLoadedOnce) {
  InputCatalogue catalogue;
  const auto facts = catalogue.facts(of_workload("coherence:warps=4"));
  ASSERT_NE(facts->made, nullptr);
  EXPECT_EQ(facts->made->bytes(), facts->memory_bytes);
  const InputData first = InputCatalogue::load(*facts, nullptr);
  EXPECT_EQ(facts->made->bytes(), 0U) << "it is the loader's now";
  const InputData second = InputCatalogue::load(*facts, nullptr);
  EXPECT_EQ(first.bytes, facts->memory_bytes);
  EXPECT_EQ(second.bytes, facts->memory_bytes);
  ASSERT_EQ(first.trace.launches.size(), second.trace.launches.size());
  EXPECT_EQ(first.trace.launches[0].data.events.size(), facts->launches[0].events);
  EXPECT_EQ(second.trace.launches[0].data.events.size(), facts->launches[0].events);
}

TEST(InputCatalogue, WhatIsMadeAheadIsBounded) {
  constexpr std::uint64_t kMax = std::uint64_t{32} << 20U;
  InputCatalogue catalogue;
  std::vector<std::shared_ptr<const InputFacts>> all;
  std::uint64_t made = 0;
  for (int seed = 1; made <= kMax + (kMax / 2); ++seed) {
    all.push_back(catalogue.facts(of_workload("coherence:warps=1000,seed=" + std::to_string(seed))));
    made += all.back()->memory_bytes;
  }
  std::uint64_t waits = 0;
  for (const auto& facts : all) {
    waits += facts->made == nullptr ? 0 : facts->made->bytes();
  }
  EXPECT_GT(waits, 0U);
  EXPECT_LE(waits, kMax);
  EXPECT_EQ(all.front()->made->bytes(), 0U) << "the oldest goes first";
  EXPECT_GT(all.back()->made->bytes(), 0U);
}

TEST(InputCatalogue, ManyThreadsLearnTheSame) {
  InputCatalogue catalogue;
  const experiment::Settings settings = of_workload("divergence:warps=64");
  std::vector<std::shared_ptr<const InputFacts>> facts(8);
  {
    std::vector<std::jthread> threads;
    for (auto& one : facts) {
      threads.emplace_back([&] { one = catalogue.facts(settings); });
    }
  }
  for (const auto& one : facts) {
    EXPECT_EQ(one, facts.front());
  }
}

}  // namespace
}  // namespace rayreplay::test
