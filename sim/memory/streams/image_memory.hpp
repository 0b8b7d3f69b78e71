// Where the images of recorded accesses lie among the arrays of a launch (launch_memory.hpp).
//
// Contract: a recorded access of an image names a descriptor, of the launch's table of images, and a texel
// (capture/trace/texel_address.hpp). Descriptors of one image share its memory; the base level and layer of their views
// are added. An image's levels and layers lie as image_plan.hpp says, in the layout asked for. The pages of 64 KiB that
// the launch's accesses touch lie side by side, as those of buffers (shader_memory.hpp), in an allocation "image N" for
// each image, by ascending number behind all others. Elements are sectors of 32 bytes.
//
// Loads, stores and atomics touch the block with their texel. A sample touches those of its filter: the nearest texel,
// or (linear; without a sampler in the descriptor, assumed) the two nearest ones along x, of which the lower is (x − 1)
// / 2 rounded down, along y too, and of a 3D image in the recorded slice and the next one, because a trace has the
// nearest slice alone. Beyond a level's end the texels at its begin follow, and the other way round (repeat). `pieces`
// gives different blocks once, in the order x, y, z. An access without a row in the table, or with a texel that the
// image does not have, touches no memory (Vulkan: reads return 0 or nothing that the image holds, writes are dropped).
// A cube's sides are layers: their samples do not reach the neighbouring sides (assumed).
//
// Errors: Input for images that cannot be (image_plan.hpp); Resource for too many elements. O(n log n) in the launch's
// accesses and its table, once; an access O(log images).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capture/trace/trace.hpp"
#include "sim/memory/allocations.hpp"
#include "sim/memory/images/image_plan.hpp"
#include "sim/memory/streams/instruction_writer.hpp"
#include "sim/memory/streams/touched_pages.hpp"

namespace rayreplay::memory {

/// The blocks that an access touches, at most 8.
struct ImagePieces {
  std::array<LanePieces::Piece, 8> pieces;
  std::uint32_t count = 0;  ///< 0: the access touches no memory
  std::uint32_t bytes = 0;  ///< of a block

  [[nodiscard]] std::span<const LanePieces::Piece> all() const {
    return std::span(pieces).first(count);
  }
};

class ImageMemory {
 public:
  /// Adds the allocations. `layout`: a spec of ImageLayouts.
  ImageMemory(const trace::Trace& trace, const trace::Launch& launch, const std::string& layout,
              Allocations& allocations);

  /// Whether accesses of the site are those of an image.
  [[nodiscard]] bool is_image(std::uint32_t site) const {
    return sites_->space[site] == trace::AccessSpace::Image;
  }
  /// Whether an access of such a site touches memory.
  [[nodiscard]] bool has(std::uint32_t site, std::uint64_t address) const {
    return touched(site, address).count > 0;
  }
  [[nodiscard]] ImagePieces pieces(std::uint32_t site, std::uint64_t address) const;
  /// Whether the access is a sample whose filter is assumed.
  [[nodiscard]] bool assumes_filter(std::uint32_t site, std::uint64_t address) const;
  /// Whether the access is a sample outside of the image, whose texels are those of a sampler that repeats (assumed).
  [[nodiscard]] bool is_outside(std::uint32_t site, std::uint64_t address) const;
  [[nodiscard]] const std::string& layout() const {
    return spec_;
  }

 private:
  struct Image {
    TouchedPages pages;
    std::uint64_t start = 0;
    std::uint32_t first_element = kNoElement;
  };
  struct Descriptor {
    std::uint32_t image = 0;  ///< of images_
    std::uint32_t base_layer = 0, base_level = 0;
    std::uint32_t plan = 0;
    trace::Filter filter = trace::Filter::None;
  };
  /// Offsets in the image, before it is placed.
  struct Touched {
    const Descriptor* descriptor = nullptr;
    std::array<std::uint64_t, 8> offset{};
    std::uint32_t count = 0;
  };

  void add_descriptors(const trace::Images& table);
  [[nodiscard]] const Descriptor* descriptor_of(std::uint32_t site, std::uint32_t element) const;
  [[nodiscard]] Touched touched(std::uint32_t site, std::uint64_t address) const;

  const trace::AccessSites* sites_;
  const trace::Images* table_;
  std::unique_ptr<ImageLayout> layout_;
  std::string spec_;
  std::vector<ImagePlan> plans_;
  std::vector<Descriptor> descriptors_;             ///< by row of the table
  std::map<std::uint32_t, std::uint32_t> numbers_;  ///< of images_, by the image's number in the trace
  std::vector<Image> images_;
};

}  // namespace rayreplay::memory
