#include "sim/caching/label_guess.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace rayreplay::experiment {
namespace {

using memory::DataKind;

constexpr double kMost = 0.8;   ///< of accesses or steps: a rule holds
constexpr double kSome = 0.02;  ///< … happens, and not by accident
constexpr double kHalf = 0.5;
constexpr double kNear = 0.2;     ///< of the steps of an array beside another
constexpr double kMoved = 0.9;    ///< of a state's loads, which are in another warp than its stores
constexpr double kBegins = 0.25;  ///< of the visits to a state: those that load it; half of them where all move
constexpr double kRow = 2.9;      ///< loads in a row: a payload's words; a stack's entry has two
constexpr double kSingle = 1.5;   ///< loads in a row: a queue's entry has one
constexpr std::uint32_t kWord = 4;
constexpr std::uint32_t kBoxLoad = 24;
constexpr std::uint32_t kLeastInstance = 48;  ///< at least: a transform

double share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

int percent(double value) {
  return static_cast<int>(100 * value + 0.5);
}

/// The most frequent key, and its count.
template <class Key>
std::pair<Key, std::uint64_t> most_frequent(const std::map<Key, std::uint64_t>& counts) {
  std::pair<Key, std::uint64_t> best{};
  for (const auto& [key, count] : counts) {
    if (count > best.second) {
      best = {key, count};
    }
  }
  return best;
}

std::uint64_t sum(const std::map<std::uint32_t, std::uint64_t>& counts) {
  std::uint64_t all = 0;
  for (const auto& [key, count] : counts) {
    all += count;
  }
  return all;
}

class Guesser {
 public:
  Guesser(const memory::Allocations& allocations, std::span<const AllocationUse> uses, std::uint32_t warp_size)
      : allocations_(&allocations), uses_(uses), warp_size_(warp_size), guesses_(uses.size()) {
    for (std::uint32_t i = 0; i < uses.size(); ++i) {
      const DataKind kind = allocations.rows()[i].kind;
      kinds_.push_back(kind);
      open_.push_back(kind == DataKind::Other);
    }
  }

  std::vector<LabelGuess> all() {
    const std::vector<bool> asked = open_;
    each([this](std::uint32_t i) { queues(i); });
    each([this](std::uint32_t i) { queue_counters(i); });
    each([this](std::uint32_t i) { stores_alone(i); });
    each([this](std::uint32_t i) { words(i); });
    each([this](std::uint32_t i) { vertices(i); });
    each([this](std::uint32_t i) { boxes(i); });
    each([this](std::uint32_t i) { shader_records(i); });
    each([this](std::uint32_t i) { shader_records(i); });  // those that lead to others
    each([this](std::uint32_t i) { nodes(i); });
    each([this](std::uint32_t i) { instances(i); });
    each([this](std::uint32_t i) { nodes_at_instances(i); });
    each([this](std::uint32_t i) { nodes_at_stack(i); });
    std::vector<LabelGuess> result;
    for (std::uint32_t i = 0; i < uses_.size(); ++i) {
      if (asked[i]) {
        LabelGuess guess = guesses_[i];
        guess.allocation = i;
        if (open_[i]) {
          guess.element_bytes = allocations_->rows()[i].element_bytes;
          guess.reason = uses_[i].accesses() == 0 ? "no accesses" : "no rule fits";
        }
        result.push_back(std::move(guess));
      }
    }
    return result;
  }

 private:
  template <class Rule>
  void each(const Rule& rule) {
    for (std::uint32_t i = 0; i < uses_.size(); ++i) {
      if (open_[i] && uses_[i].accesses() > 0) {
        rule(i);
      }
    }
  }

  void suggest(std::uint32_t i, DataKind kind, std::uint64_t element_bytes, double confidence, std::string reason) {
    kinds_[i] = kind;
    open_[i] = false;
    const double trust = uses_[i].accesses() < kFewAccesses ? confidence / 2 : confidence;
    const std::uint32_t given = allocations_->rows()[i].element_bytes;
    guesses_[i] = {i, kind,
                   given > 1 ? given
                             : static_cast<std::uint32_t>(
                                   std::clamp<std::uint64_t>(element_bytes, 1, allocations_->rows()[i].bytes)),
                   trust, std::move(reason)};
  }

  [[nodiscard]] bool loads_alone(std::uint32_t i) const {
    return uses_[i].stores == 0;
  }
  /// Bytes of a record, by the rows of loads that read one.
  [[nodiscard]] std::uint64_t record_bytes(std::uint32_t i) const {
    return most_frequent(uses_[i].pieces).first;
  }
  /// Accesses of a lane each time that it comes here, over records.
  [[nodiscard]] double records_a_visit(std::uint32_t i) const {
    std::uint64_t pieces = 0;
    for (const auto& [bytes, count] : uses_[i].pieces) {
      pieces += count;
    }
    return share(pieces, uses_[i].entered);
  }
  /// Share of the steps to other allocations that go to these kinds.
  [[nodiscard]] double to_kinds(std::uint32_t i, std::initializer_list<DataKind> kinds) const {
    std::uint64_t found = 0;
    for (const auto& [to, count] : uses_[i].to) {
      found += std::ranges::find(kinds, kinds_[to]) != kinds.end() ? count : 0;
    }
    return share(found, sum(uses_[i].to));
  }

  void stores_alone(std::uint32_t i) {
    const AllocationUse& use = uses_[i];
    if (use.loads > 0 || share(use.repeated_stores, use.stores) > 1 - kMost) {
      return;
    }
    const double once = 1 - share(use.repeated_stores, use.stores);
    suggest(i, DataKind::FrameBuffer, record_bytes(i), once,
            fmt::format("stores alone; {} % of them to bytes not stored before", percent(once)));
  }

  [[nodiscard]] double share_of_words(std::uint32_t i) const {
    const auto word = uses_[i].sizes.find(kWord);
    return word == uses_[i].sizes.end() ? 0 : share(word->second, uses_[i].accesses());
  }

  /// Share of the visits with which warps begin. A queue's entry comes before all else.
  [[nodiscard]] double beginnings(std::uint32_t i) const {
    std::uint64_t after_others = 0;
    for (const auto& [from, count] : uses_[i].from) {
      after_others += kinds_[from] == DataKind::Queue ? 0 : count;
    }
    return 1 - share(after_others, uses_[i].entered);
  }

  /// Like states, but a word at a time.
  void queues(std::uint32_t i) {
    const AllocationUse& use = uses_[i];
    const double moved = share(use.moved_loads, use.word_loads);
    if (use.stores == 0 || share_of_words(i) < kMost || moved < kMoved || beginnings(i) < kBegins ||
        share(use.loads, use.loads - use.followed_loads) > kSingle) {
      return;
    }
    suggest(i, DataKind::Queue, kWord, std::min(share_of_words(i), moved),
            fmt::format("single words; {} % of the loads are of what another warp stored; warps begin with {} % of the "
                        "visits",
                        percent(moved), percent(beginnings(i))));
  }
  void queue_counters(std::uint32_t i) {
    const double on = to_kinds(i, {DataKind::Queue});
    if (uses_[i].loads == 0 && share_of_words(i) >= kMost && on >= kMost) {
      suggest(i, DataKind::Queue, kWord, on,
              fmt::format("words, stored alone; {} % of the lanes go on to a queue", percent(on)));
    }
  }

  void words(std::uint32_t i) {
    const AllocationUse& use = uses_[i];
    const double of_words = share_of_words(i);
    if (use.stores == 0 || of_words < kMost) {
      return;
    }
    const double moved = share(use.moved_loads, use.word_loads);
    const std::uint64_t block = std::uint64_t{kWord} * warp_size_;
    const double begins = beginnings(i);
    if (moved >= kMoved && begins >= kBegins) {
      suggest(
          i, DataKind::State, block, std::min(of_words, moved),
          fmt::format("words; {} % of the loads are of what another warp stored; warps begin with {} % of the visits",
                      percent(moved), percent(begins)));
      return;
    }
    const double own = share(use.own_lane, use.accesses());
    const double row = share(use.loads, use.loads - use.followed_loads);
    const std::string reason = fmt::format(
        "words, stored and loaded, {} % where the own lane's lie; {:.1f} loads in a row", percent(own), row);
    if (row >= kRow) {
      suggest(i, DataKind::Payload, block, std::max(own, 1 - moved), reason);
    } else if (own >= kMost || moved < 1 - kMost) {
      suggest(i, DataKind::Stack, block, std::max(own, 1 - moved), reason);
    }
  }

  /// Three loads a visit, entered from one array: that one holds the indices.
  void vertices(std::uint32_t i) {
    const AllocationUse& use = uses_[i];
    const auto [size, of_size] = most_frequent(use.sizes);
    const auto [before, entries] = most_frequent(use.from);
    const double visit = share(use.loads, use.entered);
    const double from_one = share(entries, use.entered);
    if (!loads_alone(i) || visit < 2.5 || visit > 3.5 || from_one < kMost || share(of_size, use.loads) < kMost ||
        !loads_alone(before)) {
      return;
    }
    const double on = share(uses_[before].to.at(i), sum(uses_[before].to));
    if (on < kMost || (!open_[before] && kinds_[before] != DataKind::Index)) {
      return;
    }
    suggest(i, DataKind::Vertex, size, from_one,
            fmt::format("loads of {} bytes, {:.1f} a visit; {} % of the visits come from allocation {}", size, visit,
                        percent(from_one), before));
    if (open_[before]) {
      suggest(before, DataKind::Index, record_bytes(before), on,
              fmt::format("loads of {} bytes; {} % of the lanes go on to the vertices of allocation {}",
                          record_bytes(before), percent(on), i));
    }
  }

  void boxes(std::uint32_t i) {
    const AllocationUse& use = uses_[i];
    const auto size = use.sizes.find(kBoxLoad);
    if (loads_alone(i) && size != use.sizes.end() && share(size->second, use.loads) >= kMost) {
      suggest(i, DataKind::Box, kBoxLoad, share(size->second, use.loads), "loads of 24 bytes: two corners");
    }
  }

  void shader_records(std::uint32_t i) {
    const double local =
        to_kinds(i, {DataKind::Payload, DataKind::State, DataKind::FrameBuffer, DataKind::ShaderRecord});
    if (loads_alone(i) && local >= kMost) {
      suggest(i, DataKind::ShaderRecord, record_bytes(i), local,
              fmt::format("loads of {} bytes; {} % of the lanes go on to payloads, pixels or other records",
                          record_bytes(i), percent(local)));
    }
  }

  void nodes(std::uint32_t i) {
    const double leaves = to_kinds(i, {DataKind::Index, DataKind::Box});
    const double visit = records_a_visit(i);
    if (!loads_alone(i) || record_bytes(i) < 16 || (leaves < kSome && visit < 1.2)) {
      return;
    }
    suggest(i, DataKind::Node, record_bytes(i), std::max({leaves, 1 - 1 / std::max(visit, 1.0), 0.5}),
            fmt::format("gathers of {} bytes, {:.1f} a visit; {} % of the lanes that leave go on to indices or boxes",
                        record_bytes(i), visit, percent(leaves)));
  }

  void instances(std::uint32_t i) {
    const double nodes = to_kinds(i, {DataKind::Node});
    if (loads_alone(i) && nodes >= kHalf && record_bytes(i) >= kLeastInstance) {
      suggest(i, DataKind::Instance, record_bytes(i), nodes,
              fmt::format("loads of {} bytes, {:.1f} a visit; {} % of the lanes go on to nodes", record_bytes(i),
                          records_a_visit(i), percent(nodes)));
    }
  }

  /// Roots, which instances lead to, and leaves above them.
  void nodes_at_instances(std::uint32_t i) {
    std::uint64_t from = 0;
    for (const auto& [before, count] : uses_[i].from) {
      from += kinds_[before] == DataKind::Instance ? count : 0;
    }
    const double below = share(from, sum(uses_[i].from));
    const double above = to_kinds(i, {DataKind::Instance});
    if (loads_alone(i) && std::max(below, above) >= kNear) {
      suggest(i, DataKind::Node, record_bytes(i), std::max(below, above),
              fmt::format("gathers of {} bytes; {} % of the lanes come from instances, {} % go on to some",
                          record_bytes(i), percent(below), percent(above)));
    }
  }

  /// Only a traversal pushes and pops.
  void nodes_at_stack(std::uint32_t i) {
    const double stack = to_kinds(i, {DataKind::Stack});
    if (loads_alone(i) && stack >= kNear) {
      suggest(
          i, DataKind::Node, record_bytes(i), stack,
          fmt::format("gathers of {} bytes; {} % of the lanes go on to the stack", record_bytes(i), percent(stack)));
    }
  }

  const memory::Allocations* allocations_;
  std::span<const AllocationUse> uses_;
  std::uint32_t warp_size_;
  std::vector<DataKind> kinds_;
  std::vector<bool> open_;  ///< without a label or suggestion
  std::vector<LabelGuess> guesses_;
};

}  // namespace

std::vector<LabelGuess> guess_labels(const memory::Allocations& allocations, std::span<const AllocationUse> uses,
                                     std::uint32_t warp_size) {
  return Guesser(allocations, uses, warp_size).all();
}

}  // namespace rayreplay::experiment
