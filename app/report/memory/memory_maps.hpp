// Maps of memory what-ifs: the time of the last access of each pixel's thread.
//
// Contract: each row of the table has a picture of times; each but the first has a second picture, of the change
// against the first. Times are in microseconds from the start of the launch. All pictures of times have one scale, from
// 0 to the latest access of any row. All pictures of changes have one symmetrical scale, which 99.9 % of the changes do
// not exceed. Pixels without accesses are grey. A launch with depth shows the latest slice of each pixel; a launch of
// height 1 has no pictures. Files: last-access-N-NAME.png and last-access-change-N-NAME.png, N the row's number from 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/report/charts/colormap.hpp"
#include "app/report/page/page.hpp"
#include "capture/trace/trace.hpp"
#include "sim/simt/pixel_map.hpp"

namespace rayreplay::report {

struct RowMap {
  std::size_t row = 0;
  std::string name;             ///< for people
  double milliseconds = 0;      ///< of the launch
  experiment::PixelMap last{};  ///< microseconds
};

/// `last`: by thread, memory::LastAccesses::kNoAccess for none.
[[nodiscard]] experiment::PixelMap last_access_map(trace::LaunchSize size, std::span<const std::uint64_t> last,
                                                   double clock_mhz);
[[nodiscard]] std::vector<Picture> memory_pictures(const std::vector<RowMap>& maps, pictures::Colormap colormap);
[[nodiscard]] bool is_memory_picture(std::string_view file);

}  // namespace rayreplay::report
