#include "sim/memory/streams/access_alignment.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace rayreplay::memory {
namespace {

/// An access with the number of its execution of the site in the lane.
struct Numbered {
  std::uint32_t site = 0, execution = 0;
  AlignedAccess access;

  [[nodiscard]] auto key() const {
    return std::tuple(site, execution, access.lane);
  }
  [[nodiscard]] bool same_instruction(const Numbered& other) const {
    return site == other.site && execution == other.execution;
  }
};

std::vector<Numbered> numbered(std::span<const std::vector<std::uint32_t>> lanes) {
  std::vector<Numbered> all;
  std::unordered_map<std::uint32_t, std::uint32_t> executions;
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    executions.clear();
    for (std::uint32_t place = 0; place < lanes[lane].size(); ++place) {
      const std::uint32_t site = lanes[lane][place];
      all.push_back({site, executions[site]++, {lane, place}});
    }
  }
  return all;
}

/// All lanes ran the same sites in the same order: nothing needs to be sorted.
bool are_alike(std::span<const std::vector<std::uint32_t>> lanes) {
  return std::ranges::all_of(lanes, [&](const std::vector<std::uint32_t>& lane) { return lane == lanes.front(); });
}

AlignedAccesses of_alike(std::span<const std::vector<std::uint32_t>> lanes) {
  AlignedAccesses result;
  result.first.push_back(0);
  const std::size_t places = lanes.empty() ? 0 : lanes.front().size();
  for (std::uint32_t place = 0; place < places; ++place) {
    for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
      result.accesses.push_back({lane, place});
    }
    result.first.push_back(result.accesses.size());
  }
  return result;
}

/// The order of instructions, which are rows [first[i], first[i + 1]) of `all`.
class Order {
 public:
  Order(std::span<const std::vector<std::uint32_t>> lanes, const std::vector<Numbered>& all,
        const std::vector<std::size_t>& first)
      : all_(all),
        first_(first),
        instruction_at_(lanes.size()),
        left_(lanes.size(), 0),
        waits_for_(first.size() - 1, 0),
        done_(first.size() - 1, false) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      instruction_at_[lane].resize(lanes[lane].size());
    }
    for (std::uint32_t i = 0; i + 1 < first.size(); ++i) {
      for (std::size_t row = first[i]; row < first[i + 1]; ++row) {
        const AlignedAccess& access = all[row].access;
        instruction_at_[access.lane][access.place] = i;
        waits_for_[i] += access.place > 0 ? 1U : 0U;
      }
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> make() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < waits_for_.size(); ++i) {
      offer(i);
    }
    std::size_t lowest = 0;  // lanes below it have nothing left
    while (order.size() < waits_for_.size()) {
      if (!ready_.empty()) {
        const std::uint32_t next = ready_.top().instruction;
        ready_.pop();
        take(next, order);
        continue;
      }
      while (left_[lowest] == instruction_at_[lowest].size()) {
        ++lowest;
      }
      take(instruction_at_[lowest][left_[lowest]], order);
    }
    return order;
  }

 private:
  struct Ready {
    AlignedAccess lowest;
    std::uint32_t instruction = 0;

    bool operator>(const Ready& other) const {
      return std::tuple(lowest.lane, lowest.place) > std::tuple(other.lowest.lane, other.lowest.place);
    }
  };

  void offer(std::uint32_t instruction) {
    if (waits_for_[instruction] == 0) {
      ready_.push({all_[first_[instruction]].access, instruction});
    }
  }
  void take(std::uint32_t instruction, std::vector<std::uint32_t>& order) {
    order.push_back(instruction);
    done_[instruction] = true;
    for (std::size_t row = first_[instruction]; row < first_[instruction + 1]; ++row) {
      const std::uint32_t lane = all_[row].access.lane;
      const std::vector<std::uint32_t>& of_lane = instruction_at_[lane];
      std::uint32_t& left = left_[lane];
      if (all_[row].access.place != left) {
        continue;  // taken before its turn
      }
      while (left < of_lane.size() && done_[of_lane[left]]) {
        ++left;
      }
      if (left < of_lane.size()) {
        --waits_for_[of_lane[left]];
        offer(of_lane[left]);
      }
    }
  }

  const std::vector<Numbered>& all_;
  const std::vector<std::size_t>& first_;
  std::vector<std::vector<std::uint32_t>> instruction_at_;  ///< by lane and place
  std::vector<std::uint32_t> left_;                         ///< by lane: the first place that is not done
  std::vector<std::uint32_t> waits_for_;  ///< by instruction: its lanes that have others left before it
  std::vector<bool> done_;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
};

}  // namespace

AlignedAccesses align_accesses(std::span<const std::vector<std::uint32_t>> lanes) {
  if (are_alike(lanes)) {
    return of_alike(lanes);
  }
  std::vector<Numbered> all = numbered(lanes);
  std::ranges::sort(all, {}, &Numbered::key);
  std::vector<std::size_t> first{0};
  for (std::size_t row = 1; row <= all.size(); ++row) {
    if (row == all.size() || !all[row].same_instruction(all[row - 1])) {
      first.push_back(row);
    }
  }
  AlignedAccesses result;
  result.first.push_back(0);
  for (const std::uint32_t instruction : Order(lanes, all, first).make()) {
    for (std::size_t row = first[instruction]; row < first[instruction + 1]; ++row) {
      result.accesses.push_back(all[row].access);
    }
    result.first.push_back(result.accesses.size());
  }
  return result;
}

}  // namespace rayreplay::memory
