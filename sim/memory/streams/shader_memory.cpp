#include "sim/memory/streams/shader_memory.hpp"

#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::uint64_t kPage = TouchedPages::kBytes;
/// An access touches at most two pages.
constexpr std::uint32_t kMostBytes = 1U << 16U;

/// Images are in image_memory.hpp.
bool is_buffer(trace::AccessSpace space) {
  return space == trace::AccessSpace::Descriptor || space == trace::AccessSpace::Device;
}

}  // namespace

ShaderMemory::ShaderMemory(const trace::Trace& trace, const trace::Launch& launch, Allocations& allocations)
    : buffer_of_(trace.access_sites.size(), kNoBuffer) {
  number_buffers(trace.access_sites);
  add_pages(trace, launch);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    Buffer& buffer = buffers_[i];
    if (buffer.pages.bytes() == 0) {
      continue;
    }
    Allocation row;
    row.name = names_[i];
    row.kind = DataKind::Other;
    row.start = (allocations.end() + kPage - 1) / kPage * kPage;
    row.bytes = buffer.pages.bytes();
    row.element_bytes = TouchedPages::kSectorBytes;
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
    if (is_buffer(sites.space[site])) {
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
    if (is_buffer(sites.space[site])) {
      buffer_of_[site] = numbers.at(name_of(site));
    }
  }
}

void ShaderMemory::add_pages(const trace::Trace& trace, const trace::Launch& launch) {
  const trace::Accesses& accesses = launch.data.accesses;
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
    buffers_[buffer_of_[site]].pages.add(address, address + bytes - 1);
  }
  for (Buffer& buffer : buffers_) {
    buffer.pages.finish();
  }
}

ShaderMemory::Place ShaderMemory::place(std::uint32_t site, std::uint64_t address) const {
  const Buffer& buffer = buffers_[buffer_of_[site]];
  const std::uint64_t offset = buffer.pages.offset(address);
  return {buffer.start + offset,
          buffer.first_element + static_cast<std::uint32_t>(offset / TouchedPages::kSectorBytes)};
}

}  // namespace rayreplay::memory
