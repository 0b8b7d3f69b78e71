// The images in the descriptors of launches. Internal to this room.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/spool/format.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::ingest {

/// The table of a launch, with the device's numbers of images. Rows that a trace cannot have are left out, and
/// `remarks` gets a line for each reason: formats that are unknown or of several planes, views of another block than
/// the image's, sizes, descriptors that are there twice or out of order. O(n) for n descriptors.
[[nodiscard]] trace::Images read_images(const spool::Images& spooled, std::vector<std::string>& remarks);

/// Numbers of images in a trace: from 0, in the order in which they first appear.
class ImageNumbers {
 public:
  [[nodiscard]] trace::Images numbered(trace::Images images);

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;  ///< by the device's
};

}  // namespace rayreplay::ingest
