// A developer's markers in an application without SER, from its shader to the trace and the what-ifs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/trace/reader.hpp"
#include "tests/app/run_command.hpp"
#include "tests/support/software_driver.hpp"

namespace rayreplay::test {
namespace {

using testing::HasSubstr;

TEST(Markers, BecomeHintsOfATraceThatWhatIfsSortBy) {
  use_software_driver();
  const Scratch scratch;
  const std::string path = scratch / "t.rrt";
  const Outcome captured = run_command({"capture", "-o", path, "--", RAYREPLAY_SCENARIOS, "marked"});
  ASSERT_EQ(captured.code, 0) << captured.errors;
  const trace::Trace found = trace::load(path);
  ASSERT_EQ(found.launches.size(), 1U);
  const trace::Launch& launch = found.launches[0];
  constexpr std::uint32_t kWidth = 16;
  ASSERT_EQ(launch.data.rays.hint.size(), std::size_t{kWidth} * kWidth);
  for (std::uint32_t thread = 0; thread < kWidth * kWidth; ++thread) {
    EXPECT_EQ(launch.data.rays.hint[thread], thread % kWidth * 5 + thread / kWidth);
    EXPECT_EQ(launch.data.rays.hint_bits[thread], 32);
  }
  EXPECT_THAT(run_command({"info", path}).output,
              HasSubstr("a marker of NonSemantic.rayreplay is not recorded: the operand of Hint is no 32-bit integer"));
  // Only `captured` needs the column: a trace without it is refused.
  const auto whatif = [&](const std::string& trace) {
    return run_command({"whatif", trace, "--models", "ser:hint=captured"});
  };
  EXPECT_EQ(whatif(path).code, 0) << whatif(path).errors;
  const std::string unmarked = scratch / "u.rrt";
  ASSERT_EQ(run_command({"capture", "-o", unmarked, "--", RAYREPLAY_SCENARIOS, "modules"}).code, 0);
  EXPECT_THAT(whatif(unmarked).errors, HasSubstr("the trace has no coherence hints"));
  // As a formula.
  const Outcome formula = run_command({"whatif", path, "--hint", "low:3=hint % 8", "--models", "ser:hint=low"});
  EXPECT_EQ(formula.code, 0) << formula.errors;
}

}  // namespace
}  // namespace rayreplay::test
