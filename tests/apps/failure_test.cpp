// What the programs refuse, with which exit code and message (docs/exit-codes.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/apps/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

using testing::HasSubstr;

struct Case {
  std::string name;
  std::string program;
  std::vector<std::string> arguments;
  int code = 0;
  std::string message;
};

void PrintTo(const Case& value, std::ostream* out) {
  *out << value.name;
}

class Failure : public testing::TestWithParam<Case> {};

TEST_P(Failure, IsOneLineWithItsCode) {
  const Case& test = GetParam();
  const Outcome outcome = run_program(test.program, test.arguments);
  EXPECT_EQ(outcome.code, test.code) << outcome.errors;
  EXPECT_THAT(outcome.errors, HasSubstr(test.message));
  EXPECT_THAT(outcome.errors, HasSubstr(": error: "));
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  EXPECT_EQ(outcome.output, "");
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Failure,
    testing::Values(
        Case{"SizeZero", kOneWeekend, {"--size", "0x3"}, 2, "--size: not a picture's size (found '0x3'"},
        Case{"SizeWord", kOneWeekend, {"--size", "big"}, 2, "not a picture's size"},
        Case{"SizeTail", kOneWeekend, {"--size", "3x4x5"}, 2, "not a picture's size"},
        Case{"SizeOverflow", kOneWeekend, {"--size", "99999999999x4"}, 2, "not a picture's size"},
        Case{"SizeNegative", kOneWeekend, {"--size", "-3x4"}, 2, "not a picture's size"},
        Case{"SizeOfDevice", kOneWeekend, {"--size", "60000x2"}, 5, "larger than the device takes"},
        Case{"NoSamples", kOneWeekend, {"--spp", "0"}, 2, "--spp"},
        Case{"UnknownOption", kOneWeekend, {"--sized", "3x3"}, 2, "did you mean '--size'?"},
        Case{"UnknownArgument", kMeshViewer, {"hall"}, 2, "unexpected argument (found 'hall')"},
        Case{"UnknownGroups", kOneWeekend, {"--hit-groups", "none"}, 2, "--hit-groups"},
        Case{"AnyHitOfOpaque", kOneWeekend, {"--any-hit", "--opaque", "yes"}, 2, "opaque geometry calls no any-hit"},
        Case{"ReorderAndRecursion", kOneWeekend, {"--ser", "--recursion"}, 2, "--ser, --recursion"},
        Case{"NoReorderCallAlone", kOneWeekend, {"--no-reorder-call"}, 2, "add --ser"},
        Case{"TooMuchWork", kOneWeekend, {"--hit-work", "1000001"}, 2, "--hit-work"},
        Case{"NoReorder", kOneWeekend, {"--device", "llvmpipe", "--ser"}, 6, "does not reorder threads"},
        Case{"DeepRecursion",
             kOneWeekend,
             {"--device", "llvmpipe", "--recursion", "--depth", "32"},
             2,
             "Fix: add --depth 31"},
        Case{"DeepRecursionWithShadows",
             kMeshViewer,
             {"--device", "llvmpipe", "--recursion", "--depth", "31"},
             2,
             "Fix: add --depth 30"},
        Case{"NoSuchDeviceNumber", kOneWeekend, {"--device", "99"}, 2, "there is no such device (found '99'"},
        Case{"NoSuchDeviceName", kMeshViewer, {"--device", "Voodoo"}, 2, "there is no such device (found 'Voodoo'"},
        Case{"NoSwizzle", kOneWeekend, {"--swizzle", "/nonexistent.bin"}, 3, "cannot read the swizzle"},
        Case{
            "NoFolder", kOneWeekend, {"--image", "/nonexistent/picture.png"}, 4, "the picture's folder does not exist"},
        Case{"NoMesh", kMeshViewer, {"--scene", "/nonexistent.obj"}, 3, "/nonexistent.obj"},
        Case{"NoScene", kMeshViewer, {"--scene", "hal"}, 2, "did you mean 'hall'?"},
        Case{"ShortCamera", kMeshViewer, {"--camera", "1,2,3"}, 2, "--camera"},
        Case{"CameraAtItself", kMeshViewer, {"--camera", "1,2,3,1,2,3"}, 2, "not a camera"},
        Case{"NoLights", kMeshViewer, {"--scene", "one-weekend", "--light", "emissive"}, 2, "no emissive triangles"}),
    [](const auto& test) { return test.param.name; });

TEST(Failure, NoDriver) {
  for (const char* program : {kOneWeekend, kMeshViewer}) {
    const Outcome outcome = run_program(program, {"--size", "4x4"}, {{"VK_DRIVER_FILES", "/nonexistent"}});
    EXPECT_EQ(outcome.code, 6);
    EXPECT_THAT(outcome.errors, HasSubstr("there is no Vulkan d"));
    EXPECT_THAT(outcome.errors, HasSubstr("VK_DRIVER_FILES"));
  }
}

TEST(Failure, SwizzleThatIsNoPermutation) {
  const TemporaryFolder folder;
  const auto run = [&](const std::string& bytes) {
    return run_program(kOneWeekend, {"--size", "2x1", "--swizzle", folder.write("swizzle.bin", bytes)});
  };
  const Outcome twice = run(std::string(8, '\0'));
  EXPECT_EQ(twice.code, 3);
  EXPECT_THAT(twice.errors, HasSubstr("swizzle.bin[1]: the swizzle is no permutation of the threads (found 0"));
  const Outcome outside = run(std::string("\2\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(outside.code, 3);
  EXPECT_THAT(outside.errors, HasSubstr("swizzle.bin[0]"));
  const Outcome short_one = run("abc");
  EXPECT_EQ(short_one.code, 3);
  EXPECT_THAT(short_one.errors, HasSubstr("found 3 bytes; expected 8 bytes"));
}

TEST(Help, NamesEveryOptionAndDevice) {
  for (const char* program : {kOneWeekend, kMeshViewer}) {
    const Outcome help = run_program(program, {"--help"});
    EXPECT_EQ(help.code, 0);
    for (const char* option : {"--device", "--size", "--spp", "--depth", "--frames", "--any-hit", "--swizzle",
                               "--recursion", "--ser", "--opaque", "--image", "--seed", "--time", "--hit-groups",
                               "--launches-per-frame", "--no-reorder-call", "--hit-work"}) {
      EXPECT_THAT(help.output, HasSubstr(option));
    }
    const Outcome devices = run_program(program, {"--list-devices"});
    EXPECT_EQ(devices.code, 0);
    EXPECT_THAT(devices.output, testing::ContainsRegex("[0-9]+: llvmpipe.* \\(software, traces rays\\)\n"));
  }
}

}  // namespace
}  // namespace rayreplay::test
