// Results in memory, found by key, each computed once however many threads want it.
//
// Contract: the first caller computes, in isolation (tbb::this_task_arena::isolate: while it waits for its own tasks it
// starts no others, which could wait for it); other callers wait. A failure is thrown to all waiting callers and is not
// kept. Results stay within `most_bytes` and within max(64 MiB, 8 times the largest result), by the sizes that their
// makers state; the least recently used is evicted first. The second bound is for sweeps of many small experiments:
// memory that is used again is in the caches and mapped, memory that only grows is neither. Results in use are never
// evicted. To compute many results at once: `claim` each, `fulfil` or `abandon` those
// that are `Mine`, and only then `wait` for those of `Others`; this order excludes deadlock. Thread-safe.
//
// After `limit_to` the limit covers all memory reserved here, `Working` included: a reservation that does not fit after
// all evictions throws MemoryShort. Memory that malloc holds back is returned to the system before the limit is passed.
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

/// Kind Resource: the set limit is exceeded, not the machine's memory.
class MemoryShort : public Error {
 public:
  MemoryShort(ErrorInfo info, std::uint64_t needed_bytes)
      : Error(ErrorKind::Resource, std::move(info)), needed_bytes_(needed_bytes) {}
  /// A lower bound: includes all that cannot be evicted.
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

  /// A reservation for the working memory of a computation, results being made included: reserved before the memory is
  /// allocated, released after it is freed.
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

    /// Changes the reservation to `bytes` in total. Throws MemoryShort and then changes nothing.
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

  /// `make(working)` returns the value and its bytes; these replace the reservation `working`.
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
  /// Waits for a result that another caller claimed.
  [[nodiscard]] Value wait(const Claim& claim);
  /// Bytes of all kept results.
  [[nodiscard]] std::uint64_t bytes() const;
  /// From now on, for all memory: results and reservations.
  void limit_to(std::uint64_t bytes);
  [[nodiscard]] bool limited() const;

 private:
  using Lock = std::unique_lock<std::mutex>;

  /// 0: done; otherwise the bytes that would have been needed.
  [[nodiscard]] std::uint64_t change(std::uint64_t from, std::uint64_t to);
  void give_back(std::uint64_t bytes) noexcept;
  [[nodiscard]] std::uint64_t counted() const;
  /// Whether results must be evicted.
  [[nodiscard]] bool exceeds() const;
  /// Evicts down to the limit and returns freed memory from malloc. Releases the lock meanwhile and at the end.
  /// `large`: the change of the reservation was large.
  void settle(Lock& lock, bool large);
  /// Null where the result is in use.
  [[nodiscard]] std::shared_ptr<Slot> evict(std::list<Key>::iterator place);

  std::uint64_t most_bytes_;
  bool limited_ = false;       ///< the limit includes working memory (limit_to)
  std::uint64_t working_ = 0;  ///< bytes
  std::uint64_t largest_ = 0;  ///< bytes of the largest result so far
  std::uint64_t freed_ = 0;    ///< bytes evicted since malloc last returned free memory
  mutable std::mutex mutex_;
  std::condition_variable made_;
  std::unordered_map<Key, std::shared_ptr<Slot>, KeyHash> slots_;
  std::list<Key> used_;  ///< keys of kept results, most recently used first
  std::uint64_t bytes_ = 0;
};

}  // namespace rayreplay::experiment
