// Packings on a device against the same on the processor (which tests/scheduler-models/ compares with slow twins).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/classification/traces.hpp"
#include "tests/scheduler-models/support.hpp"
#include "tests/support/accelerator.hpp"

namespace rayreplay::scheduler {
namespace {

using test::assign;

const std::vector<std::string>& all_packings() {
  static const std::vector<std::string> specs{
      "numrays",
      "tiled-numrays",
      "objects",
      "tiled-objects",
      "first-hit-shader",
      "first-hit-shader:tiled=true",
      "shader-sequence",
      "shader-sequence:tiled=true",
      "random",
      "random:seed=77,tiled=true",
      "origin-morton",
      "origin-morton:ray=1,bits=21,tiled=true",
      "origin-hilbert",
      "origin-hilbert:ray=2,bits=1",
      "direction-morton",
      "direction-morton:ray=1,bits=31",
      "direction-hilbert:bits=1",
      "direction-hilbert:ray=4294967295,bits=5,tiled=true",
      "direction-hilbert:bits=31",
  };
  return specs;
}

class PackingOnDevice : public testing::Test {
 protected:
  void compare(const std::string& spec, const trace::Launch& launch, const WarpAssignment& assignment,
               trace::AcceleratedLaunch& on_device) {
    const auto model = Packings::create(spec).model;
    EXPECT_TRUE(model->compute_on(launch, assignment, &on_device) == model->compute(launch, assignment))
        << spec << " of " << launch.size.width << "x" << launch.size.height << "x" << launch.size.depth
        << " threads in warps of " << assignment.warp_size;
  }

  void compare_all(const trace::Launch& launch, const std::vector<WarpAssignment>& assignments) {
    trace::AcceleratedLaunch on_device(*accelerator_, launch);
    for (const std::string& spec : all_packings()) {
      for (const WarpAssignment& assignment : assignments) {
        compare(spec, launch, assignment, on_device);
      }
    }
  }

  /// Vectors of rays that make coordinates hard: not there, too small for normal numbers, next to each other.
  static void make_hard(trace::Launch& launch, test::RandomLaunch& random) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const std::vector<float> hard{0,
                                  -0.0F,
                                  1,
                                  -1,
                                  std::numeric_limits<float>::denorm_min(),
                                  -std::numeric_limits<float>::denorm_min(),
                                  std::numeric_limits<float>::min(),
                                  1e-40F,
                                  3.4e38F,
                                  -3.4e38F,
                                  kInfinity,
                                  -kInfinity,
                                  std::numeric_limits<float>::quiet_NaN(),
                                  0.333333F,
                                  std::nextafter(1.0F, 2.0F)};
    trace::Rays& rays = launch.data.rays;
    for (auto* column :
         {&rays.origin_x, &rays.origin_y, &rays.origin_z, &rays.direction_x, &rays.direction_y, &rays.direction_z}) {
      for (float& x : *column) {
        switch (random.draw(3)) {
          case 0:
            x = hard[random.draw(static_cast<std::uint32_t>(hard.size()))];
            break;
          case 1:
            // Any float at all.
            x = std::bit_cast<float>(random.draw(0xFFFF) << 16U | random.draw(0xFFFF));
            break;
          default:
            break;
        }
      }
    }
  }

  std::unique_ptr<Accelerator> accelerator_ = rayreplay::test::open_accelerator();
};

TEST_F(PackingOnDevice, OfRandomLaunches) {
  test::RandomLaunch random(17, {3, 0, 484});
  for (const trace::LaunchSize size : {trace::LaunchSize{37, 23, 1}, trace::LaunchSize{9, 8, 3}}) {
    trace::Launch launch = random(size);
    make_hard(launch, random);
    std::vector<WarpAssignment> assignments{assign("linear", launch, 8),
                                            assign("z-order:warp=8x4,tile=16x16", launch, 32),
                                            assign("z-order:warp=8x8,tile=8x8", launch, 64)};
    // As a device would start them.
    auto& ranks = assignments[1].start_rank;
    for (std::size_t i = ranks.size(); i > 1; --i) {
      std::swap(ranks[i - 1], ranks[random.draw(static_cast<std::uint32_t>(i))]);
    }
    compare_all(launch, assignments);
  }
}

TEST_F(PackingOnDevice, OfTheSmallestLaunches) {
  test::RandomLaunch random(5, {1});
  for (const trace::LaunchSize size : {trace::LaunchSize{1, 1, 1}, trace::LaunchSize{2, 1, 1}}) {
    const trace::Launch launch = random(size);
    compare_all(launch, {assign("linear", launch, 32)});
  }
  // Threads, but neither rays nor events.
  const trace::Launch idle = test::empty_launch({7, 5, 1});
  compare_all(idle, {assign("z-order:tile=16x16", idle, 32)});
}

// How many ids fit into a word decides which kernel runs, from many in one word to an id in two symbols.
TEST_F(PackingOnDevice, ObjectsWithIdsOfAllSizes) {
  for (const std::vector<std::uint32_t>& ids : std::vector<std::vector<std::uint32_t>>{
           {0}, {0, 1}, {70000, 0, 131071}, {0xFFFF, 0, 5}, {0x10000, 0, 5}, {0xFFFF'FFFF, 0, 0xFFFF'FFFE}}) {
    test::RandomLaunch random(11, ids);
    const trace::Launch launch = random({40, 20, 1});
    trace::AcceleratedLaunch on_device(*accelerator_, launch);
    compare("objects", launch, assign("linear", launch, 32), on_device);
    compare("tiled-objects", launch, assign("z-order:warp=8x4,tile=16x16", launch, 32), on_device);
  }
}

// Threads that are tied to the end of long sequences, and others that leave them at every length.
TEST_F(PackingOnDevice, LongSequencesAlike) {
  rayreplay::test::LaunchBuilder builder({64, 8, 1});
  for (std::uint32_t thread = 0; thread < 512; ++thread) {
    builder.thread().begin(0);
    const std::uint32_t length = thread % 3 == 0 ? 200 : thread;
    for (std::uint32_t i = 0; i < length; ++i) {
      builder.intersection(1, 0, 300).any_hit(static_cast<std::uint16_t>(2 + (i == thread ? 1 : 0)), 0, 300 + i % 7);
    }
  }
  const trace::Launch launch = builder.build();
  trace::AcceleratedLaunch on_device(*accelerator_, launch);
  for (const char* spec : {"objects", "shader-sequence", "shader-sequence:tiled=true"}) {
    compare(spec, launch, assign("z-order:warp=8x4,tile=16x16", launch, 32), on_device);
  }
}

// Coordinates at the borders of cells and beside them: a quotient that is wrong in its last bit changes the cell.
TEST_F(PackingOnDevice, CoordinatesAtTheBordersOfCells) {
  for (const float extent : {3.0F, 0.7F, 1e-38F, 2.5e38F, 7.0F}) {
    for (const int bits : {2, 5}) {
      rayreplay::test::LaunchBuilder builder({64, 8, 1});
      const float parts = std::ldexp(1.0F, bits);
      for (std::uint32_t thread = 0; thread < 512; ++thread) {
        const auto border = [&](std::uint32_t number) {
          float x = extent * static_cast<float>(number % (1U << static_cast<unsigned>(bits))) / parts;
          for (std::uint32_t step = number / 64 % 3; step > 0; --step) {
            x = std::nextafter(x, number % 2 == 0 ? extent : 0.0F);
          }
          return x;
        };
        const float x = thread == 0 ? 0 : thread == 1 ? extent : border(thread);
        builder.thread().begin(0, x, thread < 2 ? x : border(thread * 7), thread < 2 ? x : border(thread * 5),
                               border(thread * 3) - extent / 2, border(thread * 11) - extent / 2, extent / 4);
      }
      const trace::Launch launch = builder.build();
      trace::AcceleratedLaunch on_device(*accelerator_, launch);
      const WarpAssignment assignment = assign("linear", launch, 32);
      for (const char* model : {"origin-morton", "origin-hilbert", "direction-morton", "direction-hilbert"}) {
        compare(std::string(model) + ":bits=" + std::to_string(bits), launch, assignment, on_device);
      }
    }
  }
}

TEST_F(PackingOnDevice, OfTracedAndCapturedScenes) {
  const trace::Trace traced = rayreplay::test::mixed_trace(3, "path");
  const trace::Launch& small = traced.launches.at(0);
  compare_all(small, {assign("z-order:warp=8x4,tile=16x16", small, 32)});
  // Nearly a million threads, most of them idle.
  const trace::Trace captured = rayreplay::test::load_capture("one-weekend");
  const trace::Launch& large = captured.launches.at(0);
  const WarpAssignment assignment = assign("captured", large, 32);
  trace::AcceleratedLaunch on_device(*accelerator_, large);
  for (const char* spec : {"numrays", "tiled-objects", "shader-sequence", "origin-hilbert"}) {
    compare(spec, large, assignment, on_device);
  }
}

// A device that is lost at any moment, or has too little memory.
TEST_F(PackingOnDevice, GoesOnOnTheProcessor) {
  test::RandomLaunch random(23, {0, 5});
  const trace::Launch launch = random({100, 60, 1});
  const WarpAssignment assignment = assign("z-order:warp=8x4,tile=16x16", launch, 32);
  std::vector<kernels::DeviceOptions> faults(5);
  for (std::uint64_t i = 0; i < 4; ++i) {
    faults[i].lose_at_submission = i + 1;
  }
  faults[4].memory_limit = 100'000;
  for (const kernels::DeviceOptions& options : faults) {
    for (const char* spec : {"tiled-objects", "origin-hilbert"}) {
      accelerator_ = rayreplay::test::open_accelerator(1, false, options);
      trace::AcceleratedLaunch on_device(*accelerator_, launch);
      compare(spec, launch, assignment, on_device);
      if (options.lose_at_submission == 1 || options.memory_limit != 0) {
        EXPECT_EQ(accelerator_->records().at(0).device, "CPU");
      }
    }
  }
}

TEST_F(PackingOnDevice, SaysWhereItRan) {
  test::RandomLaunch random(1, {0});
  const trace::Launch launch = random({8, 8, 1});
  const WarpAssignment assignment = assign("linear", launch, 32);
  trace::AcceleratedLaunch on_device(*accelerator_, launch);
  compare("numrays", launch, assignment, on_device);
  compare("identity", launch, assignment, on_device);
  const auto& records = accelerator_->records();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].stage, "packing");
  EXPECT_EQ(records[0].device, accelerator_->devices().at(0)->name());
  EXPECT_EQ(records[1].stage, "packing");
  EXPECT_EQ(records[1].device, "CPU");
  EXPECT_THAT(records[1].reason, testing::HasSubstr("identity"));
  const auto model = Packings::create("numrays").model;
  EXPECT_TRUE(model->compute_on(launch, assignment, nullptr) == model->compute(launch, assignment));
}

// Packings that know nothing of devices, as users write them.
TEST_F(PackingOnDevice, WithoutKernels) {
  class Reverse final : public Packing {
   public:
    [[nodiscard]] Swizzle compute(const trace::Launch& launch, const WarpAssignment&) const override {
      Swizzle swizzle(launch.size.threads());
      for (std::uint32_t thread = 0; thread < swizzle.size(); ++thread) {
        swizzle[thread] = static_cast<std::uint32_t>(swizzle.size()) - 1 - thread;
      }
      return swizzle;
    }
  };
  const trace::Launch launch = test::empty_launch({3, 1, 1});
  trace::AcceleratedLaunch on_device(*accelerator_, launch);
  EXPECT_THAT(Reverse().compute_on(launch, assign("linear", launch, 8), &on_device), testing::ElementsAre(2, 1, 0));
  EXPECT_EQ(accelerator_->records().at(0).device, "CPU");
}

}  // namespace
}  // namespace rayreplay::scheduler
