// The kinds of intersection tests: rays through a million boxes, each tested with boxes near its way; one model of
// enlarged boxes. Counted per thread and object. The device's time is that of the kernels; uploads of rays and tests
// are in the wall clock.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "bench/gpu/gpu_case.hpp"
#include "kernels/classification/device_judge.hpp"

namespace rayreplay::bench {
namespace {

using namespace traversal;

constexpr double kTests = 20e6;
constexpr std::uint64_t kTestsARay = 10;
constexpr double kBoxes = 1e6;
constexpr std::size_t kGrain = 1024;

/// A share of 1.
double share(std::uint64_t z) {
  z = (z + 0x9E37'79B9'7F4A'7C15U) * 0xBF58'476D'1CE4'E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D0'49BB'1331'11EBU;
  return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-53;
}

/// Boxes in a grid of side³ cells of 1, two instances of it: one as it is, one moved and turned.
trace::Scene make_scene(std::uint32_t side) {
  trace::Scene scene;
  trace::Geometry& geometry = scene.geometries.emplace_back();
  geometry.type = trace::GeometryType::Boxes;
  const std::uint64_t cells = std::uint64_t{side} * side * side;
  for (std::uint64_t i = 0; i < cells; ++i) {
    const std::array<std::uint64_t, 3> cell{i % side, i / side % side, i / side / side};
    for (int corner = 0; corner < 2; ++corner) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double inside = share(i * 3 + axis) * 0.3 + corner * (0.3 + 0.4 * share(~(i * 3 + axis)));
        geometry.boxes.push_back(static_cast<float>(static_cast<double>(cell[axis]) + inside));
      }
    }
  }
  scene.blases = {{0, 1}};
  scene.instances.resize(2);
  scene.instances[1].transform = {0.8F, -0.6F, 0, 3, 0.6F, 0.8F, 0, -5, 0, 0, 1, 7};
  return scene;
}

struct Input {
  explicit Input(trace::Scene made)
      : scene(std::move(made)),
        prepared(bvh::prepare_scene(scene, 0, "bench")),
        enlarged(scene, 0, "bench", {{"compressed-wide-8"}}, 0, nullptr),
        judge(prepared, enlarged, 8, 8, {}) {}

  trace::Scene scene;
  bvh::PreparedScene prepared;
  EnlargedBoxes enlarged;
  Judge judge;
  std::vector<Ray> rays;
  std::vector<float> t_star;
  std::vector<JudgedTest> tests;
  std::optional<DeviceJudge> device;
  Classification found, expected;
};

void make_tests(Input& input, std::uint32_t side, std::uint64_t rays) {
  input.rays.resize(rays);
  input.t_star.resize(rays);
  input.tests.resize(rays * kTestsARay);
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, rays, kGrain), [&](const auto& range) {
    for (std::uint64_t r = range.begin(); r < range.end(); ++r) {
      Ray& ray = input.rays[r];
      std::array<double, 3> from{};
      std::array<double, 3> step{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        from[axis] = share(r * 8 + axis) * side;
        step[axis] = (share(r * 8 + 4 + axis) - 0.5) * 2;
        ray.origin[axis] = static_cast<float>(from[axis]);
        ray.direction[axis] = static_cast<float>(step[axis]);
      }
      input.t_star[r] = static_cast<float>(share(~r) * static_cast<double>(kTestsARay) * 1.5);
      for (std::uint64_t i = 0; i < kTestsARay; ++i) {
        std::uint32_t number = 0;
        for (std::size_t axis = 3; axis-- > 0;) {
          const double place = std::clamp(from[axis] + step[axis] * static_cast<double>(i), 0.0, side - 1.0);
          number = number * side + static_cast<std::uint32_t>(place);
        }
        JudgedTest& test = input.tests[r * kTestsARay + i];
        test.candidate = {share(r * 31 + i) < 0.25 ? 1U : 0U, 0, number};
        test.procedural = true;
        test.hit = share(r * 57 + i) < 0.4;
        test.t = static_cast<float>(i) + 0.5F;
        test.t_max = 2 * input.t_star[r];
      }
    }
  });
}

void judge_on_processor(Input& input) {
  input.expected = {};
  Accumulator sums(input.expected, input.rays.size(), input.rays.size(), false);
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, input.rays.size(), kGrain), [&](const auto& range) {
    Accumulator::Worker& worker = sums.local();
    for (std::uint64_t r = range.begin(); r < range.end(); ++r) {
      JudgedRay ray(input.rays[r]);
      for (std::uint64_t i = r * kTestsARay; i < (r + 1) * kTestsARay; ++i) {
        sums.count(worker, {r, r, input.tests[i].candidate, RayGoal::ClosestHit, PrimitiveType::Procedural},
                   input.judge.judge(ray, input.tests[i], input.t_star[r]));
      }
    }
  });
  sums.finish();
}

void judge_on_device(Input& input) {
  input.found = {};
  Accumulator sums(input.found, input.rays.size(), input.rays.size(), false);
  input.device->judge(sums);
  sums.finish();
}

PreparedCase prepare(kernels::Device& device, double scale) {
  const auto side = static_cast<std::uint32_t>(std::max(4.0, std::cbrt(kBoxes * scale)));
  const auto rays = static_cast<std::uint64_t>(std::max(100.0, kTests * scale / static_cast<double>(kTestsARay)));
  auto input = std::make_shared<Input>(make_scene(side));
  make_tests(*input, side, rays);
  input->device.emplace(device, input->prepared, input->enlarged, input->judge);
  input->device->begin({0, rays, 0, rays, input->tests.size(), false});
  for (std::uint64_t r = 0; r < rays; ++r) {
    input->device->set_ray(r, r, input->rays[r], input->t_star[r], false);
    for (std::uint64_t i = r * kTestsARay; i < (r + 1) * kTestsARay; ++i) {
      if (!input->device->set_test(i, r, input->tests[i])) {
        throw std::runtime_error("the device refuses a test");
      }
    }
  }
  PreparedCase prepared;
  constexpr double kMega = 1e6;
  const auto tests = static_cast<double>(input->tests.size());
  prepared.size = fmt::format("{:.1f} M tests, {:.2f} M boxes, wall: uploads", tests / kMega,
                              static_cast<double>(side) * side * side / kMega);
  prepared.unit = "tests";
  prepared.items = tests;
  // A test, its ray, its box, two keys written and read, the counts of threads and objects (read and written).
  prepared.least_bytes = tests * (24 + 24 + 16) + static_cast<double>(rays) * (44 + 96) + side * 192.0 * side * side;
  prepared.device = [input] { judge_on_device(*input); };
  prepared.cpu = [input] { judge_on_processor(*input); };
  prepared.check = [input] {
    if (input->found.total != input->expected.total || input->found.split != input->expected.split ||
        input->found.by_thread != input->expected.by_thread || input->found.late_tests != input->expected.late_tests) {
      throw std::runtime_error("the classifications differ");
    }
  };
  return prepared;
}

const GpuCases::Registrar kClassification({"classification of tests", {.float64 = true}, prepare});

}  // namespace
}  // namespace rayreplay::bench
