#include "sim/engine/kept_results.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/keep_memory.hpp"
#include "base/memory.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::uint64_t kSlotBytes = 200;  // overhead of the containers for one result
constexpr std::uint64_t kLargeBytes = std::uint64_t{1} << 20U;
constexpr std::uint64_t kWorthTrimming = std::uint64_t{8} << 20U;
constexpr std::uint64_t kManyBytes = std::uint64_t{64} << 20U;
constexpr std::uint64_t kManyLargest = 8;

std::uint64_t less(std::uint64_t most, std::uint64_t taken) {
  return most > taken ? most - taken : 0;
}

}  // namespace

bool KeptResults::has(const Key& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = slots_.find(key);
  return found != slots_.end() && found->second->state == State::Kept;
}

KeptResults::Claim KeptResults::claim(const Key& key) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Slot>& slot = slots_[key];
  Claim result;
  if (slot == nullptr) {
    slot = std::make_shared<Slot>();
    result.claimed = Claimed::Mine;
  } else if (slot->state == State::Kept) {
    used_.splice(used_.begin(), used_, slot->place);
  } else {
    result.claimed = Claimed::Others;
  }
  result.slot_ = slot;
  return result;
}

void KeptResults::fulfil(const Key& key, const Claim& claim, Value value, std::uint64_t bytes, Working* working) {
  {
    Lock lock(mutex_);
    Slot& slot = *claim.slot_;
    slot.value = std::move(value);
    slot.bytes = bytes + kSlotBytes;
    slot.state = State::Kept;
    used_.push_front(key);
    slot.place = used_.begin();
    bytes_ += slot.bytes;
    largest_ = std::max(largest_, slot.bytes);
    if (working != nullptr) {
      const std::uint64_t was = std::exchange(working->bytes_, 0);
      working_ -= was;
      freed_ += was > bytes ? was - bytes : 0;
    }
    made_.notify_all();
    settle(lock, bytes >= kLargeBytes);
  }
}

void KeptResults::abandon(const Key& key, const Claim& claim, std::exception_ptr failure) {
  {
    const std::lock_guard lock(mutex_);
    claim.slot_->state = State::Failed;
    claim.slot_->failure = std::move(failure);
    slots_.erase(key);
  }
  made_.notify_all();
}

KeptResults::Value KeptResults::wait(const Claim& claim) {
  std::unique_lock lock(mutex_);
  made_.wait(lock, [&] { return claim.slot_->state != State::Making; });
  if (claim.slot_->state == State::Failed) {
    std::rethrow_exception(claim.slot_->failure);
  }
  return claim.slot_->value;
}

std::uint64_t KeptResults::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void KeptResults::limit_to(std::uint64_t bytes) {
  Lock lock(mutex_);
  most_bytes_ = bytes;
  limited_ = true;
  settle(lock, true);
}

bool KeptResults::limited() const {
  const std::lock_guard lock(mutex_);
  return limited_;
}

void KeptResults::Working::set(std::uint64_t bytes) {
  if (const std::uint64_t needed = kept_->change(bytes_, bytes); needed != 0) {
    throw MemoryShort({"there is not enough memory for what is being computed", "", fmt::format("{} bytes", needed),
                       "less", "allow more memory"},
                      needed);
  }
  bytes_ = bytes;
}

bool KeptResults::Working::try_set(std::uint64_t bytes) {
  if (kept_->change(bytes_, bytes) != 0) {
    return false;
  }
  bytes_ = bytes;
  return true;
}

std::uint64_t KeptResults::change(std::uint64_t from, std::uint64_t to) {
  if (to <= from) {
    give_back(from - to);
    return 0;
  }
  const std::uint64_t more = to - from;
  Lock lock(mutex_);
  working_ += more;
  settle(lock, more >= kLargeBytes);
  lock.lock();
  if (!limited_ || counted() <= most_bytes_) {
    return 0;
  }
  const std::uint64_t needed = counted();
  working_ -= more;
  return needed;
}

void KeptResults::give_back(std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  working_ -= bytes;
  freed_ += bytes;
}

std::uint64_t KeptResults::counted() const {
  return limited_ ? bytes_ + working_ : bytes_;
}

bool KeptResults::exceeds() const {
  return counted() > most_bytes_ || bytes_ > std::max(kManyBytes, kManyLargest * largest_);
}

void KeptResults::settle(Lock& lock, bool large) {
  for (auto place = used_.end(); exceeds() && place != used_.begin();) {
    std::shared_ptr<Slot> old = evict(std::prev(place));
    if (old == nullptr) {
      --place;
      continue;
    }
    lock.unlock();
    old.reset();  // freed without the lock: large values take time
    lock.lock();
    place = used_.end();  // its destructor may have used other results
  }
  // Freed memory that malloc keeps counts against the limit, so it is returned to the system. Resident memory may be
  // below the reservations, part of which is not written yet.
  const std::uint64_t working = working_;
  const std::uint64_t most = limited_ ? most_bytes_ : std::numeric_limits<std::uint64_t>::max();
  const bool freed = freed_ >= kWorthTrimming && freed_ > less(most, counted());
  lock.unlock();
  if (freed || (large && taken_memory() > less(most, working))) {
    give_back_freed_memory();
    lock.lock();
    freed_ = 0;
    lock.unlock();
  }
}

std::shared_ptr<KeptResults::Slot> KeptResults::evict(std::list<Key>::iterator place) {
  const auto found = slots_.find(*place);
  // A thread that waits for the slot holds it and will receive its value.
  if (found->second.use_count() > 1 || found->second->value.use_count() > 1) {
    return nullptr;
  }
  std::shared_ptr<Slot> old = std::move(found->second);
  bytes_ -= old->bytes;
  freed_ += old->bytes;
  slots_.erase(found);
  used_.erase(place);
  return old;
}

}  // namespace rayreplay::experiment
