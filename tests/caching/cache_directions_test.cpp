// The published study of ray tracers' caches (von Buelow, Riemann, Guthe, Fellner, 2023) in small: the directions that
// it reports come out, and which of them are left when lanes are coalesced and the L2 gets what the L1s miss.
// validation/cache_published.py is the same at full size, docs/validation-caches.md has its tables. SMs, L2 and frame
// shrink together, so that an SM has as many warps as there; the mesh has as many faces for each ray as a scan has.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "capture/reference/scene.hpp"
#include "sim/caching/cache.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/settings/settings.hpp"
#include "tests/reference/support.hpp"
#include "tests/support/second_path.hpp"

namespace rayreplay::test {
namespace {

using experiment::CacheResult;
using memory::DataKind;
using memory::kL1;
using memory::kL2;

constexpr const char* kSurfaceArea = "medium:leaf_size=32,min_leaf_size=32";
constexpr std::uint32_t kFrame = 64;

trace::Trace scan(std::uint32_t side) {
  reference::TracerOptions options;
  options.integrator = "primary";
  options.width = side;
  options.height = side;
  options.samples = 1;
  const reference::RenderScene scene = reference::make_scene("statue:level=6", &options.scene_spec);
  return traced(scene, options);
}

/// Keys of an experiment with their values; later ones win.
using Keys = std::vector<std::string>;

Keys with(Keys keys, const Keys& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

/// The study's base configuration, on two of its SMs.
Keys base() {
  Keys keys = {"machine.name=rtx2080-ti",
               "machine.sms=2",
               "machine.l1_bytes=32KiB",
               "machine.l1_line_bytes=128",
               "machine.l1_ways=64",
               "machine.l1_sector_bytes=32",
               "machine.l2_bytes=192KiB",
               "machine.l2_line_bytes=32",
               "machine.l2_ways=16",
               "machine.l2_sector_bytes=32",
               "schedule.distribution=scanline",
               "bvh.layout=binary",
               "bvh.vertex_order=breadth-first",
               "traversal.warp=while-while",
               "stream.payload_bytes=0",
               "stream.record_bytes=0",
               "stream.pixel_bytes=0",
               "stream.coalesce=false",
               "cache.l1.model=sdcm",
               "cache.l2.model=sdcm",
               "cache.l2_feed=all",
               "cache.distances=false"};
  keys.push_back("bvh.builder=" + std::string(kSurfaceArea));
  return keys;
}

/// As a GPU has it.
Keys gpu() {
  return with(base(), {"stream.coalesce=true", "cache.l1.model=lru", "cache.l2.model=lru", "cache.l2_feed=misses"});
}

struct Rates {
  double boxes = 0, faces = 0, all = 0;  ///< a face is its index triple and three vertices
};

Rates rates(const CacheResult& result, std::size_t level) {
  memory::LevelSums faces, all;
  const memory::KindSums& kinds = result.analysis.total.levels[level];
  faces.merge(kinds[static_cast<std::size_t>(DataKind::Index)]);
  faces.merge(kinds[static_cast<std::size_t>(DataKind::Vertex)]);
  for (const memory::LevelSums& kind : kinds) {
    all.merge(kind);
  }
  return {kinds[static_cast<std::size_t>(DataKind::Node)].hit_rate(), faces.hit_rate(), all.hit_rate()};
}

using Levels = std::array<Rates, memory::kLevels>;

Levels run(const trace::Trace& trace, const Keys& keys) {
  experiment::Settings settings;
  for (const std::string& key : keys) {
    settings.set_text(key, "--set");
  }
  const experiment::Settings full = experiment::complete(settings, experiment::NamedInput::Elsewhere);
  const CacheResult result = caches_by_hand(trace, full);
  return {rates(result, kL1), rates(result, kL2)};
}

class CacheDirections : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    small_ = new trace::Trace(scan(kFrame));
  }
  static void TearDownTestSuite() {
    delete small_;
    small_ = nullptr;
  }

  static const trace::Trace& small() {
    return *small_;
  }

 private:
  static trace::Trace* small_;
};

trace::Trace* CacheDirections::small_ = nullptr;

Keys random_vertices(const Keys& keys) {
  return with(keys, {"bvh.vertex_order=random"});
}

Keys scanline_per_sm(const Keys& keys) {
  return with(keys, {"schedule.distribution=scanline-per-sm"});
}

Keys if_if(const Keys& keys) {
  return with(keys, {"traversal.warp=if-if"});
}

TEST_F(CacheDirections, AsPublished) {
  const Levels reference = run(small(), base());
  EXPECT_GT(reference[kL1].boxes, reference[kL1].faces);

  const Levels random = run(small(), random_vertices(base()));
  EXPECT_LT(random[kL1].faces, reference[kL1].faces - 0.05);
  EXPECT_LT(random[kL2].faces, reference[kL2].faces);

  const Levels larger = run(scan(2 * kFrame), base());
  EXPECT_GT(larger[kL1].faces, reference[kL1].faces + 0.02);
  EXPECT_GT(larger[kL2].faces, reference[kL2].faces);
  EXPECT_GT(larger[kL2].faces, 0.99) << "almost 100 %";

  const Levels per_sm = run(small(), scanline_per_sm(base()));
  EXPECT_GT(per_sm[kL1].all, reference[kL1].all);
  EXPECT_GT(per_sm[kL1].faces, reference[kL1].faces);
  EXPECT_LT(per_sm[kL2].all, reference[kL2].all);
  EXPECT_LT(per_sm[kL2].faces, reference[kL2].faces);

  const Levels interleaved = run(small(), if_if(base()));
  EXPECT_LT(interleaved[kL1].boxes, reference[kL1].boxes - 0.02);
  EXPECT_LT(interleaved[kL1].faces, reference[kL1].faces);
  EXPECT_GT((1 - interleaved[kL1].boxes) / (1 - reference[kL1].boxes),
            (1 - interleaved[kL1].faces) / (1 - reference[kL1].faces))
      << "misses on boxes grow most";
}

TEST_F(CacheDirections, MedianSplitLeavesFacesOfAScanAboutAsTheyAre) {
  const Keys median = with(base(), {"bvh.builder=median:leaf_size=32"});
  const Levels reference = run(small(), base());
  const Levels changed = run(small(), median);
  EXPECT_NEAR(changed[kL1].faces, reference[kL1].faces, 0.05);
  EXPECT_NEAR(changed[kL2].faces, reference[kL2].faces, 0.01);
}

TEST_F(CacheDirections, OnAGpuWhatIsAboutTheL1StaysAndBoxesLoseTheirLead) {
  const Levels reference = run(small(), gpu());
  const Levels published = run(small(), base());
  EXPECT_LT(reference[kL1].boxes - reference[kL1].faces, published[kL1].boxes - published[kL1].faces - 0.05)
      << "lanes that read one box together hit 31 times where each counts by itself";

  EXPECT_LT(run(small(), random_vertices(gpu()))[kL1].faces, reference[kL1].faces - 0.05);
  EXPECT_GT(run(scan(2 * kFrame), gpu())[kL1].faces, reference[kL1].faces + 0.02);
  EXPECT_LT(run(small(), if_if(gpu()))[kL1].boxes, reference[kL1].boxes - 0.02);
  const Levels per_sm = run(small(), scanline_per_sm(gpu()));
  EXPECT_GT(per_sm[kL1].all, reference[kL1].all);
  EXPECT_LT(per_sm[kL2].all, reference[kL2].all);
}

}  // namespace
}  // namespace rayreplay::test
