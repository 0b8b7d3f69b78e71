// Where the buffers of recorded accesses lie among the arrays of a launch (launch_memory.hpp).
//
// Contract: the memory that a launch's recorded accesses touch is taken in pages of 64 KiB. Each descriptor (set,
// binding, place in an array) is a buffer of its own, whose offsets count from 0; all device addresses are one more.
// A buffer's touched pages, ascending, lie side by side in one allocation behind all others, on a boundary of a page:
// "descriptor 0.2 buffer" ("descriptor 0.2[5] buffer" in an array), by set, binding and place, then "device memory".
// So bytes of one page keep their distances, no line of up to 64 KiB is cut or joined, and recorded addresses never
// meet those of the structure and of the launch's own arrays. Elements are sectors of 32 bytes. Buffers of different
// descriptors count as different memory, though they may overlap. The application's own vertices, which a shader may
// read, are other memory than the structure's. Shader records are not placed: the launch's own read of a record stands
// for loads of its data. Errors: Resource for too many elements (allocations.hpp) and for a site of more than 64 KiB an
// access; Input for an access that would end beyond the last address. O(n log n) in the accesses of the launch, once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/trace/trace.hpp"
#include "sim/memory/allocations.hpp"
#include "sim/memory/streams/touched_pages.hpp"

namespace rayreplay::memory {

class ShaderMemory {
 public:
  struct Place {
    std::uint64_t address = 0;
    std::uint32_t element = 0;
  };

  /// Adds the allocations.
  ShaderMemory(const trace::Trace& trace, const trace::Launch& launch, Allocations& allocations);

  /// Whether accesses of the site are placed here: all but those of shader records, and of images (image_memory.hpp).
  [[nodiscard]] bool has(std::uint32_t site) const {
    return buffer_of_[site] != kNoBuffer;
  }
  /// Of a recorded access of the launch, with `has(site)`.
  [[nodiscard]] Place place(std::uint32_t site, std::uint64_t address) const;

 private:
  static constexpr std::uint32_t kNoBuffer = 0xFFFF'FFFFU;

  struct Buffer {
    TouchedPages pages;
    std::uint64_t start = 0;
    std::uint32_t first_element = kNoElement;
  };

  void number_buffers(const trace::AccessSites& sites);
  void add_pages(const trace::Trace& trace, const trace::Launch& launch);

  std::vector<std::uint32_t> buffer_of_;  ///< by site
  std::vector<std::string> names_;        ///< by buffer
  std::vector<Buffer> buffers_;
};

}  // namespace rayreplay::memory
