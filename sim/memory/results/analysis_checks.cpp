#include "sim/memory/results/analysis_checks.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::uint32_t kMaxSms = 65536;
constexpr std::uint64_t kMaxWindowRows = std::uint64_t{1} << 24U;  ///< windows · SMs

[[noreturn]] void too_much(std::string what, std::uint64_t found, std::uint64_t limit, std::string fix) {
  throw Error(ErrorKind::Resource,
              {std::move(what), "", fmt::format("{}", found), fmt::format("at most {}", limit), std::move(fix)});
}

}  // namespace

LevelModels make_level(const CacheGeometry& geometry, const std::string& spec, const std::string& where,
                       const ReuseEngine* engine, bool distances) {
  LevelModels level;
  level.geometry = geometry;
  if (geometry.bytes == 0) {
    return level;
  }
  check(geometry, where);
  CacheModels::Created created = CacheModels::create(spec);
  level.model = std::move(created.model);
  level.spec = std::move(created.spec);
  if (level.model->wants_distances() && !engine->exact()) {
    usage("the cache model needs the distance of every access", where, "a reuse engine that samples",
          "an exact reuse engine");
  }
  level.engine = distances || level.model->wants_distances() ? engine : nullptr;
  return level;
}

void check_options(const AnalysisOptions& options, const LevelModels& l1, const LevelModels& l2) {
  if (options.sms == 0 || options.sms > kMaxSms) {
    usage("the number of SMs is out of range", "", fmt::format("{}", options.sms), fmt::format("1 to {}", kMaxSms));
  }
  const CoalesceOptions& stream = options.coalescing;
  check(stream, "analysis of a stream");
  if (l1.present() && l1.geometry.line_bytes != stream.line_bytes) {
    usage("the L1's line size is not that of the stream", "L1", fmt::format("{} bytes", l1.geometry.line_bytes),
          fmt::format("{} bytes", stream.line_bytes));
  }
  if (l2.present() && l2.geometry.line_bytes < stream.sector_bytes) {
    usage("the L2's lines are smaller than the stream's sectors", "L2", fmt::format("{} bytes", l2.geometry.line_bytes),
          fmt::format("at least {}", stream.sector_bytes));
  }
  if (options.window_requests != 0 && !options.window_limits.empty()) {
    usage("windows are given by limits and by a length", "", "both", "one of them");
  }
  if (options.pixels > kMaxPixels) {
    too_much("the frame has too many pixels for sums by pixel", options.pixels, kMaxPixels,
             "leave the sums by pixel out");
  }
  if (options.histograms.any() && !options.distances) {
    usage("histograms of reuse distances require reuse distances", "", "an analysis without distances",
          "one with distances");
  }
  if (options.histograms.elements && !options.elements) {
    usage("histograms by element require sums by element", "", "an analysis without elements", "one with elements");
  }
  for (const auto& [level, name] : {std::pair{&l1, "L1"}, std::pair{&l2, "L2"}}) {
    if (options.evictions && level->present() && !level->model->exact()) {
      usage("the cache model evicts no lines", name, level->spec, "an exact model, such as lru",
            "leave the evictions out, or take another model");
    }
  }
  check_windows(options.window_limits.size() + 1, options);
  std::uint64_t before = 0;
  for (const std::uint64_t limit : options.window_limits) {
    if (limit <= before) {
      usage("limits of windows do not ascend", "", fmt::format("{} after {}", limit, before), "ascending, above 0");
    }
    before = limit;
  }
}

void check_windows(std::uint64_t windows, const AnalysisOptions& options) {
  if (options.histograms.windows && windows > kMaxHistogramWindows) {
    too_much("there are too many time windows for histograms", windows, kMaxHistogramWindows, "make them longer");
  }
  if (windows > kMaxWindowRows / options.sms) {
    too_much("there are too many time windows", windows, kMaxWindowRows / options.sms, "make them longer");
  }
}

void check_accesses(std::uint64_t accesses, const AnalysisOptions& options) {
  if (accesses > options.most_accesses) {
    too_much("the stream is too long for exact sums", accesses, options.most_accesses, "cut it into parts");
  }
}

}  // namespace rayreplay::memory
