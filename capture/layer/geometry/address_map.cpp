#include "capture/layer/geometry/address_map.hpp"

namespace rayreplay::layer::geometry {

void AddressMap::forget_address(const Buffer& buffer) {
  if (buffer.address == 0) {
    return;
  }
  auto [at, end] = by_address_.equal_range(buffer.address);
  for (; at != end; ++at) {
    if (at->second == buffer.buffer) {
      by_address_.erase(at);
      break;
    }
  }
  const auto size = sizes_.find(buffer.size);
  if (size != sizes_.end() && --size->second == 0) {
    sizes_.erase(size);
  }
}

void AddressMap::add(const Buffer& buffer) {
  remove(buffer.buffer);
  Buffer& known = buffers_[buffer.buffer];
  known = buffer;
  known.address = 0;
  set_address(buffer.buffer, buffer.address);
}

void AddressMap::set_address(VkBuffer buffer, std::uint64_t address) {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end() || found->second.address == address) {
    return;
  }
  forget_address(found->second);
  found->second.address = address;
  if (address != 0) {
    by_address_.emplace(address, buffer);
    ++sizes_[found->second.size];
  }
}

void AddressMap::remove(VkBuffer buffer) {
  const auto found = buffers_.find(buffer);
  if (found != buffers_.end()) {
    forget_address(found->second);
    buffers_.erase(found);
  }
}

const AddressMap::Buffer* AddressMap::get(VkBuffer buffer) const {
  const auto found = buffers_.find(buffer);
  return found == buffers_.end() ? nullptr : &found->second;
}

std::optional<AddressMap::Place> AddressMap::find(std::uint64_t address) const {
  std::optional<Place> best;
  if (address == 0 || sizes_.empty()) {
    return best;
  }
  const std::uint64_t largest = sizes_.rbegin()->first;
  for (auto at = by_address_.upper_bound(address); at != by_address_.begin();) {
    --at;
    const std::uint64_t offset = address - at->first;
    if (offset >= largest) {
      break;  // neither this nor any before it reaches so far
    }
    const Buffer& buffer = buffers_.at(at->second);
    if (offset < buffer.size) {
      const Place place{buffer.buffer, offset, buffer.size - offset, buffer.readable};
      // A buffer that cannot be read is named only if there is no other.
      if (!best || (place.readable && !best->readable) ||
          (place.readable == best->readable && place.available > best->available)) {
        best = place;
      }
    }
  }
  return best;
}

}  // namespace rayreplay::layer::geometry
