#include "app/report/profile/access_images.hpp"

#include <memory>

#include "sim/memory/allocations.hpp"
#include "sim/memory/streams/image_memory.hpp"

namespace rayreplay::report {

profile::LaunchImages images_in_layout(const trace::Trace& trace, const std::string& layout) {
  return [&trace, layout](const trace::Launch& launch) -> profile::ImageBytes {
    memory::Allocations allocations;
    const auto images = std::make_shared<const memory::ImageMemory>(trace, launch, layout, allocations);
    return [images](std::uint32_t site, std::uint64_t address, std::vector<profile::ByteRange>& to) {
      const memory::ImagePieces touched = images->pieces(site, address);
      for (const memory::LanePieces::Piece& piece : touched.all()) {
        to.push_back({piece.address, piece.address + touched.bytes - 1});
      }
    };
  };
}

}  // namespace rayreplay::report
