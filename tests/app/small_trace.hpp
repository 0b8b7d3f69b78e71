// One small trace for all tests of the command: made once per program by the built-in tracer itself.
#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "tests/app/run_command.hpp"

namespace rayreplay::test {

class SmallTrace : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    made_ = std::make_unique<Scratch>();
    const Outcome outcome = run_command({"trace", "--scene", "one-weekend", "--size", "64x36", "--spp", "2", "-o",
                                         *made_ / "t.rrt", "--image", *made_ / "t.png"});
    ASSERT_EQ(outcome.code, 0) << outcome.errors;
  }
  static void TearDownTestSuite() {
    made_.reset();
  }
  [[nodiscard]] static std::string trace() {
    return *made_ / "t.rrt";
  }
  [[nodiscard]] static std::string image() {
    return *made_ / "t.png";
  }

  Scratch scratch_;

 private:
  static inline std::unique_ptr<Scratch> made_;
};

}  // namespace rayreplay::test
