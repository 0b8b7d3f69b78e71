// Any-order traversal: what is visited next is drawn by lot among everything that waits.
//
// Contract: kernels/pending_traversal.hpp with a random choice, of the parameter `seed` and the ray's place in the
// batch alone (splitmix64): the same for any number of threads. What lies beyond the closest hit when it is drawn is
// left out.
#include <cstdint>
#include <utility>
#include <vector>

#include "traversal/kernels/batch.hpp"
#include "traversal/kernels/pending_traversal.hpp"

namespace rayreplay::traversal {
namespace {

class ByLot {
 public:
  explicit ByLot(std::uint64_t seed) : seed_(seed) {}

  void start(std::size_t row) {
    waiting_.clear();
    state_ = mix(seed_ + mix(row));
  }
  void push(const Pending& entry) {
    waiting_.push_back(entry);
  }
  [[nodiscard]] Pending pop() {
    const std::uint64_t bits = mix(state_ += kStep);
    const std::size_t drawn = static_cast<std::size_t>((bits >> 32) * waiting_.size() >> 32);
    std::swap(waiting_[drawn], waiting_.back());
    const Pending next = waiting_.back();
    waiting_.pop_back();
    return next;
  }
  [[nodiscard]] bool empty() const {
    return waiting_.empty();
  }
  [[nodiscard]] std::size_t size() const {
    return waiting_.size();
  }

 private:
  static constexpr std::uint64_t kStep = 0x9E37'79B9'7F4A'7C15U;

  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9U;
    z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EBU;
    return z ^ (z >> 31);
  }

  std::uint64_t seed_;
  std::uint64_t state_ = 0;
  std::vector<Pending> waiting_;
};

class AnyOrder final : public Traversal {
 public:
  explicit AnyOrder(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] TraceResult trace(const bvh::Bvh& bvh, std::span<const Ray> rays,
                                  const TraceOptions& options) const override {
    return trace_batch(bvh, rays, options, [&]<class O>(O& observer) {
      return PendingTraversal<DecodeKernel, O, ByLot>(bvh, DecodeKernel(*bvh.layout), options.shaders, observer,
                                                      ByLot(seed_));
    });
  }

 private:
  std::uint64_t seed_;
};

const Traversals::Registrar kRegistrar(
    {.kind = {},
     .name = "any-order",
     .summary = "What is visited next is drawn by lot among everything that waits",
     .text =
         "The pessimistic end, and a known scramble for experiments: instances, nodes and single primitives of both "
         "levels wait in one set, from which the next is drawn. A primitive is tested only if its own tight box is "
         "met; what lies beyond the closest hit when it is drawn is left out.",
     .source = "rayreplay",
     .parameters = {{.name = "seed",
                     .default_value = std::int64_t{1},
                     .unit = "",
                     .text = "Of the lots; each ray draws its own.",
                     .minimum = 0,
                     .maximum = 9e18,
                     .choices = {}}}},
    [](const Parameters& parameters) {
      return std::make_unique<AnyOrder>(static_cast<std::uint64_t>(parameters.get_int("seed")));
    });

}  // namespace
}  // namespace rayreplay::traversal
