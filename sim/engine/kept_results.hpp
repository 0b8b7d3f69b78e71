// Results in memory, found by key, each computed once however many threads want it.
//
// Contract: the first who asks computes, in isolation (tbb::this_task_arena::isolate: while it waits for its own tasks
// it takes up none of others, which might wait for it), the others wait. A failure is thrown to all who wait and is not
// kept. Results stay within `most_bytes` by the sizes that their makers state: the least recently used is evicted
// first. Results in use are never evicted, so that none is ever there twice. For many results made at one time: `claim`
// each, then `fulfil` or `abandon` those that are `Mine`, and only then `wait` for those that are `Others`, so that
// nobody waits for a claim that waits for his. Thread-safe.
//
// With `limit_to` the number holds for all memory that is reserved here, `Working` included: a reservation for which
// there is no room once all results that are not in use are evicted throws MemoryShort, and malloc gives back what was
// freed before it would be too much.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <tbb/task_arena.h>

#include "base/error.hpp"
#include "sim/engine/stage_key.hpp"

namespace rayreplay::experiment {

/// Kind Resource: a limit that was set, not the machine's.
class MemoryShort : public Error {
 public:
  MemoryShort(ErrorInfo info, std::uint64_t needed_bytes)
      : Error(ErrorKind::Resource, std::move(info)), needed_bytes_(needed_bytes) {}
  /// With all that cannot be dropped: at least so much.
  [[nodiscard]] std::uint64_t needed_bytes() const {
    return needed_bytes_;
  }

 private:
  std::uint64_t needed_bytes_;
};

class KeptResults {
 public:
  using Value = std::shared_ptr<const void>;
  enum class Claimed : std::uint8_t { Kept, Mine, Others };

 private:
  enum class State : std::uint8_t { Making, Kept, Failed };
  struct Slot {
    State state = State::Making;
    Value value;
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

  /// A reservation of memory that a computation works with, results that are being made included: made before the
  /// memory is taken, and given back after it was freed.
  class Working {
   public:
    explicit Working(KeptResults& kept, std::uint64_t bytes = 0) : kept_(&kept) {
      set(bytes);
    }
    ~Working() {
      kept_->give_back(bytes_);
    }
    Working(const Working&) = delete;
    Working& operator=(const Working&) = delete;

    /// In all from now on. Throws MemoryShort, and leaves it as it was.
    void set(std::uint64_t bytes);
    [[nodiscard]] bool try_set(std::uint64_t bytes);
    [[nodiscard]] std::uint64_t bytes() const {
      return bytes_;
    }

   private:
    friend class KeptResults;
    KeptResults* kept_;
    std::uint64_t bytes_ = 0;
  };

  explicit KeptResults(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}

  /// `make(working)` returns the value and its bytes; they take the place of what it was working with.
  template <class T, class Make>
  [[nodiscard]] std::shared_ptr<const T> get(const Key& key, const Make& make) {
    const Claim mine = claim(key);
    if (mine.claimed != Claimed::Mine) {
      return std::static_pointer_cast<const T>(wait(mine));
    }
    try {
      Working working(*this);
      std::pair<std::shared_ptr<const T>, std::uint64_t> made;
      tbb::this_task_arena::isolate([&] {
        if constexpr (std::is_invocable_v<const Make&, Working&>) {
          made = make(working);
        } else {
          made = make();
        }
      });
      fulfil(key, mine, made.first, made.second, &working);
      return made.first;
    } catch (...) {
      abandon(key, mine, std::current_exception());
      throw;
    }
  }

  [[nodiscard]] bool has(const Key& key) const;
  [[nodiscard]] Claim claim(const Key& key);
  void fulfil(const Key& key, const Claim& claim, Value value, std::uint64_t bytes, Working* working = nullptr);
  void abandon(const Key& key, const Claim& claim, std::exception_ptr failure);
  /// Of what is kept at once.
  [[nodiscard]] Value wait(const Claim& claim);
  /// Of results.
  [[nodiscard]] std::uint64_t bytes() const;
  /// From now on, and for all memory.
  void limit_to(std::uint64_t bytes);
  [[nodiscard]] bool limited() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  /// 0: done; otherwise what would have been needed.
  [[nodiscard]] std::uint64_t change(std::uint64_t from, std::uint64_t to);
  void give_back(std::uint64_t bytes) noexcept;
  [[nodiscard]] std::uint64_t counted() const;
  /// Evicts what is too much, and gives back what malloc holds of it. Gives the lock up meanwhile, and at the end.
  /// `large`: the change was.
  void settle(Lock& lock, bool large);
  /// Null where it is in use.
  [[nodiscard]] std::shared_ptr<Slot> evict(std::list<Key>::iterator place);

  std::uint64_t most_bytes_;
  bool limited_ = false;       ///< also what is not kept
  std::uint64_t working_ = 0;  ///< bytes
  std::uint64_t freed_ = 0;    ///< bytes, since malloc gave back what it had
  mutable std::mutex mutex_;
  std::condition_variable made_;
  std::unordered_map<Key, std::shared_ptr<Slot>, KeyHash> slots_;
  std::list<Key> used_;  ///< of what is kept; last used comes first
  std::uint64_t bytes_ = 0;
};

}  // namespace rayreplay::experiment
