// Validity of memory traces in any form.
#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "capture/import/forms.hpp"
#include "capture/import/memory_trace.hpp"

namespace rayreplay::import {
namespace {

constexpr std::uint64_t kLastAddress = std::numeric_limits<std::uint64_t>::max();

[[noreturn]] void fail(const std::string& where, const std::string& what, const std::string& found,
                       const std::string& expected, const std::string& fix = "") {
  throw Error(ErrorKind::Input, {what, where, found, expected, fix});
}

std::string range_text(const TraceAllocation& row) {
  return fmt::format("'{}' at {:#x}, {} bytes", row.name, row.start, row.bytes);
}

void check_text(const std::string& text, const std::string& name, const std::string& where) {
  if (text.size() > kMaxText) {
    fail(where, "a text of the header is too long: " + name, fmt::format("{} bytes", text.size()),
         fmt::format("at most {}", kMaxText), "shorten it");
  }
  if (text.starts_with(' ') || text.ends_with(' ')) {
    fail(where, "a text of the header starts or ends with a blank: " + name, "'" + text + "'", "no blank there",
         "remove it");
  }
  const auto control = std::find_if(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
  if (control != text.end()) {
    fail(where, "a text of the header has a control character: " + name,
         fmt::format("byte {:#04x}", static_cast<unsigned char>(*control)), "printable text in UTF-8", "remove it");
  }
  if (const std::size_t at = text::invalid_at(text); at != text::kAllValid) {
    fail(where, "a text of the header is not UTF-8: " + name,
         fmt::format("the byte {:#04x} at byte {}", static_cast<unsigned char>(text[at]), at), "text in UTF-8",
         "write the name in UTF-8");
  }
}

void check_allocation(const TraceAllocation& row, const std::string& where) {
  check_text(row.name, "the name of an allocation", where);
  if (row.data >= kDataValues) {
    fail(where, "an allocation holds data of an unknown kind", fmt::format("{}", row.data),
         fmt::format("0 to {}", kDataValues - 1), "docs/memory-traces.md lists the kinds; 9 is any other data");
  }
  if (row.element_bytes == 0) {
    fail(where, "an allocation has elements of no size", range_text(row), "element size 1 or more",
         "say the size of what the allocation is an array of; 1 if that is not known");
  }
  if (row.bytes == 0) {
    fail(where, "an allocation is empty", range_text(row), "1 byte or more", "leave it out");
  }
  if (row.bytes > kLastAddress - row.start) {
    fail(where, "an allocation ends behind the last address", range_text(row), "start + bytes below 2^64",
         "correct its start or its size: the second number is a size, not an end");
  }
}

}  // namespace

void check(const TraceHeader& header, const std::string& where) {
  check_text(header.tool, "tool", where);
  check_text(header.device, "device", where);
  check_text(header.application, "application", where);
  if (header.warp_size == 0 || header.warp_size > kMaxWarpSize) {
    fail(where, "the warp size is out of range", fmt::format("{}", header.warp_size),
         fmt::format("1 to {}", kMaxWarpSize), "cut wider groups into several records; 1 if the program has no warps");
  }
  if (header.sms == 0 || header.sms > kMaxSms) {
    fail(where, "the number of SMs is out of range", fmt::format("{}", header.sms), fmt::format("1 to {}", kMaxSms),
         "say how many SMs the GPU has; 1 if the tool does not tell SMs apart");
  }
  if ((header.width == 0) != (header.height == 0)) {
    fail(where, "the frame has one side only", fmt::format("{} x {}", header.width, header.height),
         "two sides of 1 or more, or 0 x 0 where it is not known", "mend 'frame' in the header, or leave it out");
  }
  if (header.allocations.size() > kMaxAllocations) {
    fail(where, "there are too many allocations", fmt::format("{}", header.allocations.size()),
         fmt::format("at most {}", kMaxAllocations), "leave out those that no record touches");
  }
  for (const TraceAllocation& row : header.allocations) {
    check_allocation(row, where);
  }
  if (const auto overlap = find_overlap(header)) {
    fail_overlap(header, *overlap, where);
  }
}

std::optional<Overlap> find_overlap(const TraceHeader& header) {
  std::vector<std::uint32_t> order(header.allocations.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return header.allocations[a].start < header.allocations[b].start;
  });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const TraceAllocation& low = header.allocations[order[i - 1]];
    const TraceAllocation& high = header.allocations[order[i]];
    if (high.start - low.start < low.bytes) {
      return Overlap{order[i - 1], order[i]};
    }
  }
  return {};
}

void fail_overlap(const TraceHeader& header, const Overlap& overlap, const std::string& where) {
  fail(where, "two allocations overlap",
       range_text(header.allocations[overlap.low]) + ", and " + range_text(header.allocations[overlap.high]),
       "every address in one allocation at most",
       "memory that was freed and given out again has to become one allocation, or one trace for each use");
}

void check(const TraceHeader& header, const RecordBlock& block, std::size_t row, const std::string& where) {
  const std::uint64_t mask = block.mask[row];
  if (block.sm[row] >= header.sms) {
    fail(where, "the SM is out of range", fmt::format("{}", block.sm[row]),
         fmt::format("below {}, the number of SMs that the header states", header.sms), "mend 'sms' in the header");
  }
  if (mask == 0) {
    fail(where, "no lane is active", "mask 0", "a mask with at least one lane",
         "leave out instructions that no lane runs");
  }
  if (header.warp_size < 64 && (mask >> header.warp_size) != 0) {
    fail(where, "the mask has lanes that a warp does not have", fmt::format("{:#x}", mask),
         fmt::format("bits below {}, the warp size that the header states", header.warp_size),
         "mend 'warp-size' in the header");
  }
  if (block.bytes[row] == 0 || block.bytes[row] > kMaxLaneBytes) {
    fail(where, "the size of a lane's access is out of range", fmt::format("{}", block.bytes[row]),
         fmt::format("1 to {} bytes", kMaxLaneBytes),
         "the size is that of one lane's access in bytes; cut longer copies into several records");
  }
  for (std::uint32_t i = block.first[row]; i < block.first[row + 1]; ++i) {
    if (block.address[i] > kLastAddress - (block.bytes[row] - 1)) {
      fail(where, "an access ends behind the last address",
           fmt::format("{:#x}, {} bytes", block.address[i], block.bytes[row]), "address + size at most 2^64",
           "correct the address, or leave out the lane");
    }
  }
}

}  // namespace rayreplay::import
