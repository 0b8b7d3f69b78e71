// Pictures of each pixel's cache results, as bytes of PNG files.
//
// Contract: hit rates are drawn from 0 to 100 %, over requests (lanes). Bytes are drawn from 0 to the value that 99.9 %
// of the pixels do not exceed. The order of frame-buffer writes is drawn as the pixel's rank, with one small picture
// per time window if there are several. Slices of depth are summed; the order uses the first slice. Empty without sums
// by pixel, or for a frame of one row.
#pragma once

#include <string>
#include <vector>

#include "app/report/charts/colormap.hpp"
#include "app/report/packings/launch_pictures.hpp"
#include "sim/caching/cache.hpp"

namespace rayreplay::report {

/// True for sums by pixel over a frame of one row, which has no pictures.
[[nodiscard]] bool is_one_row(const experiment::CacheResult& result);
inline constexpr const char* kNoPicturesOfOneRow = "no pictures per pixel: the frame has one row";

[[nodiscard]] std::vector<Picture> make_cache_pictures(const experiment::CacheResult& result,
                                                       pictures::Colormap colormap);
/// All possible names of pictures.
[[nodiscard]] const std::vector<std::string>& cache_picture_files();

}  // namespace rayreplay::report
