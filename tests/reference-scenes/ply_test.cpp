#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "capture/reference/scene.hpp"
#include "mesh_files.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::reference {
namespace {

using test::error_of;
using test::kPly;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(Ply, ThreeEncodingsGiveOneMesh) {
  const TemporaryFolder folder;
  const RenderScene ascii = make_scene(folder.write("a.ply", kPly), nullptr);
  const auto& mesh = ascii.geometries.at(0).geometry;
  EXPECT_THAT(mesh.indices, ElementsAre(0, 1, 2, 0, 2, 3, 0, 1, 4, 1, 2, 4));
  EXPECT_THAT(mesh.vertices, ElementsAre(0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0.5F, 1, 0.5F));
  for (const bool big : {false, true}) {
    const RenderScene binary = make_scene(folder.write("b.ply", test::binary_ply(big)), nullptr);
    EXPECT_EQ(binary.geometries.at(0).geometry.indices, mesh.indices);
    EXPECT_EQ(binary.geometries.at(0).geometry.vertices, mesh.vertices);
  }
}

TEST(Ply, NormalsAndTextureCoordinates) {
  const TemporaryFolder folder;
  const RenderScene scene = make_scene(
      folder.write("n.ply",
                   "ply\r\nformat ascii 1.0\r\nelement vertex 3\r\nproperty double nx\r\nproperty double ny\r\n"
                   "property double nz\r\nproperty double x\r\nproperty double y\r\nproperty double z\r\n"
                   "property float s\r\nproperty float t\r\nelement face 1\r\n"
                   "property list uint8 uint32 vertex_index\r\nend_header\r\n"
                   "0 0 2 0 0 0 0 0\r\n0 0 2 1 0 0 1 0\r\n0 0 2 0 1 0 0 1\r\n3 0 1 2\r\n"),
      nullptr);
  const SceneGeometry& part = scene.geometries.at(0);
  EXPECT_THAT(part.normals, ElementsAre(0, 0, 1, 0, 0, 1, 0, 0, 1));
  EXPECT_THAT(part.uvs, ElementsAre(0, 1, 1, 1, 0, 0));
}

TEST(Ply, BadFilesAreNamedWithTheirPlace) {
  const TemporaryFolder folder;
  const std::string good(kPly);
  const std::string binary = test::binary_ply(false);
  struct Bad {
    std::string text;
    const char* message;
  };
  std::string nan_binary = binary;
  nan_binary.replace(nan_binary.find("end_header\n") + 11, 4, std::string("\0\0\300\177", 4));
  std::string index_binary = binary;
  index_binary[binary.find("end_header\n") + 11 + 5 * 13 + 2] = 5;
  for (const auto& [text, message] : {
           Bad{"", "bad.ply:1: the file is not a PLY file (found an empty file"},
           Bad{"solid", "the file is not a PLY file"},
           Bad{good.substr(0, 60), "the header is cut off"},
           Bad{replaced(good, "ascii", "utf8"), "bad.ply:2: the format is unknown (found 'utf8'"},
           Bad{replaced(good, "format ascii 1.0\n", ""), "the header names no format"},
           Bad{replaced(good, "float x", "half x"), "a property's type is unknown (found 'half'"},
           Bad{replaced(good, "element vertex 5", "element vertex many"), "count is not a whole number"},
           Bad{replaced(good, "element vertex 5", "element vertex 4000000000"), "shorter than its header says"},
           Bad{replaced(binary, "element vertex 5", "element vertex 18446744073709551615"),
               "shorter than its header says"},
           Bad{replaced(good, "property float x", "color float x"), "the header's line is not understood"},
           Bad{replaced(good, "list uchar int vertex_indices", "list float int vertex_indices"),
               "a list's count is not of a whole type"},
           Bad{replaced(good, "float x", "float w"), "the vertices have no place"},
           Bad{replaced(good, "vertex_indices", "corners"), "the faces name no vertices"},
           Bad{replaced(good, "0 0 0 1\n", "0 nan 0 1\n"), "bad.ply:vertex[0].y: a value is not finite (found nan"},
           Bad{replaced(good, "0 0 0 1\n", "0 0 1e60 1\n"), "vertex[0].z: a value is not finite"},
           Bad{replaced(good, "0 0 0 1\n", "0 0 x 1\n"), "vertex[0]: a value is not a number (found 'x'"},
           Bad{nan_binary, "vertex[0].x: a value is not finite (found nan"},
           Bad{index_binary, "face[0]: a vertex index is out of range (found 5; expected less than 5"},
           Bad{replaced(good, "9 3 0 1 4", "9 3 0 1 5"), "face[1]: a vertex index is out of range (found 5"},
           Bad{replaced(good, "9 3 0 1 4", "9 3 0 1 -1"), "face[1]: a vertex index is out of range (found -1"},
           Bad{replaced(good, "9 3 0 1 4", "9 2 0 1"), "face[1]: a face has too few corners"},
           Bad{replaced(good, "9 3 0 1 4", "9 -3 0 1"), "a list's length is not possible (found -3"},
           Bad{replaced(good, "9 3 0 1 4", "9 1e9 0 1"), "a list's length is not possible"},
           Bad{good.substr(0, good.size() - 30), "face[1].vertex_indices: a list's length is not possible (found 3"},
           Bad{good.substr(0, good.size() - 12),
               "element edge: the file is shorter than its header says (found 3 bytes left"},
           Bad{good.substr(0, good.size() - 6), "edge[0]: the file is cut off (found the end of the file"},
           Bad{binary.substr(0, binary.size() - 2), "edge[0].weights: a list's length is not possible (found 2"},
           Bad{binary.substr(0, binary.size() - 40), "face[1]: the file is cut off (found the end of the file"},
           Bad{replaced(good.substr(0, good.find("9 4 0")), "element face 3", "element face 0"), "bad.ply"},
       }) {
    const std::string path = folder.write("bad.ply", text);
    const auto error = error_of([&] { (void)make_scene(path, nullptr); });
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST(Ply, NoFacesIsAnError) {
  const TemporaryFolder folder;
  const std::string path = folder.write("points.ply",
                                        "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float "
                                        "y\nproperty float z\nend_header\n1 2 3\n");
  const auto error = error_of([&] { (void)make_scene(path, nullptr); });
  EXPECT_THAT(error.what(), HasSubstr("the file holds no triangles"));
}

}  // namespace
}  // namespace rayreplay::reference
