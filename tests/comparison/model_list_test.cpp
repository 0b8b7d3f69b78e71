// Are lists of specs split where users mean it?
#include "sim/comparison/model_list.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.hpp"

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

}  // namespace
}  // namespace rayreplay::test
