// rayreplay capture --insert-ser, from the formula to the trace: on a device that says it has hit objects
// (hit_objects_layer.cpp), and what the command refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "capture/trace/reader.hpp"
#include "tests/app/run_command.hpp"
#include "tests/support/software_driver.hpp"

namespace rayreplay::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint32_t kWidth = 16;  // of the scenarios' launch, a square

class InsertSerCommand : public testing::Test {
 protected:
  void SetUp() override {
    use_software_driver();
    ::setenv("VK_ADD_LAYER_PATH", RAYREPLAY_HIT_OBJECTS_FOLDER, 1);
    ::setenv("VK_LOADER_LAYERS_ENABLE", "VK_LAYER_RAYREPLAY_test_hit_objects", 1);
    ::setenv("VK_INSTANCE_LAYERS", "VK_LAYER_RAYREPLAY_test_hit_objects", 1);
  }
  void TearDown() override {
    for (const char* name :
         {"VK_ADD_LAYER_PATH", "VK_LOADER_LAYERS_ENABLE", "VK_INSTANCE_LAYERS", "RAYREPLAY_CAPTURE_INSERT_SER"}) {
      ::unsetenv(name);
    }
  }
  static Outcome capture(std::vector<std::string> options) {
    options.insert(options.begin(), "capture");
    options.insert(options.end(), {"--", RAYREPLAY_SCENARIOS, "modules"});
    return run_command(options);
  }
};

TEST_F(InsertSerCommand, HintsOfTheFormulaAreInTheTrace) {
  const Scratch scratch;
  const std::string path = scratch / "t.rrt";
  const Outcome captured = capture({"--insert-ser=mine:9=y * 16 + x", "-o", path});
  ASSERT_EQ(captured.code, 0) << captured.errors;
  EXPECT_THAT(captured.errors, Not(HasSubstr("insert-ser")));
  const trace::Trace found = trace::load(path);
  ASSERT_EQ(found.launches.size(), 1U);
  const trace::Launch& launch = found.launches[0];
  ASSERT_EQ(launch.data.rays.hint.size(), std::size_t{kWidth} * kWidth);
  for (std::uint32_t thread = 0; thread < kWidth * kWidth; ++thread) {
    EXPECT_EQ(launch.data.rays.hint[thread], thread);
    EXPECT_EQ(launch.data.rays.hint_bits[thread], 9);
  }
  EXPECT_EQ(run_command({"validate", path}).code, 0);
  EXPECT_EQ(run_command({"whatif", path, "--models", "ser:hint=captured"}).code, 0);
}

TEST_F(InsertSerCommand, WithoutAFormulaTheHitAloneDecides) {
  const Scratch scratch;
  const std::string path = scratch / "t.rrt";
  const Outcome captured = capture({"--insert-ser", "--log", "info", "-o", path});
  ASSERT_EQ(captured.code, 0) << captured.errors;
  EXPECT_THAT(captured.errors, HasSubstr("shader raygen 0: insert-ser: 1 trace call reorders threads"));
  const trace::Trace found = trace::load(path);
  for (const std::uint8_t bits : found.launches.at(0).data.rays.hint_bits) {
    EXPECT_EQ(bits, 0);
  }
}

TEST_F(InsertSerCommand, TimesAloneAndProfiles) {
  const Outcome times = capture({"--insert-ser", "--record", "off", "--log", "info"});
  EXPECT_EQ(times.code, 0) << times.errors;
  EXPECT_THAT(times.errors, HasSubstr("1 trace call reorders threads"));
  EXPECT_THAT(times.output, AllOf(HasSubstr("device ms"), HasSubstr("16x16")));
  const Scratch scratch;
  const std::string path = scratch / "t.rrt";
  const Outcome profiled = capture({"--insert-ser=4=hash(instance, primitive) % 16", "--profile", "all", "-o", path});
  ASSERT_EQ(profiled.code, 0) << profiled.errors;
  EXPECT_EQ(run_command({"validate", path}).code, 0);
  const Outcome profile = run_command({"profile", path});
  EXPECT_EQ(profile.code, 0) << profile.errors;
  EXPECT_THAT(profile.output, HasSubstr("raygen"));
}

TEST_F(InsertSerCommand, WhatCannotBeComputedIsRefused) {
  const auto refused = [](const std::string& hint) {
    const Outcome outcome = capture({"--insert-ser=" + hint, "--record", "off"});
    EXPECT_EQ(outcome.code, 2) << hint;
    return outcome.errors;
  };
  EXPECT_THAT(refused("8=object % 4"), AllOf(HasSubstr("not known where a ray is traced"), HasSubstr("found object"),
                                             HasSubstr("custom_index"), HasSubstr("hash(instance, primitive)")));
  EXPECT_THAT(refused("8=x + shader"), AllOf(HasSubstr("column 5"), HasSubstr("found shader")));
  EXPECT_THAT(refused("8=hint"), HasSubstr("captured hints are in traces alone"));
  EXPECT_THAT(refused("8=primitiv"), HasSubstr("did you mean 'primitive'"));
  EXPECT_THAT(refused("8=x +"), HasSubstr("--insert-ser, column"));
  EXPECT_THAT(refused("x % 16"), HasSubstr("the form BITS=FORMULA"));
  EXPECT_THAT(refused("=x"), HasSubstr("the form BITS=FORMULA"));
  EXPECT_THAT(refused("33=x"), HasSubstr("1 to 32"));
  EXPECT_THAT(refused("0=x"), HasSubstr("1 to 32"));
  ::setenv("RAYREPLAY_CAPTURE_INSERT_SER", "8=x", 1);
  const Outcome variable = capture({"--record", "off"});
  EXPECT_EQ(variable.code, 2);
  EXPECT_THAT(variable.errors, HasSubstr("RAYREPLAY_CAPTURE_INSERT_SER"));
}

// The variable takes a program.
TEST_F(InsertSerCommand, TheVariable) {
  ::setenv("RAYREPLAY_CAPTURE_INSERT_SER", "5: x y max", 1);
  const Scratch scratch;
  const std::string path = scratch / "t.rrt";
  const Outcome captured = capture({"-o", path});
  ASSERT_EQ(captured.code, 0) << captured.errors;
  const trace::Trace found = trace::load(path);
  for (std::uint32_t thread = 0; thread < kWidth * kWidth; ++thread) {
    EXPECT_EQ(found.launches.at(0).data.rays.hint.at(thread), std::max(thread % kWidth, thread / kWidth));
  }
}

}  // namespace
}  // namespace rayreplay::test
