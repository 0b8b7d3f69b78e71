#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "capture/reference/scene.hpp"
#include "mesh_files.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::reference {
namespace {

using test::error_of;
using test::kMtl;
using test::kObj;
using test::TemporaryFolder;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Obj, QuadsNegativeIndicesAndMaterials) {
  const TemporaryFolder folder;
  (void)folder.write("scene.mtl", kMtl);
  std::string spec;
  const RenderScene scene = make_scene(folder.write("scene.OBJ", kObj), &spec);
  EXPECT_EQ(spec, (folder / "scene.OBJ").string());
  EXPECT_TRUE(scene.notes.empty()) << scene.notes.front();
  ASSERT_EQ(scene.geometries.size(), 2U);
  ASSERT_EQ(scene.instances.size(), 2U);

  const SceneGeometry& paint = scene.geometries[0];
  EXPECT_THAT(paint.geometry.indices, ElementsAre(0, 1, 2, 0, 2, 3));
  EXPECT_THAT(paint.geometry.vertices, ElementsAre(0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0));
  EXPECT_THAT(paint.uvs, ElementsAre(0, 1, 1, 1, 1, 0, 0, 0));
  const Material& painted = scene.materials.at(paint.material.at(0));
  EXPECT_EQ(painted.name, "paint");
  EXPECT_EQ(painted.kind, MaterialKind::Diffuse);
  EXPECT_EQ(painted.color.z(), 0.6F);

  const SceneGeometry& steel = scene.geometries[1];
  EXPECT_THAT(steel.geometry.vertices, ElementsAre(0, 0, -2, 1, 0, -2, 0, 1, -2));
  EXPECT_THAT(steel.normals, ElementsAre(0, 0, 1, 0, 0, 1, 0, 0, 1)) << "missing normals are the face's";
  EXPECT_EQ(scene.materials.at(steel.material.at(0)).kind, MaterialKind::Metal);
  EXPECT_EQ(scene.materials.at(steel.material.at(0)).color.x(), 0.9F);
  EXPECT_EQ(scene.instances[1].hit_group_offset, static_cast<std::uint32_t>(MaterialKind::Metal));
}

TEST(Obj, EmissiveAndGlass) {
  const TemporaryFolder folder;
  (void)folder.write("m.mtl", kMtl);
  const RenderScene scene = make_scene(
      folder.write("a.obj", "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl lamp\nf 1 2 3\nusemtl glass\nf 1 3 2\n"),
      nullptr);
  ASSERT_EQ(scene.geometries.size(), 2U);
  const Material& glass = scene.materials.at(scene.geometries[0].material.at(0));
  EXPECT_EQ(glass.kind, MaterialKind::Dielectric);
  EXPECT_EQ(glass.refraction_index, 1.4F);
  const Material& lamp = scene.materials.at(scene.geometries[1].material.at(0));
  EXPECT_EQ(lamp.kind, MaterialKind::Emissive);
  EXPECT_EQ(lamp.color.y(), 6);
  EXPECT_TRUE(scene.geometries[0].normals.empty());
}

TEST(Obj, AlphaTextureMakesTheGeometryNotOpaque) {
  const TemporaryFolder folder;
  // An uncompressed TGA picture of 2x1 texels, 8-bit grey: black, white.
  std::string tga("\0\0\3\0\0\0\0\0\0\0\0\0\2\0\1\0\10\0", 18);
  tga += std::string("\0\377", 2);
  (void)folder.write("leaf.tga", tga);
  (void)folder.write("m.mtl", "newmtl leaf\nKd 0 1 0\nmap_d leaf.tga\nnewmtl torn\nKd 1 1 1\nmap_Kd missing.png\n");
  const RenderScene scene = make_scene(
      folder.write(
          "a.obj",
          "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nusemtl leaf\nf 1/1 2/1 3/1\nusemtl torn\nf 1 2 3\n"),
      nullptr);
  ASSERT_EQ(scene.geometries.size(), 2U);
  EXPECT_EQ(scene.blases.size(), 1U) << "one kind, one bottom-level structure";
  EXPECT_TRUE(scene.geometries[0].geometry.opaque);
  EXPECT_FALSE(scene.geometries[1].geometry.opaque);
  ASSERT_EQ(scene.textures.size(), 1U);
  EXPECT_THAT(scene.textures[0].rgba, ElementsAre(255, 255, 255, 0, 255, 255, 255, 255));
  EXPECT_THAT(scene.notes, Contains(AllOf(HasSubstr("texture dropped"), HasSubstr("missing.png"))));
}

TEST(Obj, MissingMaterialsAndDegenerateTrianglesAreNoted) {
  const TemporaryFolder folder;
  const RenderScene scene = make_scene(
      folder.write("a.obj", "mtllib none.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl what\nf 1 2 3\nf 1 2 2\nl 1 2\n"),
      nullptr);
  EXPECT_THAT(scene.notes, Contains(AllOf(HasSubstr("material library dropped"), HasSubstr("none.mtl"))));
  EXPECT_THAT(scene.notes, Contains(HasSubstr(":5: material 'what' is not defined")));
  EXPECT_THAT(scene.notes, Contains(HasSubstr("1 degenerate triangles")));
  EXPECT_THAT(scene.notes, Contains(HasSubstr("1 points, lines")));
  EXPECT_EQ(scene.geometries.at(0).geometry.primitives(), 2U);
}

TEST(Obj, CameraFramesTheBoundingBox) {
  const TemporaryFolder folder;
  const RenderScene scene = make_scene(folder.write("a.obj", "v 10 0 0\nv 12 0 0\nv 10 2 0\nf 1 2 3\n"), nullptr);
  EXPECT_EQ(scene.camera.at.x(), 11);
  EXPECT_EQ(scene.camera.at.y(), 1);
  EXPECT_GT(scene.camera.from.z(), 3);
}

struct BadObj {
  const char* text;
  const char* message;
};

TEST(Obj, BadFilesAreNamedWithTheirLine) {
  const TemporaryFolder folder;
  const std::string three = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  for (const auto& [text, message] : {
           BadObj{"v 0 nan 0\n", "bad.obj:1: a value is not finite (found nan"},
           BadObj{"v 0 0 1e999\n", "bad.obj:1: a value is not finite (found 1e999"},
           BadObj{"v 0 0 1e39\n", "a value is not finite"},
           BadObj{"v 0 0\n", "bad.obj:1: a line has too few numbers (found 2; expected 3 numbers)"},
           BadObj{"v 0 0 zero\n", "a value is not a number (found zero"},
           BadObj{"\nvn 0 0 inf\n", "bad.obj:2: a value is not finite"},
           BadObj{"V3\nf 1 2 4\n", "bad.obj:5: a face's vertex index is out of range (found 4; expected 1 to 3"},
           BadObj{"V3\nf -4 1 2\n", "a face's vertex index is out of range (found -4"},
           BadObj{"V3\nf 0 1 2\n", "found 0;"},
           BadObj{"V3\nf 1/1 2/1 3/1\n", "a face's texture index is out of range"},
           BadObj{"V3\nf 1//7 2//7 3//7\n", "a face's normal index is out of range (found 7"},
           BadObj{"V3\nf 1 2\n", "a face has too few corners (found 2; expected at least 3)"},
           BadObj{"V3\nf 1 2 x\n", "a face's index is not a whole number (found x"},
           BadObj{"V3\n", "bad.obj: the file holds no triangles"},
           BadObj{"", "the file holds no triangles"},
       }) {
    std::string full = text;
    if (full.starts_with("V3\n")) {
      full = three + full.substr(2);
    }
    const std::string path = folder.write("bad.obj", full);
    const auto error = error_of([&] { (void)make_scene(path, nullptr); });
    EXPECT_EQ(error.kind(), ErrorKind::Input) << text;
    EXPECT_THAT(error.what(), HasSubstr(message));
    EXPECT_FALSE(error.info().fix.empty());
  }
}

TEST(MeshFile, MissingFoldersAndOtherFormats) {
  const TemporaryFolder folder;
  const auto missing = error_of([&] { (void)make_scene((folder / "none.obj").string(), nullptr); });
  EXPECT_EQ(missing.kind(), ErrorKind::Input);
  EXPECT_THAT(missing.what(), HasSubstr("No such file"));
  const std::string stl = folder.write("a.stl", "solid");
  const auto other = error_of([&] { (void)make_scene(stl, nullptr); });
  EXPECT_EQ(other.kind(), ErrorKind::Input);
  EXPECT_THAT(other.what(), HasSubstr("expected .obj, .ply, .gltf or .glb"));
  static_cast<void>(error_of([&] { (void)make_scene((folder / ".").string(), nullptr); }));
}

TEST(MeshFile, HugeScenesAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.write("huge.obj", "v 3e38 0 0\nv -3e38 0 0\nv 0 3e38 0\nf 1 2 3\n");
  const auto error = error_of([&] { (void)make_scene(path, nullptr); });
  EXPECT_THAT(error.what(), HasSubstr("too large"));
}

}  // namespace
}  // namespace rayreplay::reference
