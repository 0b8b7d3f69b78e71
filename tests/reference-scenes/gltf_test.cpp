#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "capture/reference/scene.hpp"
#include "capture/reference/vec.hpp"
#include "mesh_files.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::reference {
namespace {

using test::error_of;
using test::gltf;
using test::TemporaryFolder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_leaf_scene(const RenderScene& scene) {
  ASSERT_EQ(scene.geometries.size(), 1U);
  const SceneGeometry& leaf = scene.geometries[0];
  EXPECT_FALSE(leaf.geometry.opaque);
  EXPECT_EQ(leaf.geometry.name, "leaf");
  EXPECT_THAT(leaf.geometry.vertices, ElementsAre(0, 0, 0, 1, 0, 0, 0, 1, 0));
  EXPECT_THAT(leaf.geometry.indices, ElementsAre(0, 1, 2));
  EXPECT_THAT(leaf.uvs, ElementsAre(0, 0, 1, 0, 0, 1));
  const Material& ivy = scene.materials.at(leaf.material.at(0));
  EXPECT_EQ(ivy.kind, MaterialKind::Diffuse);
  EXPECT_EQ(ivy.alpha_cutoff, 0.25F);
  EXPECT_EQ(ivy.color.y(), 0.5F);
  ASSERT_EQ(scene.blases.size(), 1U);
  ASSERT_EQ(scene.instances.size(), 2U);
  // A quarter turn about y takes x to -z; then twice the size, then the parent's translation.
  const Vec3 turned = transform_point(as_transform(scene.instances[0].transform), {1, 0, 0});
  EXPECT_NEAR(turned.x(), 1, 1e-6);
  EXPECT_NEAR(turned.y(), 2, 1e-6);
  EXPECT_NEAR(turned.z(), 1, 1e-6);
  EXPECT_EQ(transform_point(as_transform(scene.instances[1].transform), {1, 0, 0}).x(), -4);
}

TEST(Gltf, TwoInstancesOfAMaskedMesh) {
  const TemporaryFolder folder;
  expect_leaf_scene(make_scene(folder.write("a.gltf", gltf()), nullptr));
}

TEST(Gltf, BinaryFilesReadTheSame) {
  const TemporaryFolder folder;
  expect_leaf_scene(make_scene(folder.write("a.glb", test::glb()), nullptr));
}

TEST(Gltf, MissingIndicesNumberTheVertices) {
  const TemporaryFolder folder;
  const RenderScene scene = make_scene(folder.write("a.gltf", replaced(gltf(), R"("indices":2,)", "")), nullptr);
  EXPECT_THAT(scene.geometries.at(0).geometry.indices, ElementsAre(0, 1, 2));
}

TEST(Gltf, MaterialKinds) {
  const TemporaryFolder folder;
  const auto material_of = [&](const std::string& json) {
    const std::string old = R"({"name":"ivy","alphaMode":"MASK","alphaCutoff":0.25,"pbrMetallicRoughness":)"
                            R"({"baseColorFactor":[0.1,0.5,0.2,1],"metallicFactor":0}})";
    const RenderScene scene = make_scene(folder.write("m.gltf", replaced(gltf(), old, json)), nullptr);
    EXPECT_TRUE(scene.geometries.at(0).geometry.opaque);
    return scene.materials.at(scene.geometries.at(0).material.at(0));
  };
  const Material metal = material_of(R"({"pbrMetallicRoughness":{"metallicFactor":1,"roughnessFactor":0.5}})");
  EXPECT_EQ(metal.kind, MaterialKind::Metal);
  EXPECT_EQ(metal.fuzz, 0.25F);
  const Material lamp = material_of(
      R"({"emissiveFactor":[1,0.5,0],"extensions":{"KHR_materials_emissive_strength":{"emissiveStrength":8}}})");
  EXPECT_EQ(lamp.kind, MaterialKind::Emissive);
  EXPECT_EQ(lamp.color.y(), 4);
  const Material glass = material_of(
      R"({"extensions":{"KHR_materials_transmission":{"transmissionFactor":1},"KHR_materials_ior":{"ior":1.3}}})");
  EXPECT_EQ(glass.kind, MaterialKind::Dielectric);
  EXPECT_EQ(glass.refraction_index, 1.3F);
  EXPECT_EQ(material_of(R"({"alphaMode":"BLEND","pbrMetallicRoughness":{"baseColorFactor":[1,1,1,0.2]}})").kind,
            MaterialKind::Dielectric);
}

TEST(Gltf, CameraOfTheFileWins) {
  const TemporaryFolder folder;
  const std::string text =
      replaced(gltf(R"(,"cameras":[{"type":"perspective","perspective":{"yfov":0.7853981633974483,"znear":0.1}}])"),
               R"({"children":[1],)", R"({"camera":0,"children":[1],)");
  const RenderScene scene = make_scene(folder.write("a.gltf", text), nullptr);
  EXPECT_EQ(scene.camera.from.z(), 3);
  EXPECT_LT(scene.camera.at.z(), 3);
  EXPECT_EQ(scene.camera.at.x(), scene.camera.from.x());
  EXPECT_NEAR(scene.camera.vertical_fov_degrees, 45, 1e-4);
}

TEST(Gltf, DroppedThingsAreNoted) {
  const TemporaryFolder folder;
  std::string text = replaced(gltf(R"(,"textures":[{"source":0}],"images":[{"uri":"none.png"}])"),
                              R"("metallicFactor":0)", R"("metallicFactor":0,"baseColorTexture":{"index":0})");
  text = replaced(text, R"("scale":[2,2,2])", R"("scale":[2,0,2])");
  const RenderScene scene = make_scene(folder.write("a.gltf", text), nullptr);
  EXPECT_THAT(scene.notes, Contains(HasSubstr("the picture 'none.png' is missing")));
  EXPECT_THAT(scene.notes, Contains(HasSubstr("1 nodes with a singular transform")));
  EXPECT_EQ(scene.instances.size(), 1U);
}

/// Neither a stack frame a node, nor time that is quadratic in the nodes: a minute and a half for these.
TEST(Gltf, AChainOfManyNodesIsWalked) {
  constexpr int kNodes = 400'000;
  std::string nodes = "[";
  for (int i = 1; i < kNodes; ++i) {
    nodes += "{\"children\":[" + std::to_string(i) + "]},";
  }
  const TemporaryFolder folder;
  const auto path =
      folder.write("chain.gltf", R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":)" + nodes +
                                     R"({"children":[7]}]})");
  const auto error = error_of([&] { (void)make_scene(path, nullptr); });
  EXPECT_THAT(error.what(), HasSubstr("nodes[7]: a node has two parents"));
}

TEST(Gltf, BadFilesAreNamedWithTheirPlace) {
  const TemporaryFolder folder;
  const std::string good = gltf();
  const std::string binary = test::glb();
  struct Bad {
    std::string text;
    const char* message;
  };
  std::string nan_glb = binary;
  nan_glb.replace(nan_glb.find(std::string("BIN\0", 4)) + 4, 4, std::string("\0\0\300\177", 4));
  std::string index_glb = binary;
  index_glb[index_glb.size() - 4] = 3;
  std::string deep = ",\"extras\":";
  for (int i = 0; i < 100000; ++i) {
    deep += '[';
  }
  for (int i = 0; i < 100000; ++i) {
    deep += ']';
  }
  for (const auto& [text, message] : {
           Bad{"", "the JSON cannot be parsed"},
           Bad{"{}", "the glTF document is not sound"},
           Bad{good.substr(0, good.size() / 2), "the JSON cannot be parsed"},
           Bad{gltf(deep), "the JSON is nested too deeply"},
           Bad{binary.substr(0, 30), "header: the file is cut off"},
           Bad{binary.substr(0, binary.size() - 20), "the glTF document is not sound"},
           Bad{nan_glb, "meshes[0].primitives[0].POSITION[0]: a value is not finite (found nan"},
           Bad{index_glb, "meshes[0].primitives[0].indices[2]: a vertex index is out of range (found 3; expected less"},
           Bad{replaced(good, R"("count":3,"type":"VEC3")", R"("count":4,"type":"VEC3")"),
               "POSITION: an accessor is empty or reaches past its buffer view"},
           Bad{replaced(good, R"("count":3,"type":"VEC3")", R"("count":9007199254740991,"type":"VEC3")"),
               "reaches past its buffer view"},
           Bad{replaced(good, R"("count":3,"type":"VEC3")", R"("byteOffset":40,"count":3,"type":"VEC3")"),
               "reaches past its buffer view"},
           Bad{replaced(good, R"("count":3,"type":"VEC3")", R"("count":3,"type":"VEC2")"),
               "an attribute has the wrong shape"},
           Bad{replaced(good, R"("count":3,"type":"VEC2")", R"("count":2,"type":"VEC2")"),
               "TEXCOORD_0: an attribute has the wrong shape (found 2 rows of 2; expected 3 rows of 2)"},
           Bad{replaced(good, R"("componentType":5123)", R"("componentType":5122)"), "the indices have the wrong type"},
           Bad{replaced(good, R"("componentType":5126,"count":3,"type":"VEC3")",
                        R"("componentType":5126,"count":3,"type":"VEC3","sparse":{"count":1,"indices":)"
                        R"({"bufferView":2,"componentType":5123},"values":{"bufferView":0}})"),
               "a sparse accessor is not supported"},
           Bad{replaced(good, R"("byteOffset":36,"byteLength":24)", R"("byteOffset":36,"byteLength":33)"),
               "bufferViews[1]: a buffer view reaches past its buffer (found its end at byte 69; expected at most 68"},
           Bad{replaced(good, R"("byteOffset":36)", R"("byteOffset":-36)"),
               "bufferViews[1].byteOffset: a value is not"},
           Bad{replaced(good, R"({"buffer":0,"byteOffset":36)", R"({"buffer":7,"byteOffset":36)"),
               "a buffer view's buffer is out of range (found 7"},
           Bad{replaced(good, R"("POSITION":0)", R"("POSITION":9)"), "an accessor is out of range (found 9"},
           Bad{replaced(good, R"("POSITION":0,)", ""), "a primitive has no positions"},
           Bad{replaced(good, R"("indices":2)", R"("indices":-5)"), "an accessor is out of range (found -5"},
           Bad{replaced(good, R"("material":0)", R"("material":4)"), "a material is out of range (found 4"},
           Bad{replaced(good, R"({"mesh":0,"matrix")", R"({"mesh":6,"matrix")"),
               "nodes[2]: a node's mesh is out of range"},
           Bad{replaced(good, R"("children":[1])", R"("children":[8])"), "nodes[8]: a node is out of range"},
           Bad{replaced(good, R"("children":[1])", R"("children":[0])"), "nodes[0]: a node has two parents"},
           Bad{replaced(good, R"("scene":0)", R"("scene":3)"), "the default scene is out of range"},
           Bad{replaced(good, R"("nodes":[0,2]}])", R"("nodes":[]}])"), "the file holds no triangles"},
           Bad{replaced(good, R"([1,2,3])", R"([1e300,2,3])"), "nodes[1]: a transform is not finite"},
           Bad{gltf(R"(,"extensionsRequired":["KHR_draco_mesh_compression"])"),
               "extensionsRequired: the file needs an extension that is not supported (found KHR_draco"},
           Bad{gltf(R"(,"images":[{"uri":"/etc/hostname"}])"), "images[0].uri: a uri leaves the file's folder"},
           Bad{gltf(R"(,"images":[{"uri":"a/../../b.png"}])"), "images[0].uri: a uri leaves the file's folder"},
           Bad{gltf(R"(,"images":[{"uri":"%2e%2E/b.png"}])"), "images[0].uri: a uri leaves the file's folder"},
           Bad{gltf(R"(,"images":[{"uri":"~/b.png"}])"), "images[0].uri: a uri leaves the file's folder"},
           Bad{gltf(R"(,"images":[{"uri":"data:/../../b.png"}])"), "images[0].uri: a uri leaves the file's folder"},
           Bad{replaced(good, "data:application/octet-stream;base64,", "../b.bin/"),
               "buffers[0].uri: a uri leaves the file's folder (found '../b.bin/"},
           Bad{replaced(good, "data:application/octet-stream;base64,", "none.bin"), "the glTF document is not sound"},
       }) {
    const std::string path = folder.write("bad.gltf", text);
    const auto error = error_of([&] { (void)make_scene(path, nullptr); });
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    EXPECT_THAT(error.what(), HasSubstr(message));
    EXPECT_THAT(error.what(), HasSubstr("bad.gltf"));
  }
}

}  // namespace
}  // namespace rayreplay::reference
