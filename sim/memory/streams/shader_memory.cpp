#include "sim/memory/streams/shader_memory.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::uint64_t kPage = std::uint64_t{1} << 16U;
constexpr std::uint32_t kElementBytes = 32;
/// An access touches at most two pages.
constexpr std::uint32_t kMostBytes = 1U << 16U;
/// Newly touched pages are sorted in with the others when there are so many.
constexpr std::size_t kMostUnsorted = std::size_t{1} << 20U;

void sort_pages(std::vector<std::uint64_t>& pages) {
  std::ranges::sort(pages);
  pages.erase(std::ranges::unique(pages).begin(), pages.end());
}

}  // namespace

ShaderMemory::ShaderMemory(const trace::Trace& trace, const trace::Launch& launch, Allocations& allocations)
    : buffer_of_(trace.access_sites.size(), kNoBuffer) {
  number_buffers(trace.access_sites);
  add_pages(trace, launch);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    Buffer& buffer = buffers_[i];
    if (buffer.pages.empty()) {
      continue;
    }
    Allocation row;
    row.name = names_[i];
    row.kind = DataKind::Other;
    row.start = (allocations.end() + kPage - 1) / kPage * kPage;
    row.bytes = buffer.pages.size() * kPage;
    row.element_bytes = kElementBytes;
    buffer.start = row.start;
    allocations.add(std::move(row), "accesses of shaders");
    buffer.first_element = allocations.rows().back().first_element;
  }
}

/// Descriptors by set, binding and place, then device memory.
void ShaderMemory::number_buffers(const trace::AccessSites& sites) {
  using Name = std::tuple<bool, std::uint32_t, std::uint32_t, std::uint32_t>;  // device memory, and the descriptor
  const auto name_of = [&](std::size_t site) {
    return Name(sites.space[site] == trace::AccessSpace::Device, sites.set[site], sites.binding[site],
                sites.element[site]);
  };
  std::map<Name, std::uint32_t> numbers;
  for (std::size_t site = 0; site < sites.size(); ++site) {
    if (sites.space[site] != trace::AccessSpace::ShaderRecord) {
      numbers.emplace(name_of(site), 0);
    }
  }
  for (auto& [name, number] : numbers) {
    number = static_cast<std::uint32_t>(names_.size());
    const auto& [device, set, binding, place] = name;
    names_.push_back(device       ? std::string("device memory")
                     : place == 0 ? fmt::format("descriptor {}.{} buffer", set, binding)
                                  : fmt::format("descriptor {}.{}[{}] buffer", set, binding, place));
  }
  buffers_.resize(names_.size());
  for (std::size_t site = 0; site < sites.size(); ++site) {
    if (sites.bytes[site] > kMostBytes) {
      throw Error(ErrorKind::Resource,
                  {"an access of a shader is too large", fmt::format("/profile/access_sites/bytes[{}]", site),
                   fmt::format("{} bytes", sites.bytes[site]), fmt::format("at most {}", kMostBytes),
                   "leave recorded accesses out: stream.shader_accesses=off"});
    }
    if (sites.space[site] != trace::AccessSpace::ShaderRecord) {
      buffer_of_[site] = numbers.at(name_of(site));
    }
  }
}

void ShaderMemory::add_pages(const trace::Trace& trace, const trace::Launch& launch) {
  const trace::Accesses& accesses = launch.data.accesses;
  std::vector<std::size_t> limit(buffers_.size(), kMostUnsorted);
  for (std::size_t row = 0; row < accesses.size(); ++row) {
    const std::uint32_t site = accesses.site[row];
    if (!has(site)) {
      continue;
    }
    const std::uint64_t address = accesses.address[row];
    const std::uint32_t bytes = trace.access_sites.bytes[site];
    constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max() - kPage;
    if (address > kLast || bytes - 1 > kLast - address) {
      throw Error(ErrorKind::Input, {"an access of a shader ends behind the last address", "access streams",
                                     fmt::format("{} bytes at {:#x}", bytes, address), "an end below 2^64 - 2^16",
                                     "capture the launch again"});
    }
    std::vector<std::uint64_t>& pages = buffers_[buffer_of_[site]].pages;
    for (std::uint64_t page = address / kPage; page <= (address + bytes - 1) / kPage; ++page) {
      if (pages.empty() || pages.back() != page) {
        pages.push_back(page);
      }
    }
    std::size_t& most = limit[buffer_of_[site]];
    if (pages.size() > most) {
      sort_pages(pages);
      most = pages.size() + kMostUnsorted;
    }
  }
  for (Buffer& buffer : buffers_) {
    sort_pages(buffer.pages);
  }
}

ShaderMemory::Place ShaderMemory::place(std::uint32_t site, std::uint64_t address) const {
  const Buffer& buffer = buffers_[buffer_of_[site]];
  const auto found = std::ranges::lower_bound(buffer.pages, address / kPage) - buffer.pages.begin();
  const std::uint64_t offset = static_cast<std::uint64_t>(found) * kPage + address % kPage;
  return {buffer.start + offset, buffer.first_element + static_cast<std::uint32_t>(offset / kElementBytes)};
}

}  // namespace rayreplay::memory
