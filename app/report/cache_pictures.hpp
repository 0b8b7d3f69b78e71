// Pictures of what each pixel's accesses met, as bytes of PNG files.
//
// Contract: hit rates are drawn from 0 to 100 %, over requests (lanes); bytes from 0 to the value that 99.9 % of the
// pixels do not exceed; the order of frame-buffer writes as the pixel's place in it, by time window as small multiples
// when there is more than one. Slices of depth are summed, of the order the first counts. Empty where no sums by pixel
// were taken, or the frame has one row.
#pragma once

#include <string>
#include <vector>

#include "app/pictures/colormap.hpp"
#include "app/report/launch_pictures.hpp"
#include "sim/caching/cache.hpp"

namespace rayreplay::report {

/// Sums by pixel were taken, of a frame of one row: there are no pictures of it.
[[nodiscard]] bool is_one_row(const experiment::CacheResult& result);
inline constexpr const char* kNoPicturesOfOneRow = "no pictures per pixel: the frame has one row";

[[nodiscard]] std::vector<Picture> make_cache_pictures(const experiment::CacheResult& result,
                                                       pictures::Colormap colormap);
/// All names that a picture may have.
[[nodiscard]] const std::vector<std::string>& cache_picture_files();

}  // namespace rayreplay::report
