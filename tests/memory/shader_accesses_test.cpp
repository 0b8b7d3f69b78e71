// Recorded accesses of shaders in streams: by hand, and against a twin that places each access of each lane by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "bvh/bvh.hpp"
#include "scheduler-models/regrouping/segments.hpp"
#include "sim/memory/streams/launch_source.hpp"
#include "sim/memory/streams/shader_calls.hpp"
#include "tests/memory/launch_streams.hpp"
#include "tests/memory/shader_accesses.hpp"
#include "tests/memory/slow_shader_accesses.hpp"
#include "tests/memory/traced_launches.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/one_triangle.hpp"

namespace rayreplay::test {
namespace {

using memory::DataKind;
using memory::StreamOptions;
using memory::WarpStream;
using scheduler::kNoSegment;
using testing::ElementsAre;
using trace::AccessKind;
using trace::AccessSpace;

constexpr std::uint64_t kPage = 65536;

bool is_of_shaders(DataKind kind) {
  return kind >= DataKind::ShaderLoad && kind <= DataKind::ImageSample;
}

/// The rows that `told` gives, without those of the traversal.
std::vector<std::string> told_around(const WarpStream& stream, const memory::Allocations& table, std::uint32_t lanes) {
  std::vector<std::string> rows;
  for (const std::string& row : told(stream.raw, table, lanes)) {
    if (row.starts_with("shader") || row.starts_with("image") || row.starts_with("frame") ||
        row.starts_with("payload") || row.starts_with("state")) {
      rows.push_back(row);
    }
  }
  return rows;
}

/// A triangle at x = 1, in two warps of two threads: 0, 1 and 3 hit it, 2 misses.
class ShaderAccessesByHand : public testing::Test {
 protected:
  ShaderAccessesByHand() {
    trace_.shaders.resize(4);
    trace_.shaders[1].stage = trace::ShaderStage::Miss;
    trace_.shaders[2].stage = trace::ShaderStage::ClosestHit;
    trace_.shaders[3].stage = trace::ShaderStage::Callable;
    trace_.scene = one_triangle();
    LaunchBuilder builder({4, 1, 1});
    for (const bool hit : {true, true, false, true}) {
      const float y = hit ? 0.25F : 5;
      builder.thread().begin(0, 0, y, y, 1, 0, 0);
      hit ? builder.closest_hit(2) : builder.miss(1);
    }
    trace_.launches.push_back(builder.build());
    structure_ = bvh::build_bvh(trace_.scene, 0, "by hand", {.layout = "binary"});
    camera_ = add_site(trace_, {.shader = 0, .binding = 1, .bytes = 16});
    result_ = add_site(trace_, {.shader = 0, .kind = AccessKind::Store, .binding = 2, .bytes = 16});
    sky_ = add_site(trace_, {.shader = 1, .space = AccessSpace::Device});
    vertex_ = add_site(trace_, {.shader = 2, .space = AccessSpace::Device, .bytes = 12});
    count_ = add_site(trace_, {.shader = 2, .kind = AccessKind::Atomic, .binding = 3});
    record_ = add_site(trace_, {.shader = 2, .space = AccessSpace::ShaderRecord});
    options_.warp_size = 2;
    options_.payload_bytes = 0;
    options_.record_bytes = 0;
    options_.shader_accesses = true;
    options_.coalescing.keep_raw = true;
  }
  [[nodiscard]] trace::Launch& launch() {
    return trace_.launches[0];
  }
  [[nodiscard]] std::vector<std::vector<std::string>> rows(const StreamOptions& options) {
    source_ = memory::make_launch_source(trace_, launch(), structure_, {0, 1, 2, 3}, options);
    streams_ = all_streams(*source_);
    std::vector<std::vector<std::string>> all;
    for (const WarpStream& stream : streams_) {
      all.push_back(told_around(stream, source_->allocations(), options.warp_size));
    }
    return all;
  }
  /// "line+sectors lanes" of the shaders' transactions, lines counted from the start of their buffer.
  [[nodiscard]] std::vector<std::string> transactions(std::size_t warp) const {
    std::vector<std::string> all;
    for (const memory::Transaction& one : streams_.at(warp).transactions) {
      if (is_of_shaders(one.kind)) {
        memory::Allocations::Cursor cursor;
        const memory::Allocation& row =
            source_->allocations().rows()[source_->allocations().find(one.line * 128, cursor)];
        all.push_back(std::string(to_string(one.kind)) + " " + row.name + " line " +
                      std::to_string(one.line - row.start / 128) + " sectors " + std::to_string(one.sectors) +
                      " lanes " + std::to_string(one.lanes));
      }
    }
    return all;
  }

  trace::Trace trace_;
  bvh::Bvh structure_;
  std::uint32_t camera_ = 0, result_ = 0, sky_ = 0, vertex_ = 0, count_ = 0, record_ = 0;
  StreamOptions options_;
  std::unique_ptr<memory::LaunchSource> source_;
  std::vector<WarpStream> streams_;
};

TEST_F(ShaderAccessesByHand, TwoWarps) {
  constexpr std::uint64_t kMesh = 0x7F00'0000'0000;
  set_accesses(launch(), {{{0, camera_, 32},
                           {2, vertex_, kMesh},
                           {2, vertex_, kMesh + 4096},
                           {2, count_, 8},
                           {2, record_, 0},
                           {2, result_, 0}},
                          {{0, camera_, 32}, {2, vertex_, kMesh + 20}, {2, count_, 8}, {2, result_, 16}},
                          {{0, camera_, 32}, {2, sky_, kMesh + (1U << 20U)}, {2, result_, 32}},
                          {{0, camera_, 96}, {2, vertex_, kMesh + 4092}, {2, result_, 48}}});
  const auto all = rows(options_);
  EXPECT_THAT(all.at(0), ElementsAre("shader-load 11 load 16: descriptor 0.1 buffer+32 descriptor 0.1 buffer+32",
                                     "shader-load 11 load 12: device memory+0 device memory+20",
                                     "shader-load 10 load 12: device memory+4096",
                                     "shader-atomic 11 store 4: descriptor 0.3 buffer+8 descriptor 0.3 buffer+8",
                                     "shader-store 11 store 16: descriptor 0.2 buffer+0 descriptor 0.2 buffer+16"));
  // Different shaders of one round run one after another, by their number. The page of the sky follows that of the
  // mesh.
  EXPECT_THAT(all.at(1),
              ElementsAre("shader-load 11 load 16: descriptor 0.1 buffer+32 descriptor 0.1 buffer+96",
                          "shader-load 10 load 4: device memory+65536", "shader-load 01 load 12: device memory+4092",
                          "shader-store 11 store 16: descriptor 0.2 buffer+32 descriptor 0.2 buffer+48"));
  EXPECT_THAT(transactions(0), ElementsAre("shader-load descriptor 0.1 buffer line 0 sectors 2 lanes 2",
                                           "shader-load device memory line 0 sectors 1 lanes 2",
                                           "shader-load device memory line 32 sectors 1 lanes 1",
                                           "shader-atomic descriptor 0.3 buffer line 0 sectors 1 lanes 2",
                                           "shader-store descriptor 0.2 buffer line 0 sectors 1 lanes 2"));
  EXPECT_THAT(transactions(1), ElementsAre("shader-load descriptor 0.1 buffer line 0 sectors 10 lanes 2",
                                           "shader-load device memory line 512 sectors 1 lanes 1",
                                           "shader-load device memory line 31 sectors 8 lanes 1",
                                           "shader-load device memory line 32 sectors 1 lanes 1",
                                           "shader-store descriptor 0.2 buffer line 0 sectors 2 lanes 2"));
  EXPECT_EQ(source_->tally().shader_accesses, 15U) << "all but the shader record's";
  EXPECT_EQ(source_->tally().stored_pixels, 4U);
  EXPECT_EQ(named(source_->allocations(), "device memory").bytes, 2 * kPage);
  EXPECT_EQ(named(source_->allocations(), "device memory").start % kPage, 0U);
}

TEST_F(ShaderAccessesByHand, PixelsAreWrittenOnce) {
  set_accesses(launch(), {{{2, result_, 0}}, {}, {}, {{2, count_, 0}}});
  EXPECT_THAT(rows(options_), ElementsAre(ElementsAre("shader-store 10 store 16: descriptor 0.2 buffer+0",
                                                      "frame-buffer 01 store 16: frame buffer+16"),
                                          ElementsAre("shader-atomic 01 store 4: descriptor 0.3 buffer+0",
                                                      "frame-buffer 11 store 16: frame buffer+32 frame buffer+48")));
  EXPECT_EQ(source_->tally().stored_pixels, 1U);
  // A size that is given stays.
  options_.stores_are_pixels = false;
  EXPECT_THAT(rows(options_).at(0), ElementsAre("shader-store 10 store 16: descriptor 0.2 buffer+0",
                                                "frame-buffer 11 store 16: frame buffer+0 frame buffer+16"));
  EXPECT_EQ(source_->tally().stored_pixels, 0U);
  options_.stores_are_pixels = true;
  // What a shader that writes images stores to a buffer is not its pixel.
  options_.writes_images = {1, 0, 0, 0};
  EXPECT_THAT(rows(options_).at(0), ElementsAre("shader-store 10 store 16: descriptor 0.2 buffer+0",
                                                "frame-buffer 11 store 16: frame buffer+0 frame buffer+16"));
  EXPECT_EQ(source_->tally().stored_pixels, 0U);
}

/// Two descriptors of one image, a picture, and descriptors that are not in the table.
TEST_F(ShaderAccessesByHand, Images) {
  using trace::pack;
  const auto image_site = [&](std::uint16_t shader, AccessKind kind, std::uint32_t binding) {
    return add_site(trace_,
                    {.shader = shader, .kind = kind, .space = AccessSpace::Image, .binding = binding, .bytes = 0});
  };
  const std::uint32_t draw = image_site(0, AccessKind::Store, 6);
  const std::uint32_t look = image_site(2, AccessKind::Sample, 5);
  const std::uint32_t fetch = image_site(2, AccessKind::Load, 5);
  const std::uint32_t sum = image_site(2, AccessKind::Atomic, 7);
  const memory::ImageShape texture{.width = 16, .height = 16, .layers = 2, .levels = 2};
  add_image(launch(), {.binding = 5, .image = 4, .shape = texture, .filter = trace::Filter::Linear});
  add_image(launch(), {.binding = 5,
                       .element = 1,
                       .image = 4,
                       .shape = texture,
                       .base_layer = 1,
                       .base_level = 1,
                       .filter = trace::Filter::Nearest});
  add_image(launch(), {.binding = 5, .element = 3, .image = 4, .shape = texture});
  add_image(launch(), {.binding = 6, .image = 2, .shape = {.width = 4, .block_bytes = 16}});
  set_accesses(launch(), {{{2, look, pack({.x = 5, .y = 3})},
                           {2, fetch, pack({.x = 1, .y = 4})},
                           {2, fetch, pack({.x = 16})},
                           {2, sum, pack({})},
                           {2, draw, pack({.x = 0})}},
                          {{2, look, pack({.x = 31, .y = 1})},
                           {2, fetch, pack({.x = 2, .y = 3, .layer = 1, .level = 1})},
                           {2, draw, pack({.x = 1})}},
                          {{2, draw, pack({.x = 4})}},
                          {{2, look, pack({.x = 9, .y = 3, .element = 1})},
                           {2, look, pack({.x = 1, .element = 3})},
                           {2, look, pack({.element = 2})},
                           {2, draw, pack({.x = 3})}}});
  const auto all = rows(options_);
  // A GOB has the sectors 0 and 2 side by side, of 4 x 2 texels; 1 and 3 below. Layers have 2 GOBs of level 0, one of
  // level 1, and start at multiples of two. Texels left of the first are the last.
  EXPECT_THAT(all.at(0), ElementsAre("image-sample 11 load 4: image 4+24,28,40,44 image 4+332,0,348,16",
                                     "image-load 11 load 4: image 4+132 image 4+3128",
                                     "image-store 11 store 16: image 2+0 image 2+64"));
  // The level's nearest texel is 4, 1 of layer 1. The filter of a descriptor without a sampler is linear.
  EXPECT_THAT(all.at(1),
              ElementsAre("image-sample 01 load 4: image 4+3152", "image-sample 01 load 4: image 4+688,692,0,4",
                          "image-store 01 store 16: image 2+320", "frame-buffer 10 store 16: frame buffer+32"));
  EXPECT_THAT(
      transactions(0),
      ElementsAre("image-sample image 4 line 0 sectors 3 lanes 2", "image-sample image 4 line 2 sectors 4 lanes 1",
                  "image-load image 4 line 1 sectors 1 lanes 1", "image-load image 4 line 24 sectors 2 lanes 1",
                  "image-store image 2 line 0 sectors 5 lanes 2"));
  EXPECT_EQ(source_->tally().shader_accesses, 9U);
  EXPECT_EQ(source_->tally().image_accesses, 9U);
  EXPECT_EQ(source_->tally().nowhere_accesses, 4U) << "x = 16, binding 7, x = 4, element 2";
  EXPECT_EQ(source_->tally().assumed_filters, 1U);
  EXPECT_EQ(source_->tally().stored_pixels, 3U) << "a store that no image has is none";
  const memory::Allocation& picture = named(source_->allocations(), "image 2");
  EXPECT_EQ(picture.start % kPage, 0U);
  EXPECT_EQ(picture.bytes, kPage);
  EXPECT_EQ(named(source_->allocations(), "image 4").start, picture.start + kPage);
  // A shader that writes images, by its code, has its pixel in these that are recorded.
  options_.writes_images = {1, 0, 0, 0};
  EXPECT_EQ(rows(options_), all);
  // In another layout.
  options_.image_layout = "linear:row_alignment=1";
  EXPECT_THAT(rows(options_).at(0), ElementsAre("image-sample 11 load 4: image 4+72,76,136,140 image 4+60,0,124,64",
                                                "image-load 11 load 4: image 4+260 image 4+2408",
                                                "image-store 11 store 16: image 2+0 image 2+16"));
}

/// An array of descriptors whose images have blocks of other sizes; a 3D image; lanes with fewer texels than others.
TEST_F(ShaderAccessesByHand, ImagesOfOtherForms) {
  using trace::pack;
  const std::uint32_t look = add_site(
      trace_, {.shader = 2, .kind = AccessKind::Sample, .space = AccessSpace::Image, .binding = 5, .bytes = 0});
  options_.image_layout = "linear:row_alignment=1";
  options_.warp_size = 4;
  options_.pixel_bytes = 0;
  const auto linear = trace::Filter::Linear;
  add_image(launch(), {.binding = 5, .image = 0, .shape = {.width = 2, .height = 2, .depth = 2}, .filter = linear});
  add_image(launch(), {.binding = 5,
                       .element = 1,
                       .image = 1,
                       .shape = {.width = 8, .height = 8, .block_width = 4, .block_height = 4, .block_bytes = 8},
                       .filter = linear});
  add_image(launch(), {.binding = 5, .element = 2, .image = 2, .shape = {.width = 8}, .filter = linear});
  set_accesses(launch(), {{{2, look, pack({.x = 1, .y = 1, .layer = 1})}},
                          {{2, look, pack({.x = 7, .y = 5, .element = 1})}},
                          {},
                          {{2, look, pack({.x = 4, .y = 0, .element = 2})}}});
  options_.work = true;
  options_.call_work.resize(trace_.shaders.size() * trace::kEventKinds);
  source_ = memory::make_launch_source(trace_, launch(), structure_, {0, 1, 2, 3}, options_);
  const WarpStream stream = all_streams(*source_)[0];
  // The recorded slice, then the next, which is the first. Texels of one compressed block are one piece.
  EXPECT_THAT(told_around(stream, source_->allocations(), 4),
              ElementsAre("image-sample 1001 load 4: image 0+16,20,24,28,0,4,8,12 image 2+4,8",
                          "image-sample 0100 load 8: image 1+0,8"));
  const memory::Instruction& row = stream.raw.rows[stream.raw.rows.size() - 2];
  EXPECT_EQ(row.pieces, 8U);
  EXPECT_EQ(stream.raw.address.size() - row.first, 18U);
  EXPECT_TRUE(stream.work[stream.raw.rows.size() - 1].follows) << "both are one instruction of the shader";
}

/// Ray generation traces, its hit shader calls a callable and traces again, both go on behind that.
TEST_F(ShaderAccessesByHand, CallsInCalls) {
  LaunchBuilder builder({1, 1, 1});
  builder.thread().begin(0, 0, 0.25F, 0.25F, 1, 0, 0).closest_hit(2).callable(3).begin(2, 0, 5, 5, 1, 0, 0).miss(1);
  trace_.launches[0] = builder.build();
  const std::uint32_t inside = add_site(trace_, {.shader = 3, .binding = 4});
  set_accesses(launch(), {{{0, camera_, 0},
                           {2, count_, 1000},
                           {3, inside, 2000},
                           {3, count_, 3000},
                           {5, sky_, 4000},
                           {5, count_, 5000},
                           {5, result_, 6000}}});
  options_.warp_size = 1;
  options_.payload_bytes = 4;
  source_ = memory::make_launch_source(trace_, launch(), structure_, {0}, options_);
  const auto all = told_around(all_streams(*source_)[0], source_->allocations(), 1);
  // The callable belongs to the ray begun last; what the hit shader does around it is the hit shader's. What it does
  // behind its own trace call is done there.
  EXPECT_THAT(all, ElementsAre("shader-load 1 load 16: descriptor 0.1 buffer+0", "payload 1 store 4: payloads+0",
                               "payload 1 load 4: payloads+0", "shader-atomic 1 store 4: descriptor 0.3 buffer+1000",
                               "shader-atomic 1 store 4: descriptor 0.3 buffer+3000", "payload 1 store 4: payloads+0",
                               "shader-load 1 load 4: descriptor 0.4 buffer+2000", "payload 1 store 4: payloads+0",
                               "payload 1 load 4: payloads+0", "shader-load 1 load 4: device memory+4000",
                               "payload 1 store 4: payloads+0", "shader-atomic 1 store 4: descriptor 0.3 buffer+5000",
                               "shader-store 1 store 16: descriptor 0.2 buffer+6000"));
}

/// Lanes of one warp that trace 1, 2, no and 3 rays: all enter together, and meet again behind the last ray.
TEST_F(ShaderAccessesByHand, LanesMeetBehindTheirLoops) {
  LaunchBuilder builder({4, 1, 1});
  const auto miss = [&] { builder.begin(0, 0, 5, 5, 1, 0, 0).miss(1); };
  builder.thread();
  miss();
  builder.thread();
  miss();
  miss();
  builder.thread().callable(3);
  builder.thread();
  miss();
  miss();
  miss();
  trace_.launches[0] = builder.build();
  const std::uint32_t again = add_site(trace_, {.shader = 0, .binding = 5});
  set_accesses(launch(), {{{0, camera_, 0}, {2, result_, 0}},
                          {{0, camera_, 0}, {2, again, 4}, {4, again, 8}, {4, result_, 16}},
                          {{0, camera_, 0}, {1, result_, 32}},
                          {{0, camera_, 0}, {2, again, 12}, {4, again, 16}, {6, again, 20}, {6, result_, 48}}});
  options_.warp_size = 4;
  options_.pixel_bytes = 0;
  EXPECT_THAT(
      rows(options_).at(0),
      ElementsAre("shader-load 1111 load 16: descriptor 0.1 buffer+0 descriptor 0.1 buffer+0 descriptor 0.1 buffer+0 "
                  "descriptor 0.1 buffer+0",
                  "shader-load 0101 load 4: descriptor 0.5 buffer+4 descriptor 0.5 buffer+12",
                  "shader-load 0001 load 4: descriptor 0.5 buffer+16",
                  // In the last passes of two loops.
                  "shader-load 0101 load 4: descriptor 0.5 buffer+8 descriptor 0.5 buffer+20",
                  "shader-store 1111 store 16: descriptor 0.2 buffer+0 descriptor 0.2 buffer+16 "
                  "descriptor 0.2 buffer+32 descriptor 0.2 buffer+48"));
  EXPECT_EQ(transactions(0).back(), "shader-store descriptor 0.2 buffer line 0 sectors 3 lanes 4");
  // Assumed pixels meet there, too; a thread without rays has none.
  set_accesses(launch(), {{}, {}, {}, {}});
  options_.pixel_bytes = 16;
  EXPECT_THAT(rows(options_).at(0),
              ElementsAre("frame-buffer 1101 store 16: frame buffer+0 frame buffer+16 frame buffer+48"));
}

/// No lane traces: accesses before the first event still come before the others.
TEST_F(ShaderAccessesByHand, LanesWithoutRaysEnterTogether) {
  LaunchBuilder builder({2, 1, 1});
  builder.thread().callable(3);
  builder.thread().callable(3);
  trace_.launches[0] = builder.build();
  set_accesses(launch(), {{{0, camera_, 0}, {1, camera_, 16}}, {{1, camera_, 32}}});
  source_ = memory::make_launch_source(trace_, launch(), structure_, {0, 1}, options_);
  EXPECT_THAT(told_around(all_streams(*source_)[0], source_->allocations(), 2),
              ElementsAre("shader-load 10 load 16: descriptor 0.1 buffer+0",
                          "shader-load 11 load 16: descriptor 0.1 buffer+16 descriptor 0.1 buffer+32"));
}

/// Both threads are cut before their hit shader. In the last segments one thread traces again, and both meet behind it.
TEST_F(ShaderAccessesByHand, LastSegmentsMeetToo) {
  LaunchBuilder builder({2, 1, 1});
  builder.thread().begin(0, 0, 0.25F, 0.25F, 1, 0, 0).closest_hit(2);
  builder.thread().begin(0, 0, 0.25F, 0.25F, 1, 0, 0).closest_hit(2).begin(0, 0, 5, 5, 1, 0, 0).miss(1);
  trace_.launches[0] = builder.build();
  set_accesses(launch(), {{{2, count_, 0}, {2, result_, 0}}, {{2, count_, 4}, {4, sky_, 0}, {4, result_, 16}}});
  scheduler::Segments segments;
  segments.first = {0, 2, 4};
  segments.event_offset = {0, 1, 2, 3, 6};
  segments.bounce.assign(4, 0);
  segments.most_of_a_thread = 2;
  const std::vector<std::uint32_t> segment_at{0, 2, 1, 3}, thread_at{0, 1};
  const auto source =
      memory::make_segment_source(trace_, launch(), structure_,
                                  {.segments = &segments, .segment_at = segment_at, .thread_at = thread_at}, options_);
  EXPECT_THAT(told_around(all_streams(*source)[1], source->allocations(), 2),
              ElementsAre("shader-atomic 11 store 4: descriptor 0.3 buffer+0 descriptor 0.3 buffer+4",
                          "shader-load 01 load 4: device memory+0",
                          "shader-store 11 store 16: descriptor 0.2 buffer+0 descriptor 0.2 buffer+16"));
}

/// Where threads are cut, accesses are those of the segment that makes them.
TEST_F(ShaderAccessesByHand, Segments) {
  LaunchBuilder builder({1, 1, 1});
  builder.thread().begin(0, 0, 0.25F, 0.25F, 1, 0, 0).closest_hit(2).begin(0, 0, 5, 5, 1, 0, 0).miss(1);
  trace_.launches[0] = builder.build();
  set_accesses(launch(), {{{0, camera_, 0}, {2, count_, 1000}, {2, camera_, 2000}, {4, sky_, 3000}, {4, result_, 0}}});
  const auto of = [&](scheduler::CutAt at) {
    const scheduler::Segments segments = scheduler::cut_paths(launch(), {.at = at});
    options_.warp_size = 1;
    std::vector<std::uint32_t> segment_at(segments.size());
    for (std::uint32_t i = 0; i < segment_at.size(); ++i) {
      segment_at[i] = i;
    }
    const std::vector<std::uint32_t> thread_at{0};
    const auto source = memory::make_segment_source(
        trace_, launch(), structure_, {.segments = &segments, .segment_at = segment_at, .thread_at = thread_at},
        options_);
    std::vector<std::vector<std::string>> all;
    for (const WarpStream& stream : all_streams(*source)) {
      all.push_back(told_around(stream, source->allocations(), 1));
    }
    return all;
  };
  const std::string begins = "shader-load 1 load 16: descriptor 0.1 buffer+0";
  const std::string hits = "shader-atomic 1 store 4: descriptor 0.3 buffer+1000";
  const std::string goes_on = "shader-load 1 load 16: descriptor 0.1 buffer+2000";
  const std::string misses = "shader-load 1 load 4: device memory+3000";
  const std::string ends = "shader-store 1 store 16: descriptor 0.2 buffer+0";
  EXPECT_THAT(of(scheduler::CutAt::PendingCall),
              ElementsAre(ElementsAre(begins), ElementsAre(hits, goes_on), ElementsAre(misses, ends)));
  // Cut where ray generation goes on, too.
  EXPECT_THAT(of(scheduler::CutAt::EveryCall),
              ElementsAre(ElementsAre(begins), ElementsAre(hits), ElementsAre(goes_on), ElementsAre(misses, ends)));
}

TEST_F(ShaderAccessesByHand, WorkWaitsForThem) {
  set_accesses(launch(), {{{2, vertex_, 0}, {2, vertex_, 256}}, {}, {}, {}});
  options_.pixel_bytes = 0;
  options_.work = true;
  options_.call_work.resize(trace_.shaders.size() * trace::kEventKinds);
  options_.call_work[memory::call_number(2, trace::EventKind::ClosestHit)] = {512, 9};
  static_cast<void>(rows(options_));
  const std::vector<memory::WarpWork>& work = streams_.at(0).work;
  ASSERT_EQ(work.size(), streams_[0].raw.rows.size() + 1);
  const std::size_t first = work.size() - 3;
  EXPECT_EQ(streams_[0].raw.rows[first].kind, DataKind::ShaderLoad);
  EXPECT_EQ(work[first].issue, 512U);
  EXPECT_EQ(work[first].stages.access(), memory::WorkStage::ClosestHit);
  EXPECT_FALSE(work[first + 1].follows) << "its address may be what the first has loaded";
  EXPECT_EQ(work[first + 1].issue, 0U);
}

TEST_F(ShaderAccessesByHand, AccessesThatCannotBe) {
  trace_.access_sites.bytes[vertex_] = 65537;
  EXPECT_EQ(error_of([&] { static_cast<void>(rows(options_)); }).info().what, "an access of a shader is too large");
  trace_.access_sites.bytes[vertex_] = 12;
  set_accesses(launch(), {{{2, vertex_, ~std::uint64_t{0}}}, {}, {}, {}});
  EXPECT_EQ(error_of([&] { static_cast<void>(rows(options_)); }).info().what,
            "an access of a shader ends behind the last address");
}

std::vector<std::string> of_shaders(const memory::Instructions& raw) {
  constexpr std::array<const char*, 7> kNames{"load",        "store",        "atomic",      "image-load",
                                              "image-store", "image-atomic", "image-sample"};
  std::vector<std::string> all;
  for (const memory::Instruction& row : raw.rows) {
    if (!is_of_shaders(row.kind)) {
      continue;
    }
    EXPECT_EQ(row.store,
              row.kind != DataKind::ShaderLoad && row.kind != DataKind::ImageLoad && row.kind != DataKind::ImageSample);
    std::string text =
        std::string(kNames.at(static_cast<std::size_t>(row.kind) - static_cast<std::size_t>(DataKind::ShaderLoad))) +
        " " + std::to_string(row.bytes) + ":";
    std::uint32_t at = row.first;
    for (std::uint64_t mask = row.mask; mask != 0; mask &= mask - 1, ++at) {
      text += " " + std::to_string(std::countr_zero(mask)) + "@";
      for (std::uint32_t piece = 0; piece < row.pieces; ++piece) {
        const std::uint32_t place = at + piece * row.lanes();
        EXPECT_EQ(raw.thread[place], raw.thread[at]);
        if (piece == 0 || raw.address[place] != raw.address[place - row.lanes()]) {
          text +=
              (piece == 0 ? "" : ",") + std::to_string(raw.address[place]) + "/" + std::to_string(raw.element[place]);
        }
      }
    }
    all.push_back(text);
  }
  return all;
}

/// The instructions that are not of shaders, without rows of lanes' data.
std::vector<std::string> others(const WarpStream& stream, const memory::Allocations& table, std::uint32_t lanes) {
  std::vector<std::string> rows = told(stream.raw, table, lanes);
  std::erase_if(rows, [](const std::string& row) {
    return row.starts_with("shader-load") || row.starts_with("shader-store") || row.starts_with("shader-atomic") ||
           row.starts_with("image-");
  });
  return rows;
}

/// The launch cut in a way, its segments in some lanes: the twin's instructions, and all others as without accesses.
void expect_twin(const trace::Trace& trace, const scheduler::Segments& segments, std::uint32_t warp_size,
                 std::uint64_t seed) {
  const trace::Launch& launch = trace.launches[0];
  const bvh::Bvh structure = bvh::build_bvh(trace.scene, launch.tlas, "twin", {});
  Random random(seed);
  std::vector<std::uint32_t> segment_at(segments.size());
  for (std::uint32_t i = 0; i < segment_at.size(); ++i) {
    segment_at[i] = i;
    std::swap(segment_at[i], segment_at[random.one_in(3) ? random.below(i + 1) : i]);
  }
  segment_at.resize((segment_at.size() + warp_size - 1) / warp_size * warp_size, kNoSegment);
  std::vector<std::uint32_t> thread_at = some_places(launch, warp_size);
  StreamOptions options;
  options.warp_size = warp_size;
  options.shader_accesses = true;
  options.stores_are_pixels = false;
  options.coalescing.keep_raw = true;
  const memory::LaunchWork work{.segments = &segments, .segment_at = segment_at, .thread_at = thread_at};
  const auto source = memory::make_segment_source(trace, launch, structure, work, options);
  const std::vector<WarpStream> streams = all_streams(*source);
  options.shader_accesses = false;
  const auto without = memory::make_segment_source(trace, launch, structure, work, options);
  const std::vector<WarpStream> bare = all_streams(*without);
  const SlowShaderAccesses twin(trace, launch, segments, source->allocations());
  std::uint64_t lanes = 0;
  for (std::size_t item = 0; item < streams.size(); ++item) {
    ASSERT_EQ(of_shaders(streams[item].raw), twin.run(std::span(segment_at).subspan(item * warp_size, warp_size)))
        << "item " << item;
    ASSERT_EQ(others(streams[item], source->allocations(), warp_size),
              told(bare[item].raw, without->allocations(), warp_size));
    for (const memory::Instruction& row : streams[item].raw.rows) {
      lanes += is_of_shaders(row.kind) ? static_cast<std::uint64_t>(std::popcount(row.mask)) : 0U;
    }
  }
  memory::SourceTally expected;
  for (std::size_t thread = 0; thread < launch.data.threads(); ++thread) {
    for (std::uint64_t row = launch.data.accesses.offset[thread];
         row < launch.data.accesses.offset[thread + 1] && segments.first[thread] < segments.first[thread + 1]; ++row) {
      if (trace.access_sites.space[launch.data.accesses.site[row]] == AccessSpace::ShaderRecord) {
        continue;
      }
      ++(twin.is_somewhere(row) ? expected.shader_accesses : expected.nowhere_accesses);
      expected.image_accesses += twin.is_image(row) && twin.is_somewhere(row) ? 1U : 0U;
      expected.outside_samples += twin.is_outside(row) ? 1U : 0U;
      expected.assumed_filters += twin.assumes_filter(row) ? 1U : 0U;
    }
  }
  EXPECT_EQ(lanes, expected.shader_accesses) << "each access once";
  const memory::SourceTally& tally = source->tally();
  EXPECT_EQ(tally.shader_accesses, expected.shader_accesses);
  EXPECT_EQ(tally.image_accesses, expected.image_accesses);
  EXPECT_EQ(tally.nowhere_accesses, expected.nowhere_accesses);
  EXPECT_EQ(tally.assumed_filters, expected.assumed_filters);
  EXPECT_EQ(tally.outside_samples, expected.outside_samples);
  EXPECT_GT(expected.shader_accesses, 0U);
}

TEST(ShaderAccesses, AsTheirTwin) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    trace::Trace trace = random_trace({.seed = seed, .size = {16, 5, 1}, .ray = seed % 2 == 0});
    add_random_accesses(trace, seed);
    const trace::Launch& launch = trace.launches[0];
    for (const auto at : {scheduler::CutAt::Nothing, scheduler::CutAt::PendingCall, scheduler::CutAt::EveryCall}) {
      SCOPED_TRACE(seed);
      expect_twin(trace, scheduler::cut_paths(launch, {.at = at}), seed % 3 == 0 ? 4 : 32, seed);
    }
  }
}

TEST(ShaderAccesses, AsTheirTwinInATracedLaunch) {
  trace::Trace trace = traced(3);
  add_random_accesses(trace, 5);
  expect_twin(trace, scheduler::cut_paths(trace.launches[0], {}), 32, 1);
  expect_twin(trace, scheduler::cut_paths(trace.launches[0], {.at = scheduler::CutAt::PendingCall}), 16, 1);
}

/// Addresses and order of a real run (tests/data/lavapipe/README.md).
TEST(ShaderAccesses, AsTheirTwinInACapture) {
  for (const char* name : {"one-weekend-memory", "stored-pixels"}) {
    SCOPED_TRACE(name);
    const trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/lavapipe/" + std::string(name) + ".rrt");
    for (const auto at : {scheduler::CutAt::Nothing, scheduler::CutAt::PendingCall, scheduler::CutAt::EveryCall}) {
      expect_twin(trace, scheduler::cut_paths(trace.launches[0], {.at = at}), 32, 1);
    }
  }
}

}  // namespace
}  // namespace rayreplay::test
