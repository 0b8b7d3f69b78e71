// The images in the descriptors of launches. Internal to this room.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "capture/spool/format.hpp"
#include "capture/trace/image_shape.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::ingest {

/// The table of a launch, with the device's numbers of images. Rows that a trace cannot have are left out, and
/// `remarks` gets a line for each reason: formats that are unknown or of several planes, views of another block than
/// the image's, sizes, descriptors that are there twice or out of order. O(n) for n descriptors.
[[nodiscard]] trace::Images read_images(const spool::Images& spooled, std::vector<std::string>& remarks);

/// Numbers of images in a trace: from 0, in the order in which they first appear. A spool may say anything: what has
/// one number and two sizes becomes two images.
class ImageNumbers {
 public:
  [[nodiscard]] trace::Images numbered(trace::Images images);

 private:
  std::map<std::pair<std::uint32_t, trace::ImageShape>, std::uint32_t> numbers_;  ///< by the device's number
};

}  // namespace rayreplay::ingest
