// Inserted reordering on the Vulkan device at hand, and the code of hints beside its slow twin.
//
// Where the device has VK_NV_ray_tracing_invocation_reorder, the shaders run with hit objects. Elsewhere (lavapipe)
// they run with the hit objects taken out again behind everything else (undone_reordering.hpp): that shows what the
// inserted code computes, records and leaves alone, with misses in place of what a hit object would know.
#include <array>
#include <cstring>
#include <iostream>
#include <map>
#include <optional>
#include <span>

#include <gtest/gtest.h>

#include "AnyHit.spv.hpp"
#include "ClosestHit.spv.hpp"
#include "Formula.spv.hpp"
#include "IntersectionModule.spv.hpp"
#include "Miss.spv.hpp"
#include "RayGeneration.spv.hpp"
#include "Skips.spv.hpp"
#include "app/commands/capture/insert_ser.hpp"
#include "base/error.hpp"
#include "capture/apps/framework/pipeline.hpp"
#include "capture/instrument/instrument.hpp"
#include "capture/instrument/ser/hint_code.hpp"
#include "capture/instrument/ser/insert.hpp"
#include "scheduler-models/regrouping/hints/tree.hpp"
#include "tests/instrument/support/chunks.hpp"
#include "tests/instrument/support/execution_scene.hpp"
#include "tests/instrument/support/group_operations.hpp"
#include "tests/instrument/support/undone_reordering.hpp"
#include "tests/regrouping/random_formula.hpp"

namespace rayreplay {
namespace {

using instrument::HintProgram;
using test::Chunk;
using Words = std::vector<std::uint32_t>;
namespace formula = scheduler::formula;

constexpr VkBufferUsageFlags kStorage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
constexpr std::uint32_t kWidth = 16;
constexpr std::uint32_t kHeight = 4;
constexpr std::uint32_t kThreads = kWidth * kHeight;

struct TestDevice {
  std::optional<apps::Device> device;
  bool reorders = false;
};

TestDevice& test_device() {
  static TestDevice made;
  if (!made.device) {
    try {
      made.device.emplace(apps::DeviceRequest{.device = "", .reorder = true, .float64 = true});
      made.reorders = true;
    } catch (const Error&) {
      made.device.emplace(apps::DeviceRequest{.device = "", .reorder = false, .float64 = true});
    }
    std::cout << made.device->limits().name
              << (made.reorders ? ": hit objects run" : ": no hit objects, they are taken out again") << "\n";
  }
  return made;
}

apps::Device& device() {
  return *test_device().device;
}

bool reorders() {
  test_device();
  return test_device().reorders;
}

HintProgram program(const std::string& hint) {
  std::string reason;
  const auto made = instrument::parse_hint_program(app::ser_setting(hint), reason);
  if (!made) {
    throw std::runtime_error(reason);
  }
  return *made;
}

void launch(const apps::RayTracingPipeline& pipeline, const apps::ShaderBindingTable& records,
            const apps::DescriptorSet& descriptors, std::uint32_t width, std::uint32_t height) {
  device().submit([&](VkCommandBuffer commands) {
    const VkDescriptorSet set = descriptors.handle();
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline.handle());
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline.layout(), 0, 1, &set, 0,
                            nullptr);
    records.trace(commands, width, height);
    VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT,
                            VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, nullptr, 0, nullptr);
  });
}

// --- Code of formulas

/// The module of formula.rgen with the program in its function `formula`.
Words with_formula(const HintProgram& hint) {
  std::string reason;
  auto module = spirv::parse(kFormula, reason);
  spirv::Id wanted = 0;
  for (const spirv::Instruction& i : module->debug) {
    if (i.is(spv::Op::OpName) && i.string(2).starts_with("formula(")) {
      wanted = i[1];
    }
  }
  const instrument::FrozenConstants none{};
  instrument::Linker linker(*module, none);
  for (spirv::Function& function : module->functions) {
    if (function.id() != wanted) {
      continue;
    }
    instrument::HintValues values{};
    std::vector<spirv::Instruction> body;
    std::size_t parameters = 0;
    for (const spirv::Instruction& i : function.body) {
      if (i.is(spv::Op::OpFunctionParameter)) {
        values.at(parameters++) = i[2];
      }
      body.push_back(i);
      if (i.is(spv::Op::OpLabel)) {
        break;
      }
    }
    EXPECT_EQ(parameters, values.size());
    const spirv::Id result = instrument::formula_code(linker, body, hint, values);
    body.emplace_back(spv::Op::OpReturnValue, std::initializer_list<std::uint32_t>{result});
    body.emplace_back(spv::Op::OpFunctionEnd, std::initializer_list<std::uint32_t>{});
    function.body = std::move(body);
  }
  linker.finish();
  return module->serialise();
}

using FieldValues = std::array<double, instrument::kHintFields.size()>;

std::vector<std::uint32_t> on_device(const HintProgram& hint, const std::vector<FieldValues>& values) {
  std::vector<std::uint32_t> words(values.size() * sizeof(FieldValues) / 4);
  std::memcpy(words.data(), values.data(), words.size() * 4);
  const apps::Buffer given = apps::upload(device(), words, kStorage);
  const apps::Buffer seen(device(), values.size() * 4, kStorage, apps::MemoryKind::Readback);
  const apps::DescriptorSet descriptors(device(), {apps::StorageBinding{&seen}, apps::StorageBinding{&given}});
  const Words module = with_formula(hint);
  apps::PipelineBuilder builder;
  const auto group = builder.add_general_group(builder.add_stage(VK_SHADER_STAGE_RAYGEN_BIT_KHR, module));
  const apps::RayTracingPipeline pipeline(device(), builder, descriptors);
  const apps::ShaderBindingTable records(device(), pipeline, apps::ShaderRecord{group, {}}, {}, {});
  launch(pipeline, records, descriptors, static_cast<std::uint32_t>(values.size()), 1);
  std::vector<std::uint32_t> hints(values.size());
  std::memcpy(hints.data(), seen.mapped(), hints.size() * 4);
  return hints;
}

/// The hint of a formula, by its tree.
std::uint32_t by_hand(const formula::Expression& expression, std::uint32_t bits, const FieldValues& values) {
  const double value = formula::evaluate_tree(expression, [&](formula::Field field) {
                         return values.at(static_cast<std::size_t>(
                             *instrument::hint_field(formula::kFields.at(static_cast<std::size_t>(field)).name)));
                       }).value;
  const double most = std::ldexp(1.0, static_cast<int>(bits)) - 1;
  return !(value > 0) ? 0 : static_cast<std::uint32_t>(value < most ? value : most);
}

void expect_same(const std::string& text, std::uint32_t bits, const std::vector<FieldValues>& values) {
  const formula::Expression expression = formula::parse_expression(text, "the test's formula");
  const auto hints = on_device(program(std::to_string(bits) + "=" + text), values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(hints[i], by_hand(expression, bits, values[i]))
        << text << " of " << values[i][0] << ", " << values[i][1] << ", " << values[i][2];
  }
}

/// Values where operations have edges. No subnormal numbers: devices may take them for 0.
const std::vector<double>& edges() {
  static const std::vector<double> kEdges = {0.0,
                                             -0.0,
                                             1.0,
                                             -1.0,
                                             0.5,
                                             -0.5,
                                             2.5,
                                             -2.5,
                                             3.0,
                                             7.0,
                                             16.0,
                                             52.0,
                                             53.0,
                                             63.0,
                                             64.0,
                                             255.0,
                                             1e9,
                                             -1e9,
                                             4294967295.0,
                                             4503599627370497.0,
                                             9007199254740991.0,
                                             9007199254740992.0,
                                             1e300,
                                             -1e300,
                                             1e-300,
                                             0.1,
                                             -0.3,
                                             1.0 / 3,
                                             std::numeric_limits<double>::infinity(),
                                             -std::numeric_limits<double>::infinity(),
                                             std::numeric_limits<double>::quiet_NaN(),
                                             2.2250738585072014e-308};
  return kEdges;
}

/// Pairs of edges in the fields instance and primitive, one of a few in geometry.
std::vector<FieldValues> edge_values() {
  std::vector<FieldValues> values;
  for (const double a : edges()) {
    for (const double b : edges()) {
      FieldValues v{};
      v[0] = a;
      v[1] = b;
      v[2] = edges()[values.size() % 13];
      values.push_back(v);
    }
  }
  return values;
}

// The value itself, truncated, and all its bits by their hash.
TEST(Formulas, EveryOperationIsThatOfReplays) {
  const std::vector<FieldValues> values = edge_values();
  for (const char* text : {"instance",
                           "-instance",
                           "!instance",
                           "instance * primitive",
                           "instance % primitive",
                           "instance + primitive",
                           "instance - primitive",
                           "instance << primitive",
                           "instance >> primitive",
                           "instance & primitive",
                           "instance ^ primitive",
                           "instance | primitive",
                           "instance < primitive",
                           "instance <= primitive",
                           "instance > primitive",
                           "instance >= primitive",
                           "instance == primitive",
                           "instance != primitive",
                           "instance && primitive",
                           "instance || primitive",
                           "if(instance, primitive, geometry)",
                           "min(instance, primitive)",
                           "max(instance, primitive)",
                           "abs(instance)",
                           "floor(instance)",
                           "log2(instance)",
                           "clamp(instance, primitive, geometry)",
                           "bits(instance, primitive, geometry)",
                           "hash(instance)",
                           "hash(instance, primitive)",
                           "hash(instance, primitive, geometry, 7)"}) {
    expect_same(text, 32, values);
    expect_same("hash(" + std::string(text) + ")", 32, values);
  }
}

// Where the result is exact, every device has it.
TEST(Formulas, QuotientsAndRootsThatAreExact) {
  std::vector<FieldValues> values;
  for (int i = 0; i < 64; ++i) {
    FieldValues v{};
    v[0] = i * i;
    v[1] = std::ldexp(1.0, i % 9 - 4);
    values.push_back(v);
  }
  expect_same("hash(sqrt(instance))", 32, values);
  expect_same("hash(instance / primitive)", 32, values);
  expect_same("hash(instance / 0)", 32, values);
  expect_same("hash(sqrt(-1 - instance))", 32, values);
  values.clear();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double above : {0.0, -0.0, 1.0, -2.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
    for (const double below : {0.0, -0.0, 1.0, -2.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
      values.push_back({above, below});
    }
  }
  expect_same("hash(instance / primitive)", 32, values);
}

// Hints that `rayreplay advise` proposes for addresses, on whole numbers: quotients between them are truncated.
TEST(Formulas, StepsOfTheAdvisor) {
  std::vector<FieldValues> values;
  for (int i = 0; i < 256; ++i) {
    FieldValues v{};
    v[0] = i;
    v[1] = 9856 * (i / 8) + i % 3 - 1;  // a multiple, and its neighbours
    values.push_back(v);
  }
  values[0][1] = 0;
  for (const char* text : {"instance >> 3", "instance / 6", "primitive / 9856", "primitive >> 12",
                           "(instance / 6) << 2 | (instance % 4)", "(instance % 26) << 5 | (primitive / 9856)"}) {
    expect_same(text, 16, values);
  }
}

TEST(Formulas, RandomOnesGiveTheHintsOfReplays) {
  test::Random random(7);
  const bool exact_quotients = !device().limits().name.starts_with("NVIDIA");
  std::size_t tried = 0;
  for (int round = 0; tried < 40 && round < 2000; ++round) {
    const std::string text = test::random_formula(random, 4);
    if (!exact_quotients && (text.find('/') != std::string::npos || text.find("sqrt") != std::string::npos)) {
      continue;
    }
    const std::uint32_t bits = 1 + random.below(32);
    try {
      (void)app::ser_setting(std::to_string(bits) + "=" + text);
    } catch (const Error&) {
      continue;  // a field that is not known where a ray is traced
    }
    std::vector<FieldValues> values(64);
    for (FieldValues& v : values) {
      for (double& value : v) {
        value = random.one_in(4) ? edges()[random.below(edges().size())] : random.below(100) / 4.0;
      }
    }
    expect_same(text, bits, values);
    ++tried;
  }
  EXPECT_EQ(tried, 40U);
}

// --- Reordering of a pipeline's rays

struct Request {
  bool skips = false;  ///< rays of which some skip closest-hit shaders
  bool inserted = true;
  std::optional<HintProgram> hint = {};
  bool recorded = false;
};

struct Seen {
  Words picture;
  std::vector<Chunk> chunks;

  /// What each thread did, in its order, without reorder and execute calls.
  [[nodiscard]] std::map<std::uint32_t, Words> kinds_by_thread() const {
    std::map<std::uint32_t, Words> kinds;
    for (const Chunk& chunk : chunks) {
      for (const Words& lane : chunk.lanes) {
        if (chunk.kind != RR_REORDER && chunk.kind != RR_EXECUTE) {
          kinds[lane[0]].push_back(chunk.kind);
        }
      }
    }
    return kinds;
  }
  /// Of a kind, by thread; each thread has `each` of them.
  [[nodiscard]] std::map<std::uint32_t, Words> of(std::uint32_t kind, std::size_t each) const {
    std::map<std::uint32_t, Words> found;
    std::size_t lanes = 0;
    for (const Chunk& chunk : chunks) {
      for (const Words& lane : chunk.lanes) {
        if (chunk.kind == kind) {
          found[lane[0]] = lane;
          ++lanes;
        }
      }
    }
    EXPECT_EQ(found.size(), kThreads);
    EXPECT_EQ(lanes, kThreads * each);
    return found;
  }
};

Seen run(const Request& request) {
  constexpr std::uint32_t kEvents = 1U << 16;
  const apps::Buffer seen(device(), kThreads * 4, kStorage, apps::MemoryKind::Readback);
  const apps::Buffer events(device(), kEvents * 4, kStorage, apps::MemoryKind::Readback);
  const apps::Buffer control(device(), 2 * RR_CONTROL_BYTES, kStorage, apps::MemoryKind::Readback);
  const std::uint64_t aligned = (control.address() + 255) / 256 * 256;
  std::memset(control.mapped(), 0, 2 * RR_CONTROL_BYTES);
  const test::ExecutionScene scene(device(), false);
  const apps::DescriptorSet descriptors(device(), {apps::StructureBinding{scene.top()}, apps::StorageBinding{&seen}});
  instrument::Options options;
  options.events_address = events.address();
  options.events_words = kEvents;
  options.control_address = aligned;
  options.ballot_extension = test::votes_by_extension(device(), false);
  std::vector<Words> modules;
  modules.reserve(8);
  const auto shader = [&](std::span<const std::uint32_t> words, bool generates) -> std::span<const std::uint32_t> {
    Words& module = modules.emplace_back(words.begin(), words.end());
    if (generates && request.inserted) {
      auto result = instrument::insert_reordering(module, request.hint);
      EXPECT_EQ(result.inserted, 1U);
      EXPECT_EQ(test::validate(result.spirv, "vulkan1.2"), "");
      module = std::move(result.spirv);
    }
    if (request.recorded) {
      options.first_shader_id = static_cast<std::uint16_t>(modules.size());
      auto result = instrument::instrument(module, options);
      EXPECT_EQ(result.status, instrument::Status::Instrumented) << result.reason;
      EXPECT_EQ(test::validate(result.spirv, "vulkan1.2"), "");
      module = std::move(result.spirv);
    }
    if (generates && request.inserted && !reorders()) {
      module = test::undone_reordering(module);
      EXPECT_EQ(test::validate(module, "vulkan1.2"), "");
    }
    return module;
  };
  apps::PipelineBuilder builder;
  const auto generation =
      builder.add_stage(VK_SHADER_STAGE_RAYGEN_BIT_KHR,
                        shader(request.skips ? std::span<const std::uint32_t>(kSkips) : kRayGeneration, true));
  const auto miss = builder.add_stage(VK_SHADER_STAGE_MISS_BIT_KHR, shader(kMiss, false));
  const auto hit = builder.add_stage(VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR, shader(kClosestHit, false));
  const auto any = builder.add_stage(VK_SHADER_STAGE_ANY_HIT_BIT_KHR, shader(kAnyHit, false));
  const auto box = builder.add_stage(VK_SHADER_STAGE_INTERSECTION_BIT_KHR, shader(kIntersectionModule, false));
  const auto generation_group = builder.add_general_group(generation);
  const auto miss_group = builder.add_general_group(miss);
  const auto triangle_group = builder.add_hit_group(hit, any, apps::kNoStage);
  const auto box_group = builder.add_hit_group(hit, apps::kNoStage, box);
  const apps::RayTracingPipeline pipeline(device(), builder, descriptors);
  const apps::ShaderBindingTable records(device(), pipeline, {generation_group, {}}, {{miss_group, {}}},
                                         {{triangle_group, {}}, {box_group, {}}});
  launch(pipeline, records, descriptors, kWidth, kHeight);
  Seen result;
  result.picture.resize(kThreads);
  std::memcpy(result.picture.data(), seen.mapped(), kThreads * 4);
  std::uint64_t appended = 0;
  std::memcpy(&appended, control.mapped() + (aligned - control.address()) + RR_CONTROL_COUNTER, 8);
  EXPECT_LE(appended, kEvents);
  Words words(std::min<std::uint64_t>(appended, kEvents));
  std::memcpy(words.data(), events.mapped(), words.size() * 4);
  result.chunks = test::read_chunks(words);
  return result;
}

TEST(InsertedReordering, ThePictureStays) {
  const Seen plain = run({.inserted = false});
  EXPECT_EQ(run({}).picture, plain.picture);
  EXPECT_EQ(run({.hint = program("6=if(miss, 63, instance * 8 + min(distance, 7))")}).picture, plain.picture);
  EXPECT_EQ(run({.hint = program("32=hash(px, oy, dz, t_min)")}).picture, plain.picture);
}

TEST(InsertedReordering, RaysThatSkipClosestHitShadersSkipThem) {
  const Seen plain = run({.skips = true, .inserted = false});
  EXPECT_EQ(run({.skips = true}).picture, plain.picture);
  EXPECT_EQ(run({.skips = true, .hint = program("4=flags")}).picture, plain.picture);
  // Some rays did skip them: a payload of 5 stays.
  EXPECT_GT(std::ranges::count_if(plain.picture, [](std::uint32_t seen) { return seen % 100 == 5; }), 0);
}

TEST(InsertedReordering, EventsAreThoseOfTheApplicationAndOneReorderForEachRay) {
  for (const bool skips : {false, true}) {
    const Seen plain = run({.skips = skips, .inserted = false, .recorded = true});
    const Seen inserted = run({.skips = skips, .recorded = true});
    EXPECT_EQ(inserted.picture, plain.picture);
    EXPECT_EQ(inserted.kinds_by_thread(), plain.kinds_by_thread());
    for (const auto& [thread, lane] : inserted.of(RR_REORDER, skips ? 2 : 1)) {
      EXPECT_EQ(lane[1], 0U);
      EXPECT_EQ(lane[2], skips ? 0x100U : 0U) << "no bits, and the ray's number above them";
    }
  }
}

TEST(InsertedReordering, HintsOfThreadsAndRays) {
  const auto recorded = [](const std::string& hint, bool skips) {
    return run({.skips = skips, .hint = program(hint), .recorded = true}).of(RR_REORDER, skips ? 2 : 1);
  };
  for (const auto& [thread, lane] : recorded("9=y * 16 + x + z + bounce * 128 + site", false)) {
    EXPECT_EQ(lane[1], thread);
    EXPECT_EQ(lane[2], 9U);
  }
  // The last of two rays; its flags are those of the ray, and t_max is the ray's, not the hit's.
  for (const auto& [thread, lane] : recorded("20=bounce * 65536 + flags * 256 + t_max", true)) {
    const std::uint32_t flags = std::array<std::uint32_t, 3>{0, 8, 4}.at(thread % kWidth / 3 % 3);
    EXPECT_EQ(lane[1], 65536 + flags * 256 + 100) << thread;
    EXPECT_EQ(lane[2], 0x100U | 20U);
  }
}

// What the scene of the test shows: triangles at distance 5, boxes at 5.5. Without hit objects all are misses.
TEST(InsertedReordering, HintsOfHits) {
  const Seen seen = run({.hint = program("6=if(miss, 63, instance * 8 + distance)"), .recorded = true});
  for (const auto& [thread, lane] : seen.of(RR_REORDER, 1)) {
    const std::uint32_t x = thread % kWidth, y = thread / kWidth;
    const std::uint32_t hit = y == 0 && (x % 2 == 0) ? 5 : y == 1 ? 13 : 63;
    EXPECT_EQ(lane[1], reorders() ? hit : 63) << thread;
    EXPECT_EQ(lane[2], 6U);
  }
  if (!reorders()) {
    return;
  }
  const Seen more =
      run({.hint = program("32=material + custom_index + primitive + geometry * 2 + front_face * 4 + hit_kind * 8 + "
                           "(pz - oz) * 65536 + (px == ox) * 4096"),
           .recorded = true});
  for (const auto& [thread, lane] : more.of(RR_REORDER, 1)) {
    const std::uint32_t x = thread % kWidth, y = thread / kWidth;
    if (y == 1) {  // the box: record 1, hit kind 7
      EXPECT_EQ(lane[1], 1U + 7 * 8 + 5 * 65536 + 32768 + 4096) << thread;
    } else if (y > 1 || x % 2 == 1) {  // misses have no point, and the test's rays have no origin at 0
      EXPECT_EQ(lane[1], 0U) << thread;
    } else {
      EXPECT_EQ(lane[1] & 0xFFFF0000U, 5U * 65536) << thread;
    }
  }
}

}  // namespace
}  // namespace rayreplay
