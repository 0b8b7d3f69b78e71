// Accesses to buffers on the Vulkan device at hand. A twin in plain C++ says what each thread of a known shader
// accesses; and in random programs the buffers hold the numbers of their own words, so that what a shader loads is its
// address.
#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>
#include <spirv-tools/optimizer.hpp>

#include "BufferAccesses.spv.hpp"
#include "capture/apps/framework/pipeline.hpp"
#include "capture/instrument/instrument.hpp"
#include "tests/instrument/support/chunks.hpp"
#include "tests/instrument/support/group_operations.hpp"
#include "tests/instrument/support/random_buffer_program.hpp"

namespace rayreplay {
namespace {

using instrument::AccessKind, instrument::AccessSpace;
using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kAccessWidth = 16, kAccessHeight = 4, kAccessThreads = kAccessWidth * kAccessHeight;
constexpr std::uint32_t kAccessWords = 1U << 18;
constexpr VkBufferUsageFlags kBufferUsage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

/// One recorded access.
struct Access {
  AccessKind kind = AccessKind::Load;
  AccessSpace space = AccessSpace::Descriptor;
  std::uint32_t binding = 0, bytes = 0;
  std::uint64_t address = 0;
  bool operator==(const Access&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Access& a) {
  return out << "kind " << int(a.kind) << " space " << int(a.space) << " binding " << a.binding << " bytes " << a.bytes
             << " at " << a.address;
}

Words numbers(std::uint32_t count) {
  Words words(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    words[i] = test::word_at(4 * i);
  }
  return words;
}

struct Launched {
  std::vector<std::vector<Access>> threads;
  std::vector<test::Chunk> chunks;
  instrument::Result result;
  Words seen, sums;
};

/// Buffers of a ray-generation shader: seen, data, sums, a uniform block; far is known by its address.
class Launch {
 public:
  /// `ballot_extension`: probes vote by it.
  Launch(const apps::Device& device, bool ballot_extension, std::size_t seen_words, std::uint32_t data_words)
      : device_(device),
        ballot_extension_(ballot_extension),
        seen_(device, seen_words * 4, kBufferUsage, apps::MemoryKind::Readback),
        sums_(device, 64, kBufferUsage, apps::MemoryKind::Readback),
        data_(apps::upload(device, numbers(data_words), kBufferUsage)),
        uniform_(apps::upload(device, Words{3, 0, 0, 0}, kBufferUsage)),
        far_(apps::upload(device, numbers(data_words), kBufferUsage)),
        events_(device, kAccessWords * 4, kBufferUsage, apps::MemoryKind::Readback),
        control_(device, 2 * RR_CONTROL_BYTES, kBufferUsage, apps::MemoryKind::Readback) {}

  [[nodiscard]] std::uint64_t far() const {
    return far_.address();
  }

  Launched run(const Words& spirv, bool instrumented, const Words& record, instrument::Options options = {}) {
    std::memset(seen_.mapped(), 0, seen_.size());
    std::memset(sums_.mapped(), 0, sums_.size());
    std::memset(control_.mapped(), 0, control_.size());
    Launched launched;
    Words words = spirv;
    options.record_accesses = true;
    options.wide_subgroups = true;
    options.ballot_extension = test::votes_by_extension(device_, ballot_extension_);
    options.events_address = events_.address();
    options.events_words = kAccessWords;
    options.control_address = (control_.address() + 255) / 256 * 256;
    if (instrumented) {
      launched.result = instrument::instrument(spirv, options);
      EXPECT_EQ(launched.result.status, instrument::Status::Instrumented) << launched.result.reason;
      words = launched.result.spirv;
    }
    apps::DescriptorSet descriptors(
        device_, std::vector<apps::Binding>{apps::StorageBinding{&seen_}, apps::StorageBinding{&data_},
                                            apps::StorageBinding{&sums_}, apps::UniformBinding{&uniform_}});
    apps::PipelineBuilder builder;
    const auto group = builder.add_general_group(builder.add_stage(VK_SHADER_STAGE_RAYGEN_BIT_KHR, words));
    const apps::RayTracingPipeline pipeline(device_, builder, descriptors);
    apps::ShaderRecord of{group, std::vector<std::byte>(record.size() * 4)};
    std::memcpy(of.data.data(), record.data(), of.data.size());
    const apps::ShaderBindingTable table(device_, pipeline, of, {}, {});
    device_.submit([&](VkCommandBuffer commands) {
      const VkDescriptorSet set = descriptors.handle();
      vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline.handle());
      vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline.layout(), 0, 1, &set, 0,
                              nullptr);
      table.trace(commands, kAccessWidth, kAccessHeight);
      VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT,
                              VK_ACCESS_HOST_READ_BIT};
      vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                           &barrier, 0, nullptr, 0, nullptr);
    });
    read(launched, options.control_address - control_.address());
    return launched;
  }

 private:
  void read(Launched& launched, std::uint64_t control) {
    launched.seen.resize(seen_.size() / 4);
    std::memcpy(launched.seen.data(), seen_.mapped(), seen_.size());
    launched.sums.resize(sums_.size() / 4);
    std::memcpy(launched.sums.data(), sums_.mapped(), sums_.size());
    std::uint64_t appended = 0;
    std::memcpy(&appended, control_.mapped() + control, 8);
    ASSERT_LE(appended, kAccessWords);
    Words buffer(appended);
    std::memcpy(buffer.data(), events_.mapped(), buffer.size() * 4);
    launched.chunks = test::read_chunks(buffer);
    launched.threads.resize(kAccessThreads);
    for (const test::Chunk& chunk : launched.chunks) {
      if (chunk.kind != RR_ACCESS_OFFSET && chunk.kind != RR_ACCESS_ADDRESS) {
        continue;
      }
      const instrument::AccessSite& site = launched.result.accesses.at(chunk.site);
      EXPECT_EQ(chunk.kind == RR_ACCESS_ADDRESS, site.space == AccessSpace::Device);
      for (const Words& lane : chunk.lanes) {
        const std::uint64_t high = chunk.kind == RR_ACCESS_ADDRESS ? lane.at(2) : 0;
        launched.threads.at(lane[0]).push_back(
            {site.kind, site.space, site.binding, site.bytes, lane[1] | high << 32U});
      }
    }
  }

  const apps::Device& device_;
  bool ballot_extension_;
  apps::Buffer seen_, sums_, data_, uniform_, far_, events_, control_;
};

/// accesses.rgen as it stands there. Item: a 0, pair 8, list 16, columns 48 (stride 16), 96 bytes; items from 64.
std::vector<Access> twin(std::uint32_t x, std::uint32_t y, std::uint64_t far) {
  std::vector<Access> all;
  const auto load = [&](std::uint32_t at, std::uint32_t bytes = 4) {
    all.push_back({AccessKind::Load, AccessSpace::Descriptor, 1, bytes, at});
  };
  const auto device = [&](AccessKind kind, std::uint64_t at) { all.push_back({kind, AccessSpace::Device, 0, 4, at}); };
  const auto record = [&](std::uint32_t at, std::uint32_t bytes) {
    all.push_back({AccessKind::Load, AccessSpace::ShaderRecord, 0, bytes, at});
  };
  std::uint32_t next = (x + kAccessWidth * y) * 8;
  const auto see = [&] { all.push_back({AccessKind::Store, AccessSpace::Descriptor, 0, 4, 4 * next++}); };
  const auto item = [](std::uint32_t i) { return 64 + 96 * i; };
  load(item(2 * x + 1) + 16 + 4 * (y + 1));
  see();
  load(item(x) + 8 + 4);
  load(0);
  see();
  load(item(y) + 48 + 16 * (x % 3) + 4 * (y % 3));
  see();
  load(16 + 4 * (x % 4) + 16 * 2);
  see();
  record(0, 8);
  device(AccessKind::Load, far + 16 + 16 * x + 8);
  device(AccessKind::Load, far + 4 * (y & 1U));
  see();
  record(8 + 4 * (x % 6), 4);
  see();
  all.push_back({AccessKind::Atomic, AccessSpace::Descriptor, 2, 4, 4 * y});
  see();
  if (x > 3) {
    device(AccessKind::Store, far + 4 * (x & 1U));
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    load(item(i));
    load(item(i + x) + 16 + 16);
  }
  see();
  return all;
}

/// Whether probes vote by the extension.
class Accesses : public testing::TestWithParam<bool> {
 protected:
  static apps::Device& device() {
    static apps::Device device{apps::DeviceRequest{}};
    return device;
  }
  static Words shader(bool optimised = false) {
    Words words(std::begin(kBufferAccesses), std::end(kBufferAccesses));
    if (optimised) {
      spvtools::Optimizer optimiser(SPV_ENV_VULKAN_1_2);
      optimiser.RegisterPerformancePasses();
      Words out;
      EXPECT_TRUE(optimiser.Run(words.data(), words.size(), &out));
      words = std::move(out);
    }
    return words;
  }
  static Words record(const Launch& launch) {
    Words words(8, 7);
    words[0] = static_cast<std::uint32_t>(launch.far());
    words[1] = static_cast<std::uint32_t>(launch.far() >> 32U);
    return words;
  }
};

TEST_P(Accesses, AreThoseOfTheTwin) {
  Launch launch(device(), GetParam(), kAccessThreads * 8, 1U << 14);
  const Launched plain = launch.run(shader(), false, record(launch));
  const Launched recorded = launch.run(shader(), true, record(launch));
  EXPECT_TRUE(recorded.result.notes.empty());
  for (std::uint32_t t = 0; t < kAccessThreads; ++t) {
    EXPECT_EQ(recorded.threads[t], twin(t % kAccessWidth, t / kAccessWidth, launch.far())) << "thread " << t;
  }
  // The shader's results are the same, but for the order of atomics and of the stores to far.
  EXPECT_EQ(recorded.sums, plain.sums);
  for (std::size_t i = 0; i < plain.seen.size(); ++i) {
    if (i % 8 != 4 && i % 8 != 6) {
      EXPECT_EQ(recorded.seen[i], plain.seen[i]) << i;
    }
  }
}

// Merged blocks, loads in the headers of loops.
TEST_P(Accesses, OfOptimisedShadersAreThoseOfTheTwin) {
  Launch launch(device(), GetParam(), kAccessThreads * 8, 1U << 14);
  const Launched recorded = launch.run(shader(true), true, record(launch));
  const auto sorted = [](std::vector<Access> all) {
    // The optimiser may move what does not depend on the order.
    std::sort(all.begin(), all.end(), [](const Access& a, const Access& b) {
      return std::tie(a.space, a.binding, a.kind, a.address, a.bytes) <
             std::tie(b.space, b.binding, b.kind, b.address, b.bytes);
    });
    return all;
  };
  for (std::uint32_t t = 0; t < kAccessThreads; ++t) {
    EXPECT_EQ(sorted(recorded.threads[t]), sorted(twin(t % kAccessWidth, t / kAccessWidth, launch.far()))) << t;
  }
}

TEST_P(Accesses, OfEveryNthThreadAlone) {
  Launch launch(device(), GetParam(), kAccessThreads * 8, 1U << 14);
  instrument::Options options;
  options.access_every = 5;
  const Launched recorded = launch.run(shader(), true, record(launch), options);
  for (std::uint32_t t = 0; t < kAccessThreads; ++t) {
    const auto all = twin(t % kAccessWidth, t / kAccessWidth, launch.far());
    EXPECT_EQ(recorded.threads[t], t % 5 == 0 ? all : std::vector<Access>{}) << "thread " << t;
  }
  // The starts of all threads are recorded, and lanes that run together are known where some are not recorded.
  std::size_t starts = 0;
  for (const test::Chunk& chunk : recorded.chunks) {
    starts += chunk.kind == RR_RAY_GENERATION ? chunk.lanes.size() : 0;
    EXPECT_EQ(chunk.partial, chunk.kind != RR_RAY_GENERATION && chunk.recorded != chunk.mask);
  }
  EXPECT_EQ(starts, kAccessThreads);
}

TEST_P(Accesses, OfRandomProgramsAreWhereTheyLoadFrom) {
  constexpr std::uint32_t kPrograms = 24;
  constexpr std::uint32_t kDataWords = 1U << 14;
  Launch launch(device(), GetParam(), kAccessThreads * test::RandomBufferProgram::kLoads, kDataWords);
  std::set<std::pair<AccessKind, AccessSpace>> met;
  for (std::uint32_t seed = 0; seed < kPrograms; ++seed) {
    const test::RandomBufferProgram program(seed, launch.far(), kDataWords * 4);
    const Words spirv = program.assemble();
    ASSERT_FALSE(spirv.empty()) << program.text;
    const Launched recorded = launch.run(spirv, true, numbers(program.record_bytes / 4));
    ASSERT_TRUE(recorded.result.notes.empty()) << recorded.result.notes.front() << program.text;
    for (std::uint32_t t = 0; t < kAccessThreads; ++t) {
      std::vector<Access> expected;
      for (std::uint32_t k = 0; k < program.loads.size(); ++k) {
        const test::RandomBufferProgram::Load& load = program.loads[k];
        const std::uint32_t at = t * test::RandomBufferProgram::kLoads + k;
        const std::uint64_t from = (recorded.seen[at] - test::word_at(0)) * std::uint64_t{4};
        expected.push_back({load.kind, load.space, load.space == AccessSpace::Descriptor ? 1U : 0U, load.bytes,
                            load.space == AccessSpace::Device ? launch.far() + from : from});
        expected.push_back({AccessKind::Store, AccessSpace::Descriptor, 0, 4, 4 * at});
        met.emplace(load.kind, load.space);
      }
      ASSERT_EQ(recorded.threads[t], expected) << "thread " << t << " of program " << seed << "\n" << program.text;
    }
  }
  EXPECT_EQ(met.size(), 5U);  // loads everywhere; atomics of descriptors and device addresses
}

INSTANTIATE_TEST_SUITE_P(Shaders, Accesses, testing::Values(false, true),
                         [](const auto& tested) { return tested.param ? "ByExtension" : "ByTheCore"; });

}  // namespace
}  // namespace rayreplay
