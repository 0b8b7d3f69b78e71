// Accesses to images on the Vulkan device at hand: images of random shapes, formats, levels and views, and random
// commands for a shader that has every kind of access to them (images.rgen). A twin in plain C++ says which texel each
// command must have recorded; and texels hold their own places, so that what a nearest sampler, a fetch or a load gives
// is the texel.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "ImageAccesses.spv.hpp"
#include "capture/apps/framework/pipeline.hpp"
#include "capture/instrument/instrument.hpp"
#include "capture/trace/texel_address.hpp"
#include "tests/instrument/support/chunks.hpp"
#include "tests/instrument/support/group_operations.hpp"
#include "tests/instrument/support/test_image.hpp"

namespace rayreplay {
namespace {

using instrument::AccessKind, instrument::AccessSpace;
using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kWidth = 16, kHeight = 4, kThreads = kWidth * kHeight;
constexpr std::uint32_t kCommandsAThread = 12;  // as in the shader
constexpr std::uint32_t kEventWords = 1U << 18;
constexpr std::uint64_t kNoTexel = ~std::uint64_t{0};
constexpr std::uint32_t kShapes = 7;
enum Shape : std::uint32_t { kLine, kLines, kArea, kAreas, kVolume, kCube, kCubes, kOthers };
enum Operation : std::uint32_t { kLoad, kStore, kFetch, kSample, kMoved, kGradients, kProjected, kGather };
constexpr std::uint32_t kSampledBinding = 2, kStoredBinding = 9, kCounters = 16, kApart = 17;

struct Command {
  std::uint32_t what[4] = {};
  std::int32_t texel[4] = {};
  float place[4] = {0, 0, 0, 1};
  float along_x[4] = {}, along_y[4] = {};
};
static_assert(sizeof(Command) == 80);

/// The record that a command must make, and the texel of the whole image that it must read.
struct Expected {
  AccessKind kind = AccessKind::Load;
  std::uint32_t binding = 0;
  std::uint64_t address = 0;
  bool seen = false;
  std::array<std::uint32_t, 4> texel{};
};

struct Recorded {
  AccessKind kind = AccessKind::Load;
  std::uint32_t binding = 0;
  std::uint64_t address = 0;
  bool operator==(const Recorded&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Recorded& r) {
  const trace::Texel t = trace::unpack_texel(r.address);
  return out << "kind " << int(r.kind) << " binding " << r.binding << " x " << t.x << " y " << t.y << " layer "
             << t.layer << " level " << t.level << " element " << t.element;
}

/// An image and the part of it that a descriptor has.
struct Bound {
  std::unique_ptr<test::TestImage> image;
  VkImageView view = VK_NULL_HANDLE;
  std::uint32_t level = 0, levels = 1, layer = 0, layers = 1;

  [[nodiscard]] std::uint32_t side(std::uint32_t dimension, std::uint32_t at_level) const {
    const test::ImageShape& s = image->shape();
    const std::uint32_t size = dimension == 0 ? s.width : dimension == 1 ? s.height : s.depth;
    return std::max(size >> (level + at_level), 1U);
  }
};

bool is_cube(std::uint32_t shape) {
  return shape == kCube || shape == kCubes;
}
/// Dimensions of a layer.
std::uint32_t dimensions_of(std::uint32_t shape) {
  return shape <= kLines ? 1 : shape == kVolume ? 3 : 2;
}

/// Makes images and commands.
class Scene {
 public:
  Scene(const apps::Device& device, std::uint32_t seed) : device_(device), random_(seed) {
    for (std::uint32_t shape = 0; shape < kShapes; ++shape) {
      for (std::uint32_t element = 0; element < 2; ++element) {
        sampled[shape][element] = bound(shape, false, 4);
        stored[shape][element] = bound(shape, true, 4);
      }
    }
    counters = bound(kArea, true, 0);
    apart = bound(kArea, false, 4);
    for (std::uint32_t i = 0; i < kThreads * kCommandsAThread; ++i) {
      add();
    }
  }

  Bound sampled[kShapes][2], stored[kShapes][2], counters, apart;
  std::vector<Command> commands;
  std::vector<Expected> expected;

 private:
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(random_() % n);
  }
  float between(float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random_);
  }

  Bound bound(std::uint32_t shape, bool is_stored, std::uint32_t channel_bytes) {
    static constexpr VkImageViewType kViews[kShapes] = {
        VK_IMAGE_VIEW_TYPE_1D, VK_IMAGE_VIEW_TYPE_1D_ARRAY, VK_IMAGE_VIEW_TYPE_2D,        VK_IMAGE_VIEW_TYPE_2D_ARRAY,
        VK_IMAGE_VIEW_TYPE_3D, VK_IMAGE_VIEW_TYPE_CUBE,     VK_IMAGE_VIEW_TYPE_CUBE_ARRAY};
    const std::uint32_t dimensions = dimensions_of(shape);
    test::ImageShape s;
    s.view = kViews[shape];
    s.type = dimensions == 1 ? VK_IMAGE_TYPE_1D : dimensions == 3 ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D;
    s.stored = is_stored;
    s.channel_bytes = is_stored || channel_bytes == 0 ? channel_bytes : 1U << below(3);
    s.width = 1 + below(40);
    s.height = dimensions == 1 ? 1 : is_cube(shape) ? s.width : 1 + below(40);
    s.depth = dimensions == 3 ? 1 + below(12) : 1;
    std::uint32_t most = 1;
    while (std::max({s.width, s.height, s.depth}) >> most != 0) {
      ++most;
    }
    s.levels = 1 + below(most);
    Bound b;
    const std::uint32_t step = is_cube(shape) ? 6 : 1;
    b.layers = step * (shape == kLines || shape == kAreas || shape == kCubes ? 1 + below(3) : 1);
    b.layer = shape == kVolume ? 0 : below(3);
    s.layers = b.layer + b.layers + (shape == kVolume ? 0 : below(2));
    b.level = below(s.levels);
    b.levels = is_stored ? 1 : 1 + below(s.levels - b.level);
    b.image = std::make_unique<test::TestImage>(device_, s);
    b.view = b.image->view(b.level, b.levels, b.layer, b.layers);
    return b;
  }

  /// The whole image's texel.
  static std::array<std::uint32_t, 4> whole(const Bound& b, std::uint32_t x, std::uint32_t y, std::uint32_t z,
                                            std::uint32_t level) {
    return {x, y, z + b.layer, level + b.level};
  }

  void add() {
    const std::uint32_t shape = below(kShapes + 1);
    const std::uint32_t operation = below(8);
    const std::uint32_t element = shape == kOthers ? 0 : below(2);
    Command c;
    Expected e;
    const bool projects = shape == kLine || shape == kArea || shape == kVolume;
    const bool gathers = shape == kArea || shape == kAreas || is_cube(shape);
    if ((shape == kOthers && operation != kLoad && operation != kFetch && operation != kSample) ||
        (is_cube(shape) && (operation == kFetch || operation == kMoved)) || (operation == kProjected && !projects) ||
        (operation == kGather && !gathers)) {
      return add();
    }
    if (shape == kOthers) {
      const Bound& b = operation == kLoad ? counters : apart;
      e.binding = operation == kLoad ? kCounters : kApart;
      operation == kSample ? sample(c, e, b, kArea, kSample, 0) : integers(c, e, b, kArea, operation, 0);
      if (operation == kLoad) {
        e.kind = AccessKind::Atomic;
        e.texel = {e.texel[0] + 256 * e.texel[1], 0, 0, 0};
      }
    } else if (operation <= kFetch) {
      const Bound& b = operation == kFetch ? sampled[shape][element] : stored[shape][element];
      e.binding = (operation == kFetch ? kSampledBinding : kStoredBinding) + shape;
      integers(c, e, b, shape, operation, element);
    } else {
      e.binding = kSampledBinding + shape;
      sample(c, e, sampled[shape][element], shape, operation, element);
    }
    c.what[0] = shape * 8 + operation;
    c.what[1] = element;
    commands.push_back(c);
    expected.push_back(e);
  }

  void integers(Command& c, Expected& e, const Bound& b, std::uint32_t shape, std::uint32_t operation,
                std::uint32_t element) {
    e.kind = operation == kStore ? AccessKind::Store : AccessKind::Load;
    const std::uint32_t level = operation == kFetch ? below(b.levels) : 0;
    const std::uint32_t dimensions = dimensions_of(shape);
    std::int32_t at[3] = {};
    for (std::uint32_t d = 0; d < 3; ++d) {
      const std::uint32_t size = d < dimensions ? b.side(d, level) : d == 2 ? b.layers : 1;
      at[d] = static_cast<std::int32_t>(below(size));
    }
    e.seen = operation != kStore;
    e.texel = whole(b, static_cast<std::uint32_t>(at[0]), static_cast<std::uint32_t>(at[1]),
                    static_cast<std::uint32_t>(at[2]), level);
    if (e.binding != kCounters && e.binding != kApart && below(8) == 0) {  // outside of the image
      e.seen = false;
      at[0] = below(2) == 0 ? -1 - static_cast<std::int32_t>(below(3)) : at[0] + 64;
    }
    e.address = at[0] < 0 ? kNoTexel
                          : trace::pack({static_cast<std::uint32_t>(at[0]), static_cast<std::uint32_t>(at[1]),
                                         static_cast<std::uint32_t>(at[2]), level, element});
    const bool moved = e.binding == kApart;  // by (1, -1)
    c.texel[0] = at[0] - (moved ? 1 : 0);
    c.texel[1] = at[1] + (moved ? 1 : 0);
    c.texel[2] = at[2];
    c.texel[3] = static_cast<std::int32_t>(level);
    c.what[2] = b.layer;
    c.what[3] = b.level;
  }

  void sample(Command& c, Expected& e, const Bound& b, std::uint32_t shape, std::uint32_t operation,
              std::uint32_t element) {
    static constexpr std::int32_t kOffsets[kShapes][3] = {{-3}, {5}, {3, -2}, {-8, 7}, {1, -1, 2}};
    e.kind = AccessKind::Sample;
    e.seen = true;
    // Beyond the levels at both ends, and never close to the middle between two.
    const std::int32_t lod = static_cast<std::int32_t>(below(b.levels + 2)) - 1;
    const float exact = static_cast<float>(lod) + between(-0.3F, 0.3F);
    const bool first = operation == kGather || e.binding == kApart;
    const auto level = first ? 0U : static_cast<std::uint32_t>(std::clamp(lod, 0, int(b.levels) - 1));
    c.along_x[0] = exact;
    const std::uint32_t dimensions = dimensions_of(shape);
    std::uint32_t halves[3] = {}, sides[3] = {1, 1, 1};
    bool outside = false;
    for (std::uint32_t d = 0; d < dimensions; ++d) {
      sides[d] = b.side(d, level);
      const std::uint32_t parts = (d == 2 ? 1 : 2) * sides[d];
      halves[d] = below(parts);
      const float repeats = is_cube(shape) ? 0 : static_cast<float>(below(7)) - 3;
      outside = outside || repeats != 0;
      c.place[d] = (static_cast<float>(halves[d]) + between(0.1F, 0.9F)) / static_cast<float>(parts) + repeats;
      if (operation == kMoved) {
        const auto all = static_cast<std::int32_t>(parts);
        const std::int32_t moved = static_cast<std::int32_t>(halves[d]) + (d == 2 ? 1 : 2) * kOffsets[shape][d];
        outside = outside || (!is_cube(shape) && (moved < 0 || moved >= all));
        halves[d] = static_cast<std::uint32_t>((moved % all + all) % all);
      }
    }
    std::uint32_t layer = dimensions == 3 ? halves[2] : 0;
    if (shape == kLines || shape == kAreas) {
      const std::int32_t wanted = static_cast<std::int32_t>(below(b.layers + 2)) - 1;
      layer = static_cast<std::uint32_t>(std::clamp(wanted, 0, int(b.layers) - 1));
      c.place[2] = static_cast<float>(wanted) + between(-0.4F, 0.4F);
    }
    if (operation == kGradients) {
      // In x the change of the level, in the last dimension half of it.
      c.along_x[0] = std::exp2(exact) / static_cast<float>(b.side(0, 0));
      c.along_y[dimensions - 1] = std::exp2(exact - 1) / static_cast<float>(b.side(dimensions - 1, 0));
    }
    if (is_cube(shape)) {
      layer = direction(c, b, shape, operation == kGradients);
    }
    if (operation == kProjected) {
      const float by = std::exp2(static_cast<float>(below(5)) - 2);
      for (std::uint32_t d = 0; d < 3; ++d) {
        c.place[d] *= by;
      }
      c.place[3] = by;
    }
    e.address = trace::pack({halves[0], dimensions == 1 ? 0 : halves[1], layer, level, element, outside});
    e.texel = whole(b, halves[0] / 2, halves[1] / 2, layer, level);
    if (operation == kGather) {
      // The lower texel of the four; at the sides of a face they are of another.
      e.seen = !is_cube(shape) || (halves[0] != 0 && halves[1] != 0);
      e.texel = {(halves[0] + 2 * sides[0] - 1) / 2 % sides[0], (halves[1] + 2 * sides[1] - 1) / 2 % sides[1], 0, 0};
    }
  }

  /// From s and t of a face, the place of a texel, its direction; the same for gradients. The layer.
  std::uint32_t direction(Command& c, const Bound& b, std::uint32_t shape, bool gradients) {
    const std::uint32_t face = below(6);
    const float length = between(0.25F, 4);
    // The specification's table of faces, the other way round.
    const auto back = [&](float s, float t, float r, float* out) {
      const float table[6][3] = {{r, -t, -s}, {-r, -t, s}, {s, r, t}, {s, -r, -t}, {s, -t, r}, {-s, -t, -r}};
      std::copy(table[face], table[face] + 3, out);
    };
    const float s = c.place[0], t = c.place[1];
    back((2 * s - 1) * length, (2 * t - 1) * length, length, c.place);
    for (float* gradient : {c.along_x, c.along_y}) {
      if (gradients) {
        back(2 * gradient[0] * length, 2 * gradient[1] * length, 0, gradient);
      }
    }
    std::uint32_t cube = 0;
    if (shape == kCubes) {
      const std::int32_t wanted = static_cast<std::int32_t>(below(b.layers / 6 + 2)) - 1;
      cube = static_cast<std::uint32_t>(std::clamp(wanted, 0, int(b.layers / 6) - 1));
      c.place[3] = static_cast<float>(wanted) + between(-0.4F, 0.4F);
    }
    return face + 6 * cube;
  }

  const apps::Device& device_;
  std::mt19937 random_;
};

struct Launched {
  std::vector<std::vector<Recorded>> threads;
  std::vector<std::array<std::uint32_t, 4>> seen;
  instrument::Result result;
};

class Sampler {
 public:
  explicit Sampler(const apps::Device& device) : device_(device) {
    VkSamplerCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
    info.magFilter = info.minFilter = VK_FILTER_NEAREST;
    info.mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST;
    info.addressModeU = info.addressModeV = info.addressModeW = VK_SAMPLER_ADDRESS_MODE_REPEAT;
    info.maxLod = VK_LOD_CLAMP_NONE;
    apps::require_success(vkCreateSampler(device.handle(), &info, nullptr, &handle), "vkCreateSampler");
  }
  ~Sampler() {
    vkDestroySampler(device_.handle(), handle, nullptr);
  }
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  VkSampler handle = VK_NULL_HANDLE;

 private:
  const apps::Device& device_;
};

class ImageAccesses : public testing::Test {
 protected:
  static apps::Device& device() {
    static apps::Device device{[] {
      apps::DeviceRequest request;
      request.images = true;
      return request;
    }()};
    return device;
  }

  static Launched run(const Scene& scene, bool instrumented, bool ballot_extension) {
    constexpr VkBufferUsageFlags kUsage =
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    const apps::Buffer seen(device(), scene.commands.size() * 16, kUsage, apps::MemoryKind::Readback);
    const apps::Buffer events(device(), kEventWords * 4, kUsage, apps::MemoryKind::Readback);
    const apps::Buffer control(device(), 2 * RR_CONTROL_BYTES, kUsage, apps::MemoryKind::Readback);
    const apps::Buffer commands = apps::upload(device(), scene.commands, kUsage);
    std::memset(seen.mapped(), 0, seen.size());
    std::memset(control.mapped(), 0, control.size());
    const Sampler sampler(device());
    Launched launched;
    Words words(std::begin(kImageAccesses), std::end(kImageAccesses));
    instrument::Options options;
    options.record_accesses = true;
    options.wide_subgroups = true;
    options.ballot_extension = test::votes_by_extension(device(), ballot_extension);
    options.events_address = events.address();
    options.events_words = kEventWords;
    options.control_address = (control.address() + 255) / 256 * 256;
    if (instrumented) {
      launched.result = instrument::instrument(words, options);
      EXPECT_EQ(launched.result.status, instrument::Status::Instrumented) << launched.result.reason;
      words = launched.result.spirv;
    }
    std::vector<apps::Binding> bindings = {apps::StorageBinding{&seen}, apps::StorageBinding{&commands}};
    const auto add = [&](VkDescriptorType type, std::initializer_list<const Bound*> images) {
      apps::ImagesBinding binding{type, {}};
      for (const Bound* image : images) {
        binding.images.push_back(
            {sampler.handle, image != nullptr ? image->view : VK_NULL_HANDLE, VK_IMAGE_LAYOUT_GENERAL});
      }
      bindings.emplace_back(std::move(binding));
    };
    for (const auto& pair : scene.sampled) {
      add(VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, {&pair[0], &pair[1]});
    }
    for (const auto& pair : scene.stored) {
      add(VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, {&pair[0], &pair[1]});
    }
    add(VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, {&scene.counters});
    add(VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, {&scene.apart});
    add(VK_DESCRIPTOR_TYPE_SAMPLER, {nullptr});
    apps::DescriptorSet descriptors(device(), bindings);
    apps::PipelineBuilder builder;
    const auto group = builder.add_general_group(builder.add_stage(VK_SHADER_STAGE_RAYGEN_BIT_KHR, words));
    const apps::RayTracingPipeline pipeline(device(), builder, descriptors);
    const apps::ShaderBindingTable table(device(), pipeline, apps::ShaderRecord{group, {}}, {}, {});
    device().submit([&](VkCommandBuffer buffer) {
      const VkDescriptorSet set = descriptors.handle();
      vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline.handle());
      vkCmdBindDescriptorSets(buffer, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline.layout(), 0, 1, &set, 0,
                              nullptr);
      table.trace(buffer, kWidth, kHeight);
      VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT,
                              VK_ACCESS_HOST_READ_BIT};
      vkCmdPipelineBarrier(buffer, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                           &barrier, 0, nullptr, 0, nullptr);
    });
    launched.seen.resize(scene.commands.size());
    std::memcpy(launched.seen.data(), seen.mapped(), seen.size());
    std::uint64_t appended = 0;
    std::memcpy(&appended, control.mapped() + (options.control_address - control.address()), 8);
    EXPECT_LE(appended, kEventWords);
    Words buffer(std::min<std::uint64_t>(appended, kEventWords));
    std::memcpy(buffer.data(), events.mapped(), buffer.size() * 4);
    launched.threads = images_of(test::read_chunks(buffer), launched.result);
    return launched;
  }

  /// Records of accesses to images, by thread.
  static std::vector<std::vector<Recorded>> images_of(const std::vector<test::Chunk>& chunks,
                                                      const instrument::Result& result) {
    std::vector<std::vector<Recorded>> threads(kThreads);
    for (const test::Chunk& chunk : chunks) {
      if (chunk.kind == RR_RAY_GENERATION) {
        continue;
      }
      const instrument::AccessSite& site = result.accesses.at(chunk.site);
      EXPECT_EQ(chunk.kind == RR_ACCESS_IMAGE, site.space == AccessSpace::Image);
      if (site.space != AccessSpace::Image) {
        continue;
      }
      EXPECT_EQ(site.bytes, 0U);
      EXPECT_EQ(site.element, 0U);
      for (const Words& lane : chunk.lanes) {
        threads.at(lane[0]).push_back({site.kind, site.binding, lane[1] | std::uint64_t{lane[2]} << 32U});
      }
    }
    return threads;
  }
};

TEST_F(ImageAccesses, AreThoseOfTheTwinAndWhereTheyReadFrom) {
  constexpr std::uint32_t kScenes = 5;
  std::set<std::pair<std::uint32_t, AccessKind>> met;
  for (std::uint32_t seed = 0; seed < kScenes; ++seed) {
    const Scene scene(device(), seed);
    const Launched plain = run(scene, false, false);
    const Launched recorded = run(scene, true, seed % 2 == 1);
    EXPECT_TRUE(recorded.result.notes.empty()) << recorded.result.notes.front();
    for (std::uint32_t t = 0; t < kThreads; ++t) {
      std::vector<Recorded> expected;
      for (std::uint32_t k = 0; k < kCommandsAThread; ++k) {
        const std::size_t i = t * kCommandsAThread + k;
        const Expected& e = scene.expected[i];
        const std::string where = "scene " + std::to_string(seed) + " command " + std::to_string(i) + " shape " +
                                  std::to_string(scene.commands[i].what[0] / 8) + " operation " +
                                  std::to_string(scene.commands[i].what[0] % 8);
        const std::size_t records = scene.commands[i].what[0] % 8 == kGather ? 2 : 1;  // of two channels
        for (std::size_t r = 0; r < records; ++r) {
          expected.push_back({e.kind, e.binding, e.address});
          ASSERT_LE(expected.size(), recorded.threads[t].size()) << where;
          EXPECT_EQ(recorded.threads[t][expected.size() - 1], expected.back()) << where;
        }
        EXPECT_EQ(recorded.seen[i], plain.seen[i]) << where;
        if (e.seen) {
          EXPECT_EQ(recorded.seen[i], e.texel) << where;
        }
        met.emplace(e.binding, e.kind);
      }
      EXPECT_EQ(recorded.threads[t], expected) << "thread " << t << " of scene " << seed;
    }
  }
  // Stored images are loaded and stored, sampled ones fetched (but cubes) and sampled.
  EXPECT_EQ(met.size(), 2 * kShapes + 2 * kShapes - 2 + 1 + 2);
}

}  // namespace
}  // namespace rayreplay
