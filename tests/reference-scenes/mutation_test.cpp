// Damaged meshes: whatever the bytes, the importers throw Error or give a scene that passes `check` (make_scene calls
// it). Run under the asan preset to see reads out of bounds.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/error.hpp"
#include "capture/reference/scene.hpp"
#include "mesh_files.hpp"

namespace rayreplay::reference {
namespace {

/// One to four edits: a bit, a byte, a cut, a doubled or removed stretch, a number put in.
std::string mutated(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  static const char* const kNumbers[] = {"-1", "0", "4294967295", "2147483648", "18446744073709551615", "1e39", "nan"};
  const std::size_t edits = 1 + below(4);
  for (std::size_t edit = 0; edit < edits && !bytes.empty(); ++edit) {
    const std::size_t at = below(bytes.size());
    const std::size_t some = std::min(bytes.size() - at, 1 + below(12));
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(below(256));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, some));
        break;
      case 4:
        bytes.erase(at, some);
        break;
      default: {
        // Where a number stands, so that the file often still parses.
        const std::size_t digit = bytes.find_first_of("0123456789", at);
        if (digit != std::string::npos) {
          const std::size_t end = std::min(bytes.find_first_not_of("0123456789", digit), bytes.size());
          bytes.replace(digit, end - digit, kNumbers[below(std::size(kNumbers))]);
        }
      }
    }
  }
  return bytes;
}

void expect_error_or_scene(const std::string& extension, const std::string& sound, std::uint32_t seed) {
  const test::TemporaryFolder folder;
  (void)folder.write("scene.mtl", test::kMtl);
  std::mt19937 random(seed);
  int scenes = 0;
  int errors = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::string path = folder.write("mutant" + extension, mutated(sound, random));
    try {
      const RenderScene scene = make_scene(path, nullptr);
      EXPECT_FALSE(scene.instances.empty());
      ++scenes;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Input) << error.what();
      ++errors;
    }
  }
  EXPECT_GT(scenes, 0) << "the mutations never left a mesh whole";
  EXPECT_GT(errors, 100) << "the mutations hardly did any damage";
}

TEST(Mutation, Obj) {
  expect_error_or_scene(".obj", std::string(test::kObj), 1);
}
TEST(Mutation, PlyAscii) {
  expect_error_or_scene(".ply", std::string(test::kPly), 2);
}
TEST(Mutation, PlyLittleEndian) {
  expect_error_or_scene(".ply", test::binary_ply(false), 3);
}
TEST(Mutation, PlyBigEndian) {
  expect_error_or_scene(".ply", test::binary_ply(true), 4);
}
TEST(Mutation, Gltf) {
  const std::string image = R"(,"textures":[{"source":0}],"images":[{"bufferView":0,"mimeType":"image/png"}],)"
                            R"("cameras":[{"type":"perspective","perspective":{"yfov":1,"znear":0.1}}])";
  expect_error_or_scene(".gltf", test::gltf(image), 5);
}
TEST(Mutation, Glb) {
  expect_error_or_scene(".glb", test::glb(), 6);
}

TEST(Mutation, MaterialLibrary) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("scene.obj", test::kObj);
  std::mt19937 random(7);
  for (int i = 0; i < 1500; ++i) {
    (void)folder.write("scene.mtl", mutated(std::string(test::kMtl) + "map_Kd -s 1 1 1 a.png\nPr 0.5\nPm 1\n", random));
    EXPECT_NO_THROW((void)make_scene(path, nullptr)) << i;
  }
}

}  // namespace
}  // namespace rayreplay::reference
