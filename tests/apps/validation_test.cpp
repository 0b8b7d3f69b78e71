// Under the Khronos validation layer, synchronisation included, the programs call the API without fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/apps/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

// "info" makes the layer greet, which proves that it was there.
constexpr const char* kSettings =
    "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n"
    "khronos_validation.report_flags = error,warn,info\n"
    "khronos_validation.log_filename = stdout\n"
    "khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT\n";

struct Case {
  std::string name;
  std::string program;
  std::vector<std::string> arguments;
};

void PrintTo(const Case& value, std::ostream* out) {
  *out << value.name;
}

class Validation : public testing::TestWithParam<Case> {};

TEST_P(Validation, FindsNothing) {
  const TemporaryFolder folder;
  std::ignore = folder.write("vk_layer_settings.txt", kSettings);
  std::vector<std::string> arguments{"--device",
                                     "llvmpipe",
                                     "--size",
                                     "9x5",
                                     "--spp",
                                     "1",
                                     "--depth",
                                     "4",
                                     "--frames",
                                     "2",
                                     "--launches-per-frame",
                                     "2",
                                     "--time",
                                     "--image",
                                     folder / "picture.png"};
  const std::vector<std::string>& more = GetParam().arguments;
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Outcome outcome = run_program(
      GetParam().program, arguments,
      {{"VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation"}, {"VK_LAYER_SETTINGS_PATH", folder.path().string()}});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  const std::string text = outcome.output + outcome.errors;
  EXPECT_THAT(text, testing::HasSubstr("Khronos Validation Layer Active"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("VUID")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("Validation Error")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("Validation Warning")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("SYNC-HAZARD")));
}

INSTANTIATE_TEST_SUITE_P(
    Programs, Validation,
    testing::Values(Case{"one_weekend", kOneWeekend, {}},
                    Case{"one_weekend_groups", kOneWeekend, {"--hit-groups", "per-material", "--any-hit"}},
                    Case{"one_weekend_recursion", kOneWeekend, {"--recursion", "--opaque", "no"}},
                    Case{"viewer_hall", kMeshViewer, {"--scene", "hall", "--compact", "--index16"}},
                    Case{"viewer_animate", kMeshViewer, {"--scene", "hall", "--animate", "--alpha"}},
                    Case{"viewer_mixed",
                         kMeshViewer,
                         {"--scene", "cornell:glass_sphere=true", "--recursion", "--hit-groups", "per-material",
                          "--any-hit"}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace rayreplay::test
