// Vertex order random: a seeded permutation.
//
// Contract: vertex_order.hpp. Vertices are sorted by 64 random bits each, from SplitMix64 (Steele, Lea, Flood 2014),
// and then by number: the order depends only on seed and number of vertices. O(vertices · log vertices).
#include <algorithm>
#include <numeric>

#include "base/declare_parameters.hpp"
#include "base/split_mix.hpp"
#include "bvh/orders/vertices.hpp"
#include "bvh/vertex_order.hpp"

namespace rayreplay::bvh {
namespace {

class Random final : public VertexOrder {
 public:
  explicit Random(const Parameters& parameters) : seed_(static_cast<std::uint64_t>(parameters.get_int("seed"))) {}

  [[nodiscard]] std::vector<std::uint32_t> order(const trace::Geometry& geometry) const override {
    std::vector<std::uint32_t> sequence(vertex_count(geometry));
    std::iota(sequence.begin(), sequence.end(), 0U);
    std::vector<std::uint64_t> key(sequence.size());
    std::transform(sequence.begin(), sequence.end(), key.begin(),
                   [this](std::uint32_t vertex) { return split_mix(seed_, vertex); });
    std::sort(sequence.begin(), sequence.end(),
              [&key](std::uint32_t a, std::uint32_t b) { return key[a] != key[b] ? key[a] < key[b] : a < b; });
    std::vector<std::uint32_t> place(sequence.size());
    for (std::uint32_t i = 0; i < sequence.size(); ++i) {
      place[sequence[i]] = i;
    }
    return place;
  }

 private:
  std::uint64_t seed_;
};

const VertexOrders::Registrar kRegistrar(
    {.kind = {},
     .name = "random",
     .summary = "A seeded random permutation of the vertices",
     .text = "Worst case: neighbours on the mesh are not neighbours in memory.",
     .source = "rayreplay",
     .parameters = {declare::whole("seed", 1, "", "Other seeds give other permutations.", 0)}},
    [](const Parameters& parameters) { return std::make_unique<Random>(parameters); });

}  // namespace
}  // namespace rayreplay::bvh
