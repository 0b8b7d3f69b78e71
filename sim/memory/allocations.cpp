#include "sim/memory/allocations.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::memory {
namespace {

std::string range_text(const Allocation& row) {
  return fmt::format("'{}' at {:#x}, {} bytes", row.name, row.start, row.bytes);
}

void check_row(const Allocation& row, const std::string& source) {
  const auto fail = [&](const std::string& what, const std::string& expected) {
    throw Error(ErrorKind::Usage, {what, source, range_text(row), expected, ""});
  };
  if (row.element_bytes == 0) {
    fail("an allocation has elements of no size", "element size 1 or more");
  }
  if (row.bytes == 0) {
    fail("an allocation is empty", "1 byte or more");
  }
  if (row.bytes > std::numeric_limits<std::uint64_t>::max() - row.start) {
    fail("an allocation ends behind the last address", "start + bytes below 2^64");
  }
}

}  // namespace

std::uint32_t Allocations::add(Allocation allocation, const std::string& source) {
  check_row(allocation, source);
  const auto place =
      std::upper_bound(by_start_.begin(), by_start_.end(), allocation.start,
                       [this](std::uint64_t start, std::uint32_t row) { return start < rows_[row].start; });
  const auto overlaps = [&](std::uint32_t row) {
    const Allocation& other = rows_[row];
    return allocation.start < other.start + other.bytes && other.start < allocation.start + allocation.bytes;
  };
  const auto refuse = [&](std::uint32_t row) {
    throw Error(ErrorKind::Usage,
                {"two allocations overlap", source, range_text(allocation) + ", and " + range_text(rows_[row]),
                 "every address in one allocation at most", ""});
  };
  if (place != by_start_.begin() && overlaps(*(place - 1))) {
    refuse(*(place - 1));
  }
  if (place != by_start_.end() && overlaps(*place)) {
    refuse(*place);
  }
  const std::uint64_t elements = (allocation.bytes - 1) / allocation.element_bytes + 1;
  if (elements >= kNoElement - std::uint64_t{elements_}) {
    throw Error(ErrorKind::Resource, {"the allocations have too many elements", source,
                                      fmt::format("{} with {} so far", range_text(allocation), elements_),
                                      "fewer than 2^32 - 1 in all", "use larger elements"});
  }
  allocation.first_element = elements_;
  elements_ += static_cast<std::uint32_t>(elements);
  const auto index = static_cast<std::uint32_t>(rows_.size());
  rows_.push_back(std::move(allocation));
  by_start_.insert(place, index);
  return index;
}

std::uint32_t Allocations::find(std::uint64_t address, Cursor& cursor) const {
  const auto holds = [&](std::uint32_t row) {
    return address >= rows_[row].start && address - rows_[row].start < rows_[row].bytes;
  };
  if (cursor.index < rows_.size() && holds(cursor.index)) {
    return cursor.index;
  }
  const auto behind =
      std::upper_bound(by_start_.begin(), by_start_.end(), address,
                       [this](std::uint64_t value, std::uint32_t row) { return value < rows_[row].start; });
  if (behind == by_start_.begin() || !holds(*(behind - 1))) {
    return kNoAllocation;
  }
  cursor.index = *(behind - 1);
  return cursor.index;
}

std::uint32_t Allocations::allocation_of(std::uint32_t element) const {
  const auto behind =
      std::upper_bound(rows_.begin(), rows_.end(), element,
                       [](std::uint32_t value, const Allocation& row) { return value < row.first_element; });
  if (element >= elements_) {
    return kNoAllocation;
  }
  return static_cast<std::uint32_t>(behind - rows_.begin()) - 1;
}

std::uint64_t Allocations::end() const {
  return by_start_.empty() ? 0 : rows_[by_start_.back()].start + rows_[by_start_.back()].bytes;
}

}  // namespace rayreplay::memory
