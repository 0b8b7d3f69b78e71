#include "sim/experiment/stages/kept_results.hpp"

#include <utility>

namespace rayreplay::experiment {
namespace {

constexpr std::uint64_t kSlotBytes = 200;  // of the containers
constexpr std::uint64_t kLargeBytes = std::uint64_t{1} << 20U;

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
  if (slot != nullptr && slot->state == State::Dropped) {
    dropped_.erase(slot->place);
    const auto old = std::exchange(slot, nullptr);
    if (Value value = old->held.lock()) {
      slot = std::make_shared<Slot>();
      slot->value = std::move(value);
      slot->bytes = old->bytes;
      slot->state = State::Kept;
      used_.push_front(key);
      slot->place = used_.begin();
    } else {
      bytes_ -= old->bytes;
    }
  }
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

void KeptResults::fulfil(const Key& key, const Claim& claim, Value value, std::uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    Slot& slot = *claim.slot_;
    slot.value = std::move(value);
    slot.bytes = bytes + kSlotBytes;
    slot.state = State::Kept;
    used_.push_front(key);
    slot.place = used_.begin();
    bytes_ += slot.bytes;
    make_room();
  }
  made_.notify_all();
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

void KeptResults::forget(const Key& key) {
  std::shared_ptr<Slot> gone;  // after the lock: others need not wait until a large value is taken apart
  const std::lock_guard lock(mutex_);
  const auto found = slots_.find(key);
  if (found == slots_.end() || found->second->state != State::Kept) {
    return;
  }
  gone = std::move(found->second);
  slots_.erase(found);
  used_.erase(gone->place);
  bytes_ -= gone->bytes;
}

void KeptResults::keep_at_most(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  most_bytes_ = bytes;
  make_room();
}

/// What was fulfilled before its maker held it is in the hands of whoever made it: nothing is lost by dropping it.
void KeptResults::make_room() {
  if (bytes_ > most_bytes_) {
    forget_dead();
  }
  while (bytes_ > most_bytes_ && !used_.empty()) {
    const auto found = slots_.find(used_.back());
    // Who waits for the slot has it, and its value.
    std::shared_ptr<Slot> old = std::exchange(found->second, nullptr);
    const bool held = old.use_count() > 1 || old->value.use_count() > 1;
    if (held && old->bytes >= kLargeBytes) {
      auto dropped = std::make_shared<Slot>();
      dropped->state = State::Dropped;
      dropped->held = old->value;
      dropped->bytes = old->bytes;
      dropped->place = dropped_.insert(dropped_.end(), found->first);
      found->second = std::move(dropped);
    } else {
      bytes_ -= old->bytes;
      slots_.erase(found);
      old.reset();
      forget_dead();  // it may have held others
    }
    used_.pop_back();
  }
}

void KeptResults::forget_dead() {
  for (auto place = dropped_.begin(); place != dropped_.end();) {
    const auto found = slots_.find(*place);
    if (!found->second->held.expired()) {
      ++place;
      continue;
    }
    bytes_ -= found->second->bytes;
    slots_.erase(found);
    place = dropped_.erase(place);
  }
}

}  // namespace rayreplay::experiment
