// mesh_viewer on lavapipe: generated scenes and mesh files, and variants that must not change the picture.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/apps/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

using Arguments = std::vector<std::string>;

Arguments small(const std::string& scene, const Arguments& more = {}) {
  Arguments arguments{"--scene", scene, "--size", "21x14", "--spp", "1", "--depth", "3"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

class MeshViewerScene : public testing::TestWithParam<std::string> {};

TEST_P(MeshViewerScene, VariantsRenderTheSamePicture) {
  const Pixels plain = render(kMeshViewer, small(GetParam()));
  const std::vector<Arguments> variants{{},
                                        {"--any-hit"},
                                        {"--opaque", "no"},
                                        {"--hit-groups", "per-material"},
                                        {"--recursion"},
                                        {"--recursion", "--hit-groups", "per-material", "--any-hit"},
                                        {"--compact"},
                                        {"--index16"},
                                        {"--animate"},  // its first frame is the scene as it is
                                        {"--frames", "2"}};
  for (const Arguments& variant : variants) {
    EXPECT_EQ(plain, render(kMeshViewer, small(GetParam(), variant))) << testing::PrintToString(variant);
  }
}

TEST_P(MeshViewerScene, OptionsThatChangeThePictureDo) {
  const Pixels plain = render(kMeshViewer, small(GetParam()));
  for (const Arguments& variant : {Arguments{"--seed", "5"},
                                   {"--alpha"},
                                   {"--light", "none"},
                                   {"--light", "sun"},
                                   {"--animate", "--frames", "4"}}) {
    EXPECT_NE(plain, render(kMeshViewer, small(GetParam(), variant))) << testing::PrintToString(variant);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenes, MeshViewerScene, testing::Values("hall", "cornell:glass_sphere=true"),
                         [](const auto& test) { return test.param.substr(0, test.param.find(':')); });

/// Leaves of the hall are alpha-tested: as opaque quads they hide more.
TEST(MeshViewer, AlphaTestIsSeen) {
  EXPECT_NE(render(kMeshViewer, small("hall")), render(kMeshViewer, small("hall", {"--opaque", "yes"})));
}

TEST(MeshViewer, RefitLeavesTheLastFrame) {
  const Arguments moving = small("cornell", {"--animate", "--frames", "4"});
  EXPECT_EQ(render(kMeshViewer, moving), render(kMeshViewer, moving));
}

constexpr const char* kSquare =
    "mtllib square.mtl\n"
    "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\n"
    "usemtl red\n"
    "f 1 2 3 4\n";

/// A red square that fills the middle of the picture, and a camera that looks elsewhere.
TEST(MeshViewer, RendersAFileFromACamera) {
  const TemporaryFolder folder;
  std::ignore = folder.write("square.mtl", "newmtl red\nKd 0.8 0.1 0.1\n");
  const std::string file = folder.write("square.obj", kSquare);
  const auto middle = [&](const std::string& camera) {
    const Pixels picture = render(kMeshViewer, {"--scene", file, "--size", "9x9", "--spp", "16", "--depth", "2",
                                                "--light", "none", "--camera", camera});
    const std::size_t at = (4 * 9 + 4) * 3;
    return std::vector<int>{picture.rgb[at], picture.rgb[at + 1], picture.rgb[at + 2]};
  };
  const std::vector<int> red = middle("0,0,5,0,0,0,40");
  EXPECT_GT(red[0], red[1] + 60);
  EXPECT_GT(red[0], red[2] + 60);
  const std::vector<int> sky = middle("0,0,5,0,0,10");
  EXPECT_GE(sky[2], sky[0]);
  EXPECT_GT(sky[0], 100);
}

/// More vertices than 16 bits can number: those geometries keep 32-bit indices, and the program says so.
TEST(MeshViewer, LargeGeometryKeepsWideIndices) {
  const TemporaryFolder folder;
  constexpr int kSide = 300;  // 90,000 vertices
  std::string obj;
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      obj += "v " + std::to_string(x) + " " + std::to_string((x * y) % 7) + " " + std::to_string(y) + "\n";
    }
  }
  for (int y = 0; y + 1 < kSide; ++y) {
    for (int x = 0; x + 1 < kSide; ++x) {
      const int first = y * kSide + x + 1;
      obj +=
          "f " + std::to_string(first) + " " + std::to_string(first + kSide) + " " + std::to_string(first + 1) + "\n";
      obj += "f " + std::to_string(first + 1) + " " + std::to_string(first + kSide) + " " +
             std::to_string(first + kSide + 1) + "\n";
    }
  }
  const std::string file = folder.write("grid.obj", obj);
  EXPECT_EQ(render(kMeshViewer, small(file)), render(kMeshViewer, small(file, {"--index16"})));
  const Outcome outcome = run_program(kMeshViewer, {"--scene", file, "--size", "2x2", "--spp", "1", "--index16"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.errors, testing::HasSubstr("keep 32-bit indices"));
}

}  // namespace
}  // namespace rayreplay::test
