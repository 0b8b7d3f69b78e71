// Instrumented shaders run on the Vulkan device at hand (lavapipe where there is no GPU): the records are what the
// shaders did, the picture is the same with and without them.
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>

#include <gtest/gtest.h>

#include "AnyHit.spv.hpp"
#include "ClosestHit.spv.hpp"
#include "FlagsAnyHit.spv.hpp"
#include "FlagsClosestHit.spv.hpp"
#include "FlagsMiss.spv.hpp"
#include "FlagsRayGeneration.spv.hpp"
#include "HintedRayGeneration.spv.hpp"
#include "IntersectionModule.spv.hpp"
#include "Miss.spv.hpp"
#include "RayGeneration.spv.hpp"
#include "capture/apps/framework/pipeline.hpp"
#include "capture/instrument/instrument.hpp"
#include "tests/instrument/support/chunks.hpp"
#include "tests/instrument/support/execution_scene.hpp"
#include "tests/instrument/support/group_operations.hpp"

namespace rayreplay {
namespace {

using test::Chunk;
using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kWidth = 16;
constexpr std::uint32_t kHeight = 4;
constexpr std::uint32_t kThreads = kWidth * kHeight;

enum Shader : std::uint16_t {
  kRayGenerationShader,
  kMissShader,
  kClosestHitShader,
  kAnyHitShader,
  kIntersectionShader
};

constexpr VkBufferUsageFlags kStorage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

struct Recording {
  Words seen;                  ///< the picture
  std::uint64_t appended = 0;  ///< the counter
  std::array<std::uint32_t, RR_KINDS> dropped{};
  std::uint32_t culling = 0;  ///< rays that cull what is not opaque
  std::vector<Chunk> chunks;

  /// Recorded lanes of a kind.
  [[nodiscard]] std::size_t count(std::uint32_t kind) const {
    std::size_t n = 0;
    for (const Chunk& chunk : chunks) {
      n += chunk.kind == kind ? chunk.lanes.size() : 0;
    }
    return n;
  }
  /// What each thread did, in its order.
  [[nodiscard]] std::map<std::uint32_t, Words> kinds_by_thread() const {
    std::map<std::uint32_t, Words> kinds;
    for (const Chunk& chunk : chunks) {
      for (const Words& lane : chunk.lanes) {
        kinds[lane[0]].push_back(chunk.kind);
      }
    }
    return kinds;
  }
};

struct RunRequest {
  bool instrumented = true;
  bool opaque = false;  ///< the geometries'
  bool any_hit = true;  ///< the application has an any-hit shader
  bool gate_open = true;
  bool flags = false;   ///< the shaders with rays of all opacity flags, also from hits; boxes have any-hit shaders, too
  bool hinted = false;  ///< the ray-generation shader has a marker
  bool opacity_table = false;
  std::uint32_t opacity = RR_OPACITY_TABLE;  ///< what the control block says of the table
  std::uint32_t flags_threads = kThreads;    ///< whose ray flags are kept
  std::uint32_t words = 1U << 16;            ///< the buffer's size
  std::uint64_t claimed = 0;                 ///< what the shaders are told; 0: its size
  bool swizzle = false;
  instrument::Options options = {};
};

/// A pipeline and all that it needs; several launches of it cost one compilation.
class Program {
 public:
  Program(const apps::Device& device, const RunRequest& request)
      : device_(device),
        request_(request),
        seen_(device, kThreads * 4, kStorage, apps::MemoryKind::Readback),
        events_(device, request.words * 4, kStorage, apps::MemoryKind::Readback),
        control_(device, 2 * RR_CONTROL_BYTES, kStorage, apps::MemoryKind::Readback),
        opacity_(device, 16, kStorage, apps::MemoryKind::Readback),
        ray_flags_(device, kThreads * 4, kStorage, apps::MemoryKind::Readback) {
    Words table(kThreads);
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      table[i] = kThreads - 1 - i;
    }
    swizzle_ = apps::upload(device, table, kStorage);
    aligned_ = (control_.address() + 255) / 256 * 256;
    block_ = control_.mapped() + (aligned_ - control_.address());
    bind(request.opaque);
    make_pipeline();
  }

  /// With geometries that are opaque or not, and what the control block says of the table.
  Recording launch(bool opaque, std::uint32_t opacity, bool gate_open = true) {
    bind(opaque);
    std::memset(control_.mapped(), 0, 2 * RR_CONTROL_BYTES);
    const auto write = [&](std::size_t at, std::uint32_t value) { std::memcpy(block_ + at, &value, 4); };
    write(RR_CONTROL_GATE, gate_open ? 1 : 0);
    write(RR_CONTROL_OPACITY, opacity);
    // Two instances of one geometry each: instances' first bits, then the bits.
    const Words bits{2, 0, 1, opaque ? 3U : 0U};
    std::memcpy(opacity_.mapped(), bits.data(), bits.size() * 4);
    // What an earlier launch may have left there: flags that no ray has.
    std::memset(ray_flags_.mapped(), 0xFF, kThreads * 4);
    device_.submit([&](VkCommandBuffer commands) {
      const VkDescriptorSet set = descriptors_->handle();
      vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline_->handle());
      vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline_->layout(), 0, 1, &set, 0,
                              nullptr);
      records_->trace(commands, kWidth, kHeight);
      VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT,
                              VK_ACCESS_HOST_READ_BIT};
      vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                           &barrier, 0, nullptr, 0, nullptr);
    });
    return read();
  }

 private:
  void bind(bool opaque) {
    if (scene_ && bound_opaque_ == opaque) {
      return;
    }
    bound_opaque_ = opaque;
    descriptors_.reset();
    scene_.emplace(device_, opaque);
    descriptors_.emplace(
        device_, std::vector<apps::Binding>{apps::StructureBinding{scene_->top()}, apps::StorageBinding{&seen_}});
  }

  void make_pipeline() {
    instrument::Options options = request_.options;
    options.events_address = events_.address();
    options.events_words = request_.claimed == 0 ? request_.words : request_.claimed;
    options.control_address = aligned_;
    options.opacity_address = request_.opacity_table ? opacity_.address() : 0;
    options.ray_flags_address = ray_flags_.address();
    options.ray_flags_threads = request_.flags_threads;
    if (request_.swizzle) {
      options.swizzle = instrument::SwizzleTable{swizzle_.address(), kWidth, kHeight, 1};
    }
    std::vector<Words> modules;
    modules.reserve(8);
    const auto shader = [&](std::span<const std::uint32_t> words, std::uint16_t id) -> std::span<const std::uint32_t> {
      if (!request_.instrumented) {
        return words;
      }
      options.first_shader_id = id;
      instrument::Result result = instrument::instrument(words, options);
      EXPECT_NE(result.status, instrument::Status::Refused) << result.reason;
      if (result.status == instrument::Status::Unchanged) {
        EXPECT_FALSE(options.record);
        return words;
      }
      return modules.emplace_back(std::move(result.spirv));
    };
    apps::PipelineBuilder builder;
    builder.recursion = request_.flags ? 2 : 1;
    const auto either = [&](std::span<const std::uint32_t> plain, std::span<const std::uint32_t> flags) {
      return request_.flags ? flags : plain;
    };
    const std::span<const std::uint32_t> plain_generation =
        request_.hinted ? std::span<const std::uint32_t>(kHintedRayGeneration) : kRayGeneration;
    const auto generation = builder.add_stage(
        VK_SHADER_STAGE_RAYGEN_BIT_KHR, shader(either(plain_generation, kFlagsRayGeneration), kRayGenerationShader));
    const auto miss = builder.add_stage(VK_SHADER_STAGE_MISS_BIT_KHR, shader(either(kMiss, kFlagsMiss), kMissShader));
    const auto hit = builder.add_stage(VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR,
                                       shader(either(kClosestHit, kFlagsClosestHit), kClosestHitShader));
    std::uint32_t any = apps::kNoStage;
    if (request_.any_hit) {
      any = builder.add_stage(VK_SHADER_STAGE_ANY_HIT_BIT_KHR, shader(either(kAnyHit, kFlagsAnyHit), kAnyHitShader));
    } else if (request_.instrumented && request_.options.observe_all) {
      options.first_shader_id = kAnyHitShader;
      any = builder.add_stage(VK_SHADER_STAGE_ANY_HIT_BIT_KHR, modules.emplace_back(recording_any_hit(options)));
    }
    const auto box =
        builder.add_stage(VK_SHADER_STAGE_INTERSECTION_BIT_KHR, shader(kIntersectionModule, kIntersectionShader));
    const auto generation_group = builder.add_general_group(generation);
    const auto miss_group = builder.add_general_group(miss);
    const auto triangle_group = builder.add_hit_group(hit, any, apps::kNoStage);
    const auto box_group = builder.add_hit_group(hit, request_.flags && request_.any_hit ? any : apps::kNoStage, box);
    pipeline_.emplace(device_, builder, *descriptors_);
    records_.emplace(device_, *pipeline_, apps::ShaderRecord{generation_group, {}},
                     std::vector<apps::ShaderRecord>{{miss_group, {}}},
                     std::vector<apps::ShaderRecord>{{triangle_group, {}}, {box_group, {}}});
  }

  [[nodiscard]] Recording read() const {
    Recording result;
    result.seen.resize(kThreads);
    std::memcpy(result.seen.data(), seen_.mapped(), kThreads * 4);
    std::memcpy(&result.appended, block_ + RR_CONTROL_COUNTER, 8);
    std::memcpy(result.dropped.data(), block_ + RR_CONTROL_DROPPED, sizeof(result.dropped));
    std::memcpy(&result.culling, block_ + RR_CONTROL_CULLING, 4);
    if (result.appended <= request_.words) {
      Words words(result.appended);
      std::memcpy(words.data(), events_.mapped(), words.size() * 4);
      result.chunks = test::read_chunks(words);
    }
    return result;
  }

  const apps::Device& device_;
  RunRequest request_;
  apps::Buffer seen_, events_, control_, opacity_, ray_flags_, swizzle_;
  std::uint64_t aligned_ = 0;
  std::byte* block_ = nullptr;
  bool bound_opaque_ = false;
  std::optional<test::ExecutionScene> scene_;
  std::optional<apps::DescriptorSet> descriptors_;
  std::optional<apps::RayTracingPipeline> pipeline_;
  std::optional<apps::ShaderBindingTable> records_;
};

/// Whether probes vote by the extension.
class Execution : public testing::TestWithParam<bool> {
 protected:
  static apps::Device& device() {
    static apps::Device device{apps::DeviceRequest{}};
    return device;
  }

  static Recording run(RunRequest request) {
    request.options.ballot_extension = test::votes_by_extension(device(), GetParam());
    return Program(device(), request).launch(request.opaque, request.opacity, request.gate_open);
  }
};

float as_float(std::uint32_t word) {
  return std::bit_cast<float>(word);
}

const Words kTriangleTaken = {RR_RAY_GENERATION, RR_TRACE, RR_ANY_HIT, RR_CLOSEST_HIT};
const Words kTriangleIgnored = {RR_RAY_GENERATION, RR_TRACE, RR_ANY_HIT, RR_IGNORE, RR_MISS};
const Words kTriangleEnded = {RR_RAY_GENERATION, RR_TRACE, RR_ANY_HIT, RR_TERMINATE, RR_CLOSEST_HIT};
const Words kBox = {RR_RAY_GENERATION, RR_TRACE,           RR_INTERSECTION, RR_REPORT,
                    RR_REPORT,         RR_REPORT_REJECTED, RR_CLOSEST_HIT};
const Words kNothing = {RR_RAY_GENERATION, RR_TRACE, RR_MISS};

Words expected(std::uint32_t thread) {
  const std::uint32_t x = thread % kWidth;
  switch (thread / kWidth) {
    case 0:
      return x % 2 == 1 ? kTriangleIgnored : x == 2 ? kTriangleEnded : kTriangleTaken;
    case 1:
      return kBox;
    default:
      return kNothing;
  }
}

TEST_P(Execution, EveryThreadRecordsWhatItDid) {
  const Recording plain = run({.instrumented = false});
  const Recording recorded = run({});
  EXPECT_EQ(recorded.seen, plain.seen);
  const auto kinds = recorded.kinds_by_thread();
  ASSERT_EQ(kinds.size(), kThreads);
  for (const auto& [thread, list] : kinds) {
    EXPECT_EQ(list, expected(thread)) << thread;
  }
  for (const Chunk& chunk : recorded.chunks) {
    EXPECT_FALSE(chunk.wide);
    EXPECT_FALSE(chunk.partial);
    EXPECT_EQ(chunk.clock, 0U);
    for (const Words& lane : chunk.lanes) {
      const float x = static_cast<float>(lane[0] % kWidth) + 0.5F;
      const float y = static_cast<float>(lane[0] / kWidth) + 0.5F;
      switch (chunk.kind) {
        case RR_TRACE:
          EXPECT_EQ(chunk.shader, kRayGenerationShader);
          EXPECT_EQ(lane[1], 0U);
          EXPECT_EQ(lane[2], 0x10FFU);
          EXPECT_EQ(lane[3], 0U);
          EXPECT_EQ(as_float(lane[4]), x);
          EXPECT_EQ(as_float(lane[5]), y);
          EXPECT_EQ(as_float(lane[6]), 0.0F);
          EXPECT_EQ(as_float(lane[7]), 0.25F);
          EXPECT_EQ(as_float(lane[10]), 1.0F);
          EXPECT_EQ(as_float(lane[11]), 100.0F);
          break;
        case RR_ANY_HIT:
          EXPECT_EQ(chunk.shader, kAnyHitShader);
          EXPECT_EQ(as_float(lane[1]), 5.0F);
          EXPECT_EQ(lane[2], 0U);
          EXPECT_EQ(lane[3], 0U);
          EXPECT_EQ(lane[4] & 0xFFFFFF, 0U);
          EXPECT_GE(lane[4] >> 24, 0xFEU);
          break;
        case RR_INTERSECTION:
          EXPECT_EQ(lane[2], 1U);
          break;
        case RR_REPORT:
          EXPECT_TRUE((as_float(lane[1]) == 5.5F && lane[2] == 7) || (as_float(lane[1]) == 9.0F && lane[2] == 8));
          break;
        case RR_CLOSEST_HIT:
          EXPECT_EQ(as_float(lane[1]), lane[0] < kWidth ? 5.0F : 5.5F);
          EXPECT_EQ(lane[2], lane[0] < kWidth ? 0U : 1U);
          EXPECT_TRUE(lane[0] < kWidth ? lane[4] >> 24 >= 0xFE : lane[4] >> 24 == 7);
          break;
        default:
          break;
      }
    }
  }
}

TEST_P(Execution, MarkersAreRecordedBeforeTheirTraceCalls) {
  const Recording unmarked = run({.instrumented = false});
  const Recording plain = run({.instrumented = false, .hinted = true});
  const Recording recorded = run({.hinted = true});
  EXPECT_EQ(plain.seen, unmarked.seen);  // the driver ignores markers
  EXPECT_EQ(recorded.seen, plain.seen);
  for (const auto& [thread, list] : recorded.kinds_by_thread()) {
    Words wanted = expected(thread);
    if (thread % kWidth % 3 != 0) {
      wanted.insert(wanted.begin() + 1, RR_HINT);
    }
    EXPECT_EQ(list, wanted) << thread;
  }
  std::size_t hints = 0;
  for (const Chunk& chunk : recorded.chunks) {
    for (const Words& lane : chunk.lanes) {
      if (chunk.kind == RR_HINT) {
        EXPECT_EQ(lane[1], lane[0] % kWidth * 7 + lane[0] / kWidth);
        ++hints;
      }
    }
  }
  EXPECT_EQ(hints, std::size_t{10} * kHeight);
}

TEST_P(Execution, WindowAndEveryKeepTheLaneMasks) {
  RunRequest request;
  request.options.window = instrument::Window{3, 0, 4, 2};
  const Recording window = run(request);
  const auto kinds = window.kinds_by_thread();
  EXPECT_EQ(kinds.size(), 8U);
  for (const auto& [thread, list] : kinds) {
    EXPECT_TRUE(thread % kWidth >= 3 && thread % kWidth < 7 && thread < 2 * kWidth) << thread;
    EXPECT_EQ(list, expected(thread));
  }
  // Whole warps begin together, though only a part of each is recorded.
  const Recording all = run({});
  std::uint64_t lanes = 0;
  for (const Chunk& chunk : all.chunks) {
    lanes |= chunk.kind == RR_RAY_GENERATION ? chunk.mask : 0;
  }
  for (const Chunk& chunk : window.chunks) {
    if (chunk.kind == RR_RAY_GENERATION) {
      EXPECT_TRUE(chunk.partial);
      EXPECT_EQ(chunk.mask, lanes);
    }
  }
  request.options.window.reset();
  request.options.every = 5;
  const auto every = run(request).kinds_by_thread();
  EXPECT_EQ(every.size(), (kThreads + 4) / 5);
  for (const auto& [thread, list] : every) {
    EXPECT_EQ(thread % 5, 0U);
    EXPECT_EQ(list, expected(thread));
  }
}

TEST_P(Execution, WideAndLargeBuffersGiveTheSameRecords) {
  RunRequest request;
  request.options.wide_subgroups = true;
  request.options.every = 3;
  const Recording wide = run(request);
  for (const Chunk& chunk : wide.chunks) {
    EXPECT_TRUE(chunk.wide);
  }
  for (const auto& [thread, list] : wide.kinds_by_thread()) {
    EXPECT_EQ(list, expected(thread));
  }
  // Told of 2^33 words, shaders hand out 64-bit places; the few that are used lie in the buffer.
  const auto kinds = run({.claimed = std::uint64_t{1} << 33}).kinds_by_thread();
  EXPECT_EQ(kinds.size(), kThreads);
  for (const auto& [thread, list] : kinds) {
    EXPECT_EQ(list, expected(thread));
  }
}

TEST_P(Execution, TheGateCloses) {
  RunRequest request;
  request.options.gate = true;
  EXPECT_EQ(run(request).kinds_by_thread().size(), kThreads);
  request.gate_open = false;
  const Recording closed = run(request);
  EXPECT_EQ(closed.appended, 0U);
  EXPECT_EQ(closed.seen, run({.instrumented = false}).seen);
}

TEST_P(Execution, WhatDoesNotFitIsCounted) {
  const Recording whole = run({});
  const Recording cut = run({.words = 300});
  EXPECT_EQ(cut.appended, whole.appended);
  EXPECT_GT(cut.appended, 300U);
  // Nearly all of it: the buffer holds a few chunks.
  const std::uint64_t dropped = std::accumulate(cut.dropped.begin(), cut.dropped.end(), std::uint64_t{0});
  std::uint64_t lanes = 0;
  for (std::uint32_t kind = 0; kind < RR_KINDS; ++kind) {
    EXPECT_LE(cut.dropped[kind], whole.count(kind));
    EXPECT_EQ(whole.dropped[kind], 0U);
    lanes += whole.count(kind);
  }
  EXPECT_GT(dropped, lanes / 2);
  EXPECT_LT(dropped, lanes);
  EXPECT_EQ(cut.seen, whole.seen);
}

TEST_P(Execution, SwizzledThreadsAreOtherThreads) {
  const Recording plain = run({});
  const Recording swizzled = run({.swizzle = true});
  EXPECT_EQ(swizzled.seen, plain.seen);
  for (const auto& [thread, list] : swizzled.kinds_by_thread()) {
    EXPECT_EQ(list, expected(thread));
  }
  // Lanes run up, threads run down.
  std::size_t groups = 0;
  for (const Chunk& chunk : swizzled.chunks) {
    if (chunk.kind == RR_RAY_GENERATION && chunk.lanes.size() > 1) {
      EXPECT_EQ(chunk.lanes[0][0], chunk.lanes[1][0] + 1);
      ++groups;
    }
  }
  EXPECT_GT(groups, 0U);
  RunRequest silent{.swizzle = true};
  silent.options.record = false;
  const Recording quiet = run(silent);
  EXPECT_EQ(quiet.seen, plain.seen);
  EXPECT_EQ(quiet.appended, 0U);
}

TEST_P(Execution, OpaqueGeometryIsObserved) {
  // Opaque triangles: the application's any-hit shader must not run, yet the candidates are seen.
  const Recording plain = run({.instrumented = false, .opaque = true});
  EXPECT_EQ(run({.opaque = true}).count(RR_ANY_HIT), 0U);
  RunRequest request{.opaque = true, .opacity_table = true};
  request.options.ballot_extension = test::votes_by_extension(device(), GetParam());
  request.options.observe_all = true;
  const Recording observed = run(request);
  EXPECT_EQ(observed.seen, plain.seen);
  EXPECT_EQ(observed.count(RR_ANY_HIT), kWidth);
  EXPECT_EQ(observed.count(RR_IGNORE), 0U);
  // Without an any-hit shader of the application: ours.
  request.any_hit = false;
  request.opacity_table = false;
  const Recording ours = run(request);
  EXPECT_EQ(ours.seen, run({.instrumented = false, .opaque = true, .any_hit = false}).seen);
  EXPECT_EQ(ours.count(RR_ANY_HIT), kWidth);
}

/// Rays and any-hit calls of the threads that meet triangles.
struct TriangleRays {
  std::map<std::uint32_t, std::size_t> rays;  ///< by flags
  std::size_t any_hits = 0;
  std::uint32_t culling = 0;  ///< rays that cull what is not opaque, of all threads

  TriangleRays(const Recording& recording, std::uint32_t first, std::uint32_t last) {
    for (const Chunk& chunk : recording.chunks) {
      for (const Words& lane : chunk.lanes) {
        culling += chunk.kind == RR_TRACE && lane[1] == kCullNoOpaque ? 1U : 0U;
        if (lane[0] < first || lane[0] >= last) {
          continue;
        }
        if (chunk.kind == RR_TRACE) {
          ++rays[lane[1]];
        }
        any_hits += chunk.kind == RR_ANY_HIT ? 1U : 0U;
      }
    }
  }
  [[nodiscard]] std::size_t of(std::initializer_list<std::uint32_t> flags) {
    return std::accumulate(flags.begin(), flags.end(), std::size_t{0},
                           [&](std::size_t sum, std::uint32_t f) { return sum + rays[f]; });
  }
  static constexpr std::uint32_t kNone = 0, kOpaque = 1, kNoOpaque = 2, kCullOpaque = 64, kCullNoOpaque = 128;
};

TEST_P(Execution, RaysOfAllFlagsAreObservedAndSeeTheirOwn) {
  using R = TriangleRays;
  Program plain(device(), {.instrumented = false, .flags = true});
  RunRequest request{.flags = true, .opacity_table = true};
  request.options.observe_all = true;
  Program observing(device(), request);
  request.swizzle = true;
  Program swizzled(device(), request);
  request.swizzle = false;
  request.flags_threads = kWidth / 2;
  Program half(device(), request);
  for (const bool opaque : {true, false}) {
    const Recording expected = plain.launch(opaque, RR_OPACITY_TABLE);
    const auto observed = [&](Program& program, std::uint32_t opacity, std::initializer_list<std::uint32_t> flags,
                              std::uint32_t first = 0, std::uint32_t last = kWidth) {
      const Recording recording = program.launch(opaque, opacity);
      EXPECT_EQ(recording.seen, expected.seen) << opaque;
      TriangleRays rays(recording, first, last);
      EXPECT_GE(rays.of({R::kNone}), 2 * (last - first));  // some from hits
      EXPECT_EQ(rays.any_hits, rays.of(flags)) << opaque;
      EXPECT_EQ(recording.culling, rays.culling);
      EXPECT_GE(recording.culling, kThreads);
    };
    if (opaque) {
      observed(observing, RR_OPACITY_TABLE, {R::kNone, R::kOpaque, R::kNoOpaque});
      observed(swizzled, RR_OPACITY_TABLE, {R::kNone, R::kOpaque, R::kNoOpaque});
      // Without a table: the rays that are opaque themselves.
      observed(observing, RR_OPACITY_RAYS, {R::kOpaque, R::kNoOpaque});
      // An any-hit shader does not look: none.
      observed(observing, RR_OPACITY_AS_GIVEN, {R::kNoOpaque});
      // The flags of some threads are kept.
      observed(half, RR_OPACITY_TABLE, {R::kNone, R::kOpaque, R::kNoOpaque}, 0, kWidth / 2);
      observed(half, RR_OPACITY_TABLE, {R::kNoOpaque}, kWidth / 2, kWidth);
    } else {
      observed(observing, RR_OPACITY_TABLE, {R::kNone, R::kOpaque, R::kNoOpaque, R::kCullOpaque});
      observed(observing, RR_OPACITY_RAYS, {R::kNone, R::kOpaque, R::kNoOpaque, R::kCullOpaque});
      observed(observing, RR_OPACITY_AS_GIVEN, {R::kNone, R::kNoOpaque, R::kCullOpaque});
    }
  }
  // No any-hit shader of the application: no table, and hit and miss shaders see the flags that it gave.
  RunRequest bare{.opaque = true, .any_hit = false, .flags = true};
  bare.options.observe_all = true;
  const Recording recording = run(bare);
  EXPECT_EQ(recording.seen, run({.instrumented = false, .opaque = true, .any_hit = false, .flags = true}).seen);
  TriangleRays rays(recording, 0, kWidth);
  EXPECT_EQ(rays.any_hits, rays.of({R::kNone, R::kOpaque, R::kNoOpaque}));
}

TEST_P(Execution, AClosedOpacityTableChangesNothing) {
  for (const std::uint32_t opacity : {RR_OPACITY_AS_GIVEN, RR_OPACITY_RAYS}) {
    RunRequest request{.opaque = true, .opacity_table = true, .opacity = opacity};
    request.options.observe_all = true;
    const Recording observed = run(request);
    EXPECT_EQ(observed.seen, run({.instrumented = false, .opaque = true}).seen);
    EXPECT_EQ(observed.count(RR_ANY_HIT), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Shaders, Execution, testing::Values(false, true),
                         [](const auto& tested) { return tested.param ? "ByExtension" : "ByTheCore"; });

}  // namespace
}  // namespace rayreplay
