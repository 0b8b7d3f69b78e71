// Access streams of a launch written out by hand, and the errors of wrong options.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bvh/bvh.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/memory/streams/launch_source.hpp"
#include "tests/memory/launch_streams.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/one_triangle.hpp"

namespace rayreplay::test {
namespace {

using memory::Allocation;
using memory::Allocations;
using memory::DataKind;
using memory::Instruction;
using memory::Instructions;
using memory::make_launch_source;
using memory::StreamOptions;
using memory::WarpStream;
using scheduler::kNoThread;
using trace::EventKind;

/// A triangle at x = 1 and four threads: 0 hits it, 1 passes it by, 2 has no ray, 3 hits it twice.
class ByHand : public testing::Test {
 protected:
  ByHand() {
    trace_.shaders.resize(5);
    trace_.shaders[4].stage = trace::ShaderStage::Callable;
    trace_.scene = one_triangle();
    trace_.scene.instances[0].hit_group_offset = 2;
    LaunchBuilder builder({4, 1, 1});
    builder.thread().begin(0, 0, 0.25F, 0.25F, 1, 0, 0).closest_hit(2);
    builder.thread().begin(0, 0, 5, 5, 1, 0, 0).miss(1);
    builder.thread();
    builder.thread().begin(0, 0, 0.25F, 0.25F, 1, 0, 0).closest_hit(2).callable(4);
    builder.begin(2, 0, 0.5F, 0.25F, 1, 0, 0).closest_hit(2);
    trace_.launches.push_back(builder.build());
    trace_.launches[0].data.rays.sbt_offset[0] = 1;
    trace_.launches[0].data.rays.miss_index[1] = 3;
    structure_ = bvh::build_bvh(trace_.scene, 0, "by hand", {.layout = "binary"});
  }

  trace::Trace trace_;
  bvh::Bvh structure_;
};

TEST_F(ByHand, StepByStep) {
  StreamOptions options;
  options.warp_size = 4;
  options.payload_bytes = 4;
  options.coalescing.keep_raw = true;
  // Thread 3 in lane 0, none in lane 2.
  const std::vector<std::uint32_t> places{3, 0, kNoThread, 1};
  const auto source = make_launch_source(trace_, trace_.launches[0], structure_, places, options);
  const std::vector<WarpStream> streams = all_streams(*source);
  ASSERT_EQ(streams.size(), 1U);
  const std::string node = " load " + std::to_string(structure_.traits.node_bytes) + ":";
  EXPECT_EQ(
      told(streams[0].raw, source->allocations(), 4),
      (std::vector<std::string>{
          "shader-record 1101 load 64: ray-generation records+0 ray-generation records+0 ray-generation records+0",
          // The first rays of threads 3, 0 and 1.
          "payload 1101 store 4: payloads+0 payloads+4 payloads+12",
          "node 1101" + node + " top nodes+0 top nodes+0 top nodes+0",
          "instance 1100 load 64: instances+0 instances+0",
          "node 1100" + node + " blas 0 nodes+0 blas 0 nodes+0",
          "index 1100 load 12: geometry 0 indices+0 geometry 0 indices+0",
          "vertex 1100 load 12: geometry 0 vertices+0 geometry 0 vertices+0",
          "vertex 1100 load 12: geometry 0 vertices+12 geometry 0 vertices+12",
          "vertex 1100 load 12: geometry 0 vertices+24 geometry 0 vertices+24",
          "shader-record 1101 load 64: hit records+128 hit records+192 miss records+192",
          "payload 1101 load 4: payloads+0 payloads+4 payloads+12",
          "payload 1101 store 4: payloads+0 payloads+4 payloads+12",
          "shader-record 1000 load 64: callable records+256",
          // The second ray of thread 3.
          "payload 1000 store 4: payloads+0",
          "node 1000" + node + " top nodes+0",
          "instance 1000 load 64: instances+0",
          "node 1000" + node + " blas 0 nodes+0",
          "index 1000 load 12: geometry 0 indices+0",
          "vertex 1000 load 12: geometry 0 vertices+0",
          "vertex 1000 load 12: geometry 0 vertices+12",
          "vertex 1000 load 12: geometry 0 vertices+24",
          "shader-record 1000 load 64: hit records+128",
          "payload 1000 load 4: payloads+0",
          "payload 1000 store 4: payloads+0",
          // Behind it all lanes meet.
          "frame-buffer 1101 store 16: frame buffer+48 frame buffer+0 frame buffer+16",
      }));
  EXPECT_EQ(streams[0].raw.thread[0], 3U);
  EXPECT_EQ(streams[0].raw.thread[1], 0U);
  EXPECT_EQ(streams[0].raw.thread[2], 1U);
  EXPECT_EQ(source->warp_traversal(), "while-while");
  EXPECT_EQ(source->tally().rays, 4U);
}

/// A layout whose leaves are quads: one load a leaf, at the leaf's record, counted for its first triangle.
class ByHandQuads : public testing::Test {
 protected:
  ByHandQuads() {
    trace_.shaders.resize(3);
    trace::Geometry mesh;
    // Two triangles of the square [0, 1]² at x = 1, and one alone.
    mesh.vertices = {1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 10, 0, 1, 11, 0, 1, 10, 1};
    mesh.indices = {0, 1, 2, 2, 1, 3, 4, 5, 6};
    trace_.scene.geometries.push_back(mesh);
    trace_.scene.blases.push_back({0, 1});
    trace_.scene.instances.resize(1);
    LaunchBuilder builder({4, 1, 1});
    builder.thread().begin(0, 0, 0.25F, 0.25F, 1, 0, 0).closest_hit(2);
    builder.thread().begin(0, 0, 0.75F, 0.75F, 1, 0, 0).closest_hit(2);
    builder.thread().begin(0, 0, 10.25F, 0.25F, 1, 0, 0).closest_hit(2);
    builder.thread().begin(0, 0, 50, 50, 1, 0, 0).miss(1);
    trace_.launches.push_back(builder.build());
    structure_ = bvh::build_bvh(trace_.scene, 0, "by hand", {.layout = "quantised-6:leaves=quads"});
    options_.warp_size = 4;
    options_.payload_bytes = 0;
    options_.record_bytes = 0;
    options_.pixel_bytes = 0;
    options_.coalescing.keep_raw = true;
  }
  /// Byte of the leaf with this first triangle.
  [[nodiscard]] std::string leaf(std::uint32_t triangle) const {
    const bvh::Level& level = structure_.bottoms[0];
    std::array<bvh::ChildView, bvh::kMaxWidth> children;
    const std::size_t count = structure_.layout->decode(level, 0, children);
    for (std::size_t i = 0; i < count; ++i) {
      if (level.references[children[i].index] == triangle) {
        return "blas 0 nodes+" + std::to_string(64 * children[i].block);
      }
    }
    return "none";
  }

  trace::Trace trace_;
  bvh::Bvh structure_;
  StreamOptions options_;
};

TEST_F(ByHandQuads, StepByStep) {
  const auto source = make_launch_source(trace_, trace_.launches[0], structure_, {0, 1, 2, 3}, options_);
  const std::vector<WarpStream> streams = all_streams(*source);
  ASSERT_EQ(streams.size(), 1U);
  const Instructions& raw = streams[0].raw;
  EXPECT_EQ(told(raw, source->allocations(), 4),
            (std::vector<std::string>{
                "node 1111 load 64: top nodes+0 top nodes+0 top nodes+0 top nodes+0",
                "instance 1110 load 64: top nodes+64 top nodes+64 top nodes+64",
                "node 1110 load 64: blas 0 nodes+0 blas 0 nodes+0 blas 0 nodes+0",
                "vertex 1110 load 64: " + leaf(0) + " " + leaf(0) + " " + leaf(2),
            }))
      << "the second triangle of the quad loads nothing";
  const std::uint32_t instance = named(source->allocations(), "instances").first_element;
  const std::uint32_t face = named(source->allocations(), "geometry 0 indices").first_element;
  const std::vector<std::uint32_t> elements(raw.element.begin() + 4, raw.element.end());
  EXPECT_EQ(elements, (std::vector<std::uint32_t>{instance, instance, instance, elements[3], elements[3], elements[3],
                                                  face, face, face + 2}));
  EXPECT_EQ(elements[3], named(source->allocations(), "blas 0 nodes").first_element);
}

TEST_F(ByHandQuads, SoftwareLoadsPieceByPiece) {
  options_.load_bytes = 16;
  const auto source = make_launch_source(trace_, trace_.launches[0], structure_, {2}, [this] {
    options_.warp_size = 1;
    return options_;
  }());
  const std::vector<std::string> rows = told(all_streams(*source)[0].raw, source->allocations(), 1);
  ASSERT_EQ(rows.size(), 16U) << "two nodes, an instance and a quad of four loads each";
  EXPECT_EQ(rows[12], "vertex 1 load 16: " + leaf(2));
}

/// The captured table says which record a callable shader has.
TEST_F(ByHand, CapturedTable) {
  trace::ShaderRecord record;
  record.region = trace::TableRegion::Callable;
  record.index = 7;
  record.general = 4;
  trace_.launches[0].shader_table.push_back(record);
  record.index = 9;
  trace_.launches[0].shader_table.push_back(record);
  StreamOptions options;
  options.warp_size = 1;
  options.record_bytes = 32;
  options.payload_bytes = 0;
  options.coalescing.keep_raw = true;
  const auto source = make_launch_source(trace_, trace_.launches[0], structure_, {3}, options);
  const std::vector<std::string> rows = told(all_streams(*source)[0].raw, source->allocations(), 4);
  EXPECT_NE(std::ranges::find(rows, "shader-record 1000 load 32: callable records+224"), rows.end());
  EXPECT_EQ(named(source->allocations(), "callable records").elements(), 10U);
}

TEST_F(ByHand, WrongOptionsAreErrors) {
  const auto fails = [&](ErrorKind kind, const std::vector<std::uint32_t>& places, const auto& change) {
    StreamOptions options;
    options.warp_size = 2;
    change(options);
    return error_of(kind, [&] { return make_launch_source(trace_, trace_.launches[0], structure_, places, options); })
        .what;
  };
  const auto same = [](StreamOptions&) {};
  const ErrorKind usage = ErrorKind::Usage;
  EXPECT_EQ(fails(usage, {0, 1}, [](StreamOptions& o) { o.warp_size = 0; }), "the warp size is out of range");
  EXPECT_EQ(fails(usage, {0, 1}, [](StreamOptions& o) { o.warp_size = 65; }), "the warp size is out of range");
  EXPECT_EQ(fails(usage, {0, 1}, [](StreamOptions& o) { o.payload_bytes = 6; }), "the payload's size is out of range");
  EXPECT_EQ(fails(usage, {0, 1}, [](StreamOptions& o) { o.load_bytes = 3; }),
            "the bytes that a lane loads at once are out of range");
  EXPECT_EQ(fails(usage, {0, 1}, [](StreamOptions& o) { o.record_bytes = 1U << 20U; }),
            "the size of a shader record is out of range");
  EXPECT_EQ(fails(usage, {0, 1}, [](StreamOptions& o) { o.pixel_bytes = 1U << 20U; }),
            "the size of a pixel is out of range");
  EXPECT_EQ(fails(usage, {0, 1}, [](StreamOptions& o) { o.coalescing.line_bytes = 100; }),
            "the line size is not a power of two");
  EXPECT_NE(fails(usage, {0, 1}, [](StreamOptions& o) { o.warp_traversal = "while-whale"; }).find("warp traversal"),
            std::string::npos);
  EXPECT_EQ(fails(usage, {0, 1, 2}, same), "the places do not fill whole warps");
  EXPECT_EQ(fails(usage, {0, 4}, same), "a thread of an item is out of range");
  EXPECT_EQ(fails(usage, {0, 0}, same), "a thread is at two places");
  trace_.launches[0].tlas = trace::kNone;
  fails(ErrorKind::Missing, {0, 1}, same);
  trace_.launches[0].tlas = 0;
  trace_.scene.instances.clear();
  fails(ErrorKind::Missing, {0, 1}, same);
}

TEST_F(ByHand, NoItemsAndEmptyItems) {
  StreamOptions options;
  options.warp_size = 2;
  const auto none = make_launch_source(trace_, trace_.launches[0], structure_, {}, options);
  EXPECT_EQ(none->items(), 0U);
  none->generate({}, {});
  const auto empty = make_launch_source(trace_, trace_.launches[0], structure_, {kNoThread, kNoThread, 2, 1}, options);
  const std::vector<WarpStream> streams = all_streams(*empty);
  EXPECT_EQ(streams[0].instructions(), 0U);
  EXPECT_GT(streams[1].instructions(), 0U);
}

}  // namespace
}  // namespace rayreplay::test
