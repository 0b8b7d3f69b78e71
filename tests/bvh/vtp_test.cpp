// Boxes as .vtp: well-formed for Python's own XML parser, consistent, and where they belong in the world.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "bvh/reports/vtp.hpp"
#include "tests/support/meshes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::bvh {
namespace {

using nlohmann::json;
using Ints = std::vector<std::int64_t>;

/// Two unit boxes three apart; used as it is, turned by 90° about z and moved, and by an instance that nobody sees.
trace::Scene scene() {
  trace::Scene scene;
  trace::Geometry boxes;
  boxes.type = trace::GeometryType::Boxes;
  for (const float value : {0.F, 0.F, 0.F, 1.F, 1.F, 1.F, 3.F, 0.F, 0.F, 4.F, 1.F, 1.F}) {
    boxes.boxes.push_back(value);
  }
  scene.geometries = {boxes};
  scene.blases = {{0, 1}};
  scene.instances.resize(3);
  scene.instances[1].mask = 0;
  scene.instances[2].transform = {0, -1, 0, 10, 1, 0, 0, 20, 0, 0, 1, 30};
  return scene;
}

class Vtp : public testing::Test {
 protected:
  json written(const Bvh& bvh, const VtpOptions& options = {}) {
    const std::filesystem::path file = folder_ / "boxes.vtp";
    const std::filesystem::path read = folder_ / "boxes.json";
    std::ofstream out(file, std::ios::binary);
    count_ = write_vtp(bvh, out, options);
    out.close();
    // python3 is a requirement of the tests: without it they fail.
    const std::string command = "/usr/bin/python3 '" RAYREPLAY_SOURCE_DIR "/tests/bvh/read_vtp.py' '" + file.string() +
                                "' > '" + read.string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return json::parse(std::ifstream(read));
  }

  [[nodiscard]] static Bvh build(const trace::Scene& scene, const std::string& layout) {
    BvhOptions options;
    options.builder = "medium:leaf_size=1";
    options.layout = layout;
    return build_bvh(scene, 0, "t", options);
  }

  /// Lowest and highest corner of box `i`.
  static Box corners(const json& file, std::size_t i) {
    Box box;
    for (std::size_t corner = 0; corner < 8; ++corner) {
      Box point;
      for (unsigned axis = 0; axis < 3; ++axis) {
        point.low[axis] = point.high[axis] = file["points"][(i * 8 + corner) * 3 + axis].get<float>();
      }
      box.extend(point);
    }
    return box;
  }

  test::TemporaryFolder folder_;
  std::uint64_t count_ = 0;
};

TEST_F(Vtp, HoldsEveryBoxWhereItIsInTheWorld) {
  const trace::Scene given = scene();
  const json file = written(build(given, "wide-8"), {.comment = "a -- b --- c"});
  EXPECT_EQ(count_, 9U);
  EXPECT_EQ(file["shape"], "Lines");
  EXPECT_EQ(file["cells"], 9);
  EXPECT_EQ(file["data"]["level"], (Ints{0, 0, 0, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(file["data"]["instance"], (Ints{-1, -1, -1, 0, 0, 0, 2, 2, 2}));
  EXPECT_EQ(file["data"]["blas"], (Ints{-1, -1, -1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(file["data"]["depth"], (Ints{0, 1, 1, 0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(file["data"]["leaf"], (Ints{0, 1, 1, 0, 1, 1, 0, 1, 1}));
  EXPECT_EQ(file["data"]["children"], (Ints{2, 1, 1, 2, 1, 1, 2, 1, 1}));
  EXPECT_EQ(file["data"]["record"], (Ints{0, -1, -1, 0, -1, -1, 0, -1, -1}));
  EXPECT_EQ(corners(file, 3), (Box{.low = {0, 0, 0}, .high = {4, 1, 1}}));
  EXPECT_EQ(corners(file, 6), (Box{.low = {9, 20, 30}, .high = {10, 24, 31}}));
  const bool first_is_near = corners(file, 7).high[1] == 21;
  EXPECT_EQ(corners(file, first_is_near ? 7 : 8), (Box{.low = {9, 20, 30}, .high = {10, 21, 31}}));
  EXPECT_EQ(corners(file, first_is_near ? 8 : 7), (Box{.low = {9, 23, 30}, .high = {10, 24, 31}}));
}

/// How many coordinates of two points of the file differ.
std::size_t differences(const json& file, std::int64_t a, std::int64_t b) {
  std::size_t count = 0;
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    count +=
        file["points"][static_cast<std::size_t>(3 * a + axis)] != file["points"][static_cast<std::size_t>(3 * b + axis)]
            ? 1U
            : 0U;
  }
  return count;
}

TEST_F(Vtp, ALineRunsAlongAllTwelveEdges) {
  const trace::Scene given = scene();
  const json file = written(build(given, "wide-8"));
  for (std::size_t box = 0; box < 9; ++box) {
    EXPECT_EQ(file["offsets"][box], 16 * (box + 1));
    std::set<std::pair<std::int64_t, std::int64_t>> edges;
    for (std::size_t i = 16 * box; i + 1 < 16 * (box + 1); ++i) {
      const auto a = file["connectivity"][i].get<std::int64_t>();
      const auto b = file["connectivity"][i + 1].get<std::int64_t>();
      EXPECT_EQ(a / 8, static_cast<std::int64_t>(box));
      EXPECT_EQ(differences(file, a, b), 1U);
      edges.insert(std::minmax(a, b));
    }
    EXPECT_EQ(edges.size(), 12U);
  }
}

TEST_F(Vtp, FacesAreSixFlatQuadrilateralsABox) {
  const trace::Scene given = scene();
  const json file = written(build(given, "wide-8"), {.shape = VtpShape::Faces});
  EXPECT_EQ(file["shape"], "Polys");
  ASSERT_EQ(file["cells"], 54);
  EXPECT_EQ(file["data"]["instance"][17], -1);
  EXPECT_EQ(file["data"]["instance"][18], 0);
  std::set<std::set<std::int64_t>> faces;
  for (std::size_t face = 0; face < 54; ++face) {
    EXPECT_EQ(file["offsets"][face], 4 * (face + 1));
    std::set<std::int64_t> points;
    for (std::size_t i = 4 * face; i < 4 * face + 4; ++i) {
      const std::size_t next = i + 1 < 4 * face + 4 ? i + 1 : 4 * face;
      points.insert(file["connectivity"][i].get<std::int64_t>());
      EXPECT_EQ(differences(file, file["connectivity"][i], file["connectivity"][next]), 1U);
    }
    EXPECT_EQ(points.size(), 4U);
    faces.insert(points);
  }
  EXPECT_EQ(faces.size(), 54U);
}

TEST_F(Vtp, DepthCutsEveryLevel) {
  const trace::Scene mesh = test::one_mesh(test::bumpy_terrain(2000, 1));
  const Bvh bvh = build(mesh, "binary");
  const json none = written(bvh, {.max_depth = 0});
  EXPECT_EQ(none["cells"], 2);
  const json three = written(bvh, {.max_depth = 3});
  EXPECT_EQ(*std::max_element(three["data"]["depth"].begin(), three["data"]["depth"].end()), 3);
  const json all = written(bvh);
  std::size_t shallow = 0;
  for (const json& depth : all["data"]["depth"]) {
    shallow += depth <= 3 ? 1U : 0U;
  }
  EXPECT_EQ(three["cells"], shallow);
  EXPECT_EQ(three["cells"], 2 + 1 + 2 + 4 + 8);  // two bounds, the top's leaf, a full binary tree
}

TEST_F(Vtp, LeafBlocksHaveRecordsAndInfinitePlanesEndAtTheBounds) {
  trace::Scene far = scene();
  far.geometries[0].boxes[0] = -1e6F;  // no half
  const json blocks = written(build(far, "quantised-6"));
  EXPECT_EQ(blocks["data"]["record"], (Ints{0, 1, 2, 0, 1, 2, 0, 1, 2}));
  const json halves = written(build(far, "half-4"));
  EXPECT_EQ(corners(halves, 3).low[0], -1e6F);
  for (const json& coordinate : halves["points"]) {
    EXPECT_TRUE(coordinate.is_number());  // JSON of Python writes infinities as words
  }
}

TEST_F(Vtp, NothingIsAFileToo) {
  trace::Scene hidden = scene();
  for (trace::Instance& instance : hidden.instances) {
    instance.mask = 0;
  }
  EXPECT_EQ(written(build(hidden, "wide-8"))["cells"], 0);
}

TEST_F(Vtp, FullDisksAreReported) {
  const trace::Scene mesh = test::one_mesh(test::bumpy_terrain(20000, 1));
  const Bvh bvh = build(mesh, "wide-8");
  std::ofstream full("/dev/full", std::ios::binary);
  try {
    write_vtp(bvh, full, {.name = "boxes.vtp"});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Output);
    EXPECT_EQ(error.info().where, "boxes.vtp");
  }
}

}  // namespace
}  // namespace rayreplay::bvh
