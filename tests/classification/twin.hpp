// The classification once more, written straight from MODELS.md §8: long double, no acceleration structure, no code of
// traversal/classification or bvh. O(tests × 1 + replayed rays × primitives).
//
// Events: an Intersection is a test; an AnyHit that does not follow a report of its object is a test.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "capture/trace/trace.hpp"

namespace rayreplay::test {

enum class TwinKind : std::uint8_t { Necessary = 0, BoxMiss, Overlap, Enlargement, Order, Either, BeforeTMin };

struct TwinTest {
  std::uint64_t event = 0;
  std::uint64_t ray = 0;
  std::uint64_t thread = 0;
  std::uint32_t instance = 0, geometry = 0, primitive = 0;
  bool procedural = false;
  std::vector<std::pair<long double, bool>> reports;  ///< t, accepted
  TwinKind kind = TwinKind::Necessary;
};

struct TwinBox {
  std::array<long double, 3> low{}, high{};
  bool empty = true;
};

struct TwinOptions {
  double slack = 8;
  /// Boxes that the hardware may have used for a primitive, in object space.
  std::function<std::vector<TwinBox>(std::uint32_t instance, std::uint32_t geometry, std::uint32_t primitive)> enlarged;
  /// Where given, t* of rays whose closest hit no shader told (which random events leave undefined).
  std::function<float(std::uint64_t ray)> t_star;
};

struct TwinResult {
  std::vector<TwinTest> tests;      ///< in order of events
  std::vector<long double> t_star;  ///< of rays with a test
  std::vector<bool> replayed;
};

[[nodiscard]] TwinResult classify_slowly(const trace::Trace& trace, std::uint32_t launch, const TwinOptions& options);

/// Tests that no order which goes by boxes can leave out, of ray `ray`: necessary, box miss, overlap. By trying every
/// primitive: boxes are hit where any report of the ray says so, triangles where they are pierced in [t_min, t_max].
struct TwinBase {
  std::uint64_t ray = 0;
  std::array<std::uint32_t, 3> counts{};
};

/// Of every `stride`th ray.
[[nodiscard]] std::vector<TwinBase> base_tests_slowly(const trace::Trace& trace, std::uint32_t launch, double slack,
                                                      std::uint64_t stride);

[[nodiscard]] TwinBox twin_box(const trace::Scene& scene, std::uint32_t first_instance, std::uint32_t instance,
                               std::uint32_t geometry, std::uint32_t primitive);

}  // namespace rayreplay::test
