#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/accelerator.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::kernels {
namespace {

using ::testing::HasSubstr;

TEST(WithoutGpu, AutoAndCpuAreTheProcessor) {
  for (const char* choice : {"auto", "cpu", "Auto", "CPU"}) {
    std::string told;
    const auto accelerator = make_accelerator(choice, {}, [&](const std::string& line) { told += line; });
    EXPECT_FALSE(accelerator->has_device()) << choice;
    EXPECT_EQ(told, "") << choice;
  }
}

TEST(WithoutGpu, DevicesThatAreAskedForSayHowToGetTheSupport) {
  for (const char* choice : {"vulkan", "vulkan:0", "all", "H200"}) {
    const ErrorInfo error = test::error_of(ErrorKind::Missing, [&] { return make_accelerator(choice, {}, {}); });
    EXPECT_THAT(error.what, HasSubstr("without GPU support"));
    EXPECT_THAT(error.where, HasSubstr(choice));
    EXPECT_THAT(error.fix, HasSubstr("RAYREPLAY_GPU=ON"));
  }
  EXPECT_THAT(test::error_of(ErrorKind::Missing, [] { return list_devices(); }).what, HasSubstr("without GPU support"));
}

}  // namespace
}  // namespace rayreplay::kernels
