// Results in memory, found by key, each computed once however many threads want it.
//
// Contract: the first who asks computes, in isolation (tbb::this_task_arena::isolate: while it waits for its own tasks
// it takes up none of others, which might wait for it), the others wait. A failure is thrown to all who wait and is not
// kept. What is kept stays within `most_bytes` by the sizes that the makers state: least recently used out. What
// somebody still holds lives as long as that: if it is large it counts as long, so that others go in its place, and is
// found again, so that it is never there twice. For many results made at one time: `claim` each, then `fulfil` or
// `abandon` those that are `Mine`, and only then `wait` for those that are `Others`, so that nobody waits for a
// claim that waits for his. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <tbb/task_arena.h>

#include "sim/experiment/stages/stage_key.hpp"

namespace rayreplay::experiment {

class KeptResults {
 public:
  using Value = std::shared_ptr<const void>;
  enum class Claimed : std::uint8_t { Kept, Mine, Others };

 private:
  enum class State : std::uint8_t { Making, Kept, Failed, Dropped };
  struct Slot {
    State state = State::Making;
    Value value;
    std::weak_ptr<const void> held;  ///< by others, of what was dropped
    std::exception_ptr failure;
    std::uint64_t bytes = 0;
    std::list<Key>::iterator place;
  };

 public:
  class Claim {
   public:
    Claimed claimed = Claimed::Kept;

   private:
    friend class KeptResults;
    std::shared_ptr<Slot> slot_;
  };

  explicit KeptResults(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  /// `make` returns the value and its bytes.
  template <class T, class Make>
  [[nodiscard]] std::shared_ptr<const T> get(const Key& key, const Make& make) {
    const Claim mine = claim(key);
    if (mine.claimed != Claimed::Mine) {
      return std::static_pointer_cast<const T>(wait(mine));
    }
    try {
      std::pair<std::shared_ptr<const T>, std::uint64_t> made;
      tbb::this_task_arena::isolate([&] { made = make(); });
      fulfil(key, mine, made.first, made.second);
      return made.first;
    } catch (...) {
      abandon(key, mine, std::current_exception());
      throw;
    }
  }

  [[nodiscard]] bool has(const Key& key) const;
  [[nodiscard]] Claim claim(const Key& key);
  void fulfil(const Key& key, const Claim& claim, Value value, std::uint64_t bytes);
  void abandon(const Key& key, const Claim& claim, std::exception_ptr failure);
  /// Of what is kept at once.
  [[nodiscard]] Value wait(const Claim& claim);
  [[nodiscard]] std::uint64_t bytes() const;
  /// Nobody will ask for it again; who holds it has it as long as that. Nothing where it is not kept.
  void forget(const Key& key);
  /// From now on.
  void keep_at_most(std::uint64_t bytes);

 private:
  void make_room();
  void forget_dead();

  std::uint64_t most_bytes_;
  mutable std::mutex mutex_;
  std::condition_variable made_;
  std::unordered_map<Key, std::shared_ptr<Slot>, KeyHash> slots_;
  std::list<Key> used_;     ///< of what is kept; last used comes first
  std::list<Key> dropped_;  ///< of what others hold
  std::uint64_t bytes_ = 0;
};

}  // namespace rayreplay::experiment
