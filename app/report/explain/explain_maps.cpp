// Heat maps of a classification, and their folder.
#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include <tbb/parallel_for.h>
#include <nlohmann/json.hpp>

#include "app/report/explain/explain.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"

namespace rayreplay::report {
namespace {

using traversal::KindCounts;
using traversal::kTestKinds;
using traversal::TestKind;

constexpr const char* kJsonFile = "explain.json";
constexpr const char* kCsvFile = "explain.csv";
constexpr const char* kFolderMark = "rayreplay.explain/";  ///< matches every version

struct Map {
  const char* file;
  const char* what;
  std::array<bool, kTestKinds> kinds;
};

constexpr std::array<Map, kTestKinds + 2> kMaps{{
    {"necessary.png", "necessary tests", {true, false, false, false, false, false, false}},
    {"box-miss.png", "tests that missed (loose boxes)", {false, true, false, false, false, false, false}},
    {"overlap.png", "R1 tests (overlapping boxes)", {false, false, true, false, false, false, false}},
    {"enlargement.png", "R2 tests (enlarged boxes)", {false, false, false, true, false, false, false}},
    {"order.png", "R3 tests (order of traversal)", {false, false, false, false, true, false, false}},
    {"enlargement-or-order.png", "R2 or R3 tests", {false, false, false, false, false, true, false}},
    {"before-t-min.png", "tests of boxes left before t_min", {false, false, false, false, false, false, true}},
    {"unnecessary.png", "unnecessary tests", {false, true, true, true, true, true, true}},
    {"tests.png", "tests", {true, true, true, true, true, true, true}},
}};

bool is_own_file(std::string_view name) {
  return name == kJsonFile || name == kCsvFile ||
         std::any_of(kMaps.begin(), kMaps.end(), [&](const Map& map) { return name == map.file; });
}

experiment::PixelMap pixels_of(const Explanation& explanation, const Map& map) {
  const trace::LaunchSize size = explanation.trace.launches[explanation.launch].size;
  experiment::PixelMap pixels{size.width, size.height, {}};
  const std::size_t slice = std::size_t{size.width} * size.height;
  pixels.values.assign(slice, 0);
  const auto& threads = explanation.result.by_thread;
  const auto& rays = explanation.trace.launches[explanation.launch].data.ray_offset;
  // With a window most threads have no recorded rays, which differs from no tests.
  std::vector<bool> seen(slice, false);
  for (std::size_t thread = 0; thread < threads.size(); ++thread) {
    std::uint64_t count = 0;
    for (std::size_t kind = 0; kind < kTestKinds; ++kind) {
      count += map.kinds[kind] ? threads[thread][kind] : 0;
    }
    pixels.values[thread % slice] += static_cast<float>(count);
    if (rays[thread] != rays[thread + 1]) {
      seen[thread % slice] = true;
    }
  }
  for (std::size_t pixel = 0; pixel < slice; ++pixel) {
    if (!seen[pixel]) {
      pixels.values[pixel] = std::numeric_limits<float>::quiet_NaN();
    }
  }
  return pixels;
}

}  // namespace

std::vector<Picture> explain_pictures(const Explanation& explanation, pictures::Colormap colormap) {
  std::vector<Picture> list(kMaps.size());
  tbb::parallel_for(std::size_t{0}, kMaps.size(), [&](std::size_t i) {
    list[i].file = kMaps[i].file;
    list[i].caption = kMaps[i].what;
    list[i].png = count_picture(pixels_of(explanation, kMaps[i]), kMaps[i].what, colormap);
  });
  return list;
}

output::FolderKind explain_folder() {
  return {kJsonFile, kFolderMark, is_own_file};
}

void write_explain_folder(const Explanation& explanation, const std::string& folder, bool force,
                          pictures::Colormap colormap) {
  output::OutputFolder out(folder, force, explain_folder());
  const auto write = [&out](const std::string& name, std::string_view bytes) {
    write_file(out.temporary_path() / name, bytes, false);
  };
  for (const Picture& picture : explain_pictures(explanation, colormap)) {
    write(picture.file, picture.png);
  }
  write(kJsonFile, json_text(explain_json(explanation), 2) + "\n");
  write(kCsvFile, output::to_csv(explain_rows(explanation)));
  out.commit();
}

}  // namespace rayreplay::report
