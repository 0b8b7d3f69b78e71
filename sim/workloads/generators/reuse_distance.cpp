// A stream with two reuse distances: the hit rate over cache size is a staircase.
//
// Contract: there are `blocks` blocks of near + 1 lines. A round reads block after block, each `repeats` times in turn.
// Within a block a line is reused after `near` other lines, its reuse distance. In the next round it is reused after
// all other lines of all blocks: distance far = blocks (near + 1) − 1. LRU of C lines hits reads with a distance below
// C. With R = repeats, Q = rounds: C > far: 1 − 1/(R Q); near < C ≤ far: 1 − 1/R; C ≤ near: 0. With one block near and
// far are equal. One SM; a read is one transaction of 128 bytes. Source: rayreplay; Mattson et al. 1970. O(reads).
#include <memory>

#include <fmt/format.h>

#include "sim/workloads/declare.hpp"
#include "sim/workloads/memory_maker.hpp"
#include "sim/workloads/workload.hpp"

namespace rayreplay::workloads {
namespace {

class ReuseDistance final : public Workload {
 public:
  explicit ReuseDistance(const Parameters& parameters)
      : near_(get_count(parameters, "near")),
        blocks_(get_count(parameters, "blocks")),
        repeats_(get_count(parameters, "repeats")),
        rounds_(get_count(parameters, "rounds")) {}

  [[nodiscard]] WorkloadKind kind() const override {
    return WorkloadKind::Memory;
  }
  [[nodiscard]] MemoryWorkload make_memory() const override {
    const std::uint64_t of_block = near_ + std::uint64_t{1};
    MemoryWorkload made =
        begin_memory("reuse-distance", kLineWarp, 1, lines() * kLineBytes, lines() * repeats_ * rounds_ * kLineLanes);
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      for (std::uint32_t block = 0; block < blocks_; ++block) {
        for (std::uint64_t read = 0; read < of_block * repeats_; ++read) {
          read_line(made, 0, 0, block * of_block + read % of_block);
        }
      }
    }
    return made;
  }

  [[nodiscard]] std::vector<KnownAnswer> answers(const machine::Machine& /*machine*/) const override {
    const double repeats = repeats_;
    const double rounds = rounds_;
    const double near_rate = 1 - 1 / repeats;
    std::vector<KnownAnswer> answers = {
        known(1 - 1 / (repeats * rounds), "1 - 1/(R Q): only first reads miss", lines())};
    if (blocks_ > 1) {
      answers.push_back(known(near_rate, "1 - 1/R: the first read of a block in a round misses", lines() - 1));
      answers.push_back(known(near_rate, "1 - 1/R: the block just fits", std::uint64_t{near_} + 1));
    }
    if (near_ > 0) {
      answers.push_back(known(0, "0: every distance is at least the cache's lines", near_));
    }
    return answers;
  }
  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"reuse-distance:near=63,blocks=1", "reuse-distance:near=63,blocks=8", "reuse-distance:near=7,blocks=64"};
  }

 private:
  [[nodiscard]] std::uint64_t lines() const {
    return blocks_ * (near_ + std::uint64_t{1});
  }
  static KnownAnswer known(double rate, const char* because, std::uint64_t lines) {
    return {"l1_hit_rate", rate, 0, because, cache_of("l1", lines, kLineBytes)};
  }

  std::uint32_t near_;
  std::uint32_t blocks_;
  std::uint32_t repeats_;
  std::uint32_t rounds_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "reuse-distance",
     .summary = "Reads of exactly two reuse distances",
     .text = "Blocks of near + 1 lines, each read several times in turn, round after round: reads within a block have "
             "reuse distance near; the first read of a line in a round has blocks (near + 1) - 1. The hit rate of LRU "
             "over its size is a staircase of two steps, at near + 1 lines and at all lines.",
     .source = "rayreplay; Mattson, Gecsei, Slutz, Traiger, Evaluation techniques for storage hierarchies, 1970",
     .parameters = {declare::whole("near", 63, "lines", "Reuse distance within a block.", 0, 1 << 20),
                    declare::whole("blocks", 8, "blocks", "Blocks; one: all distances are near.", 1, 1 << 16),
                    declare::whole("repeats", 4, "", "Reads of each line of a block in a round.", 1, 1 << 12),
                    declare::whole("rounds", 4, "", "Passes over all blocks.", 1, 1 << 12)}},
    [](const Parameters& parameters) { return std::make_unique<ReuseDistance>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
