// Rules of paths: their table, and the events and threads that name them.
#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "capture/trace/parallel_search.hpp"
#include "capture/trace/rules/rules.hpp"

namespace rayreplay::trace {
namespace {

constexpr const char* kPaths = "/profile/paths";
constexpr const char* kBlocks = "/profile/path_blocks";

bool check_length(const std::string& dataset, std::uint64_t found, std::uint64_t expected, FaultList& faults) {
  if (found != expected) {
    faults.add(dataset, "the column has another number of rows than its table", std::to_string(found),
               std::to_string(expected));
  }
  return found == expected;
}

void check_shader(const std::string& dataset, std::size_t row, std::uint16_t shader, std::size_t shaders,
                  FaultList& faults) {
  if (shader >= shaders) {
    faults.add_row(dataset, row, "the shader id is out of range", std::to_string(shader),
                   fmt::format("less than {}, the number of shaders", shaders));
  }
}

/// Ids of a column: 0, or a path whose shader `expects(row)` is; kNoShader: none may be there.
template <class Expects>
void check_ids(const Column<std::uint32_t>& ids, const Paths& paths, const std::string& dataset, FaultList& faults,
               Expects&& expects) {
  const auto bad = [&](std::size_t row) {
    const std::uint32_t id = ids[row];
    return id != 0 && (id > paths.size() || !expects(row, paths.shader[id - 1]));
  };
  if (const auto row = first_row(0, ids.size(), bad)) {
    const std::uint32_t id = ids[*row];
    if (id > paths.size()) {
      faults.add_row(dataset, *row, "there is no such path", std::to_string(id),
                     fmt::format("at most {}, the number of paths", paths.size()));
    } else {
      faults.add_row(dataset, *row, "the path is of another shader, or what has it enters no shader",
                     fmt::format("path {} of shader {}", id, paths.shader[id - 1]),
                     "a path of the entered shader, or 0");
    }
  }
}

}  // namespace

void check_path_table(const Paths& paths, std::size_t shaders, FaultList& faults) {
  const std::size_t blocks = paths.block_shader.size();
  const bool lengths = check_length(std::string(kPaths) + "/calls", paths.calls.size(), paths.size(), faults) &&
                       check_length(std::string(kBlocks) + "/function", paths.function.size(), blocks, faults) &&
                       check_length(std::string(kBlocks) + "/block", paths.block.size(), blocks, faults);
  if (!lengths) {
    return;
  }
  std::vector<std::uint64_t> of_shader(shaders, 0);
  const auto place = [&](std::size_t row) {
    return std::tuple(paths.block_shader[row], paths.function[row], paths.block[row]);
  };
  for (std::size_t row = 0; row < blocks && !faults.full(); ++row) {
    check_shader(std::string(kBlocks) + "/shader", row, paths.block_shader[row], shaders, faults);
    if (row > 0 && place(row - 1) >= place(row)) {
      faults.add_row(std::string(kBlocks) + "/block", row, "the rows do not ascend",
                     fmt::format("shader {}, function {}, block {}", paths.block_shader[row], paths.function[row],
                                 paths.block[row]),
                     "each block once, by shader, function and block");
    }
    if (paths.block_shader[row] < shaders) {
      ++of_shader[paths.block_shader[row]];
    }
  }
  std::uint64_t counts = 0;
  for (std::size_t row = 0; row < paths.size() && !faults.full(); ++row) {
    const std::uint16_t shader = paths.shader[row];
    check_shader(std::string(kPaths) + "/shader", row, shader, shaders, faults);
    if (row > 0 && shader < paths.shader[row - 1]) {
      faults.add_row(std::string(kPaths) + "/shader", row, "the rows do not ascend", std::to_string(shader),
                     fmt::format("at least {}", paths.shader[row - 1]));
    }
    counts += shader < shaders ? of_shader[shader] : 0;
  }
  if (faults.full() || !check_length(std::string(kPaths) + "/counts", paths.counts.size(), counts, faults)) {
    return;
  }
  const auto at = [&](std::uint64_t row) { return paths.counts.begin() + static_cast<std::ptrdiff_t>(row); };
  std::uint64_t first = 0;
  for (std::size_t row = 0; row < paths.size() && faults.list().empty(); ++row) {
    const std::uint64_t width = of_shader[paths.shader[row]];
    if (row > 0 && paths.shader[row] == paths.shader[row - 1] &&
        !std::lexicographical_compare(at(first - width), at(first), at(first), at(first + width))) {
      faults.add_row(std::string(kPaths) + "/counts", first, "the paths of a shader do not ascend by their counts",
                     fmt::format("path {}", row + 1), "each path once, in the order of its counts");
    }
    first += width;
  }
}

void check_paths(const Trace& trace, FaultList& faults) {
  const Paths& paths = trace.paths;
  tbb::enumerable_thread_specific<std::vector<std::uint64_t>> counted(std::vector<std::uint64_t>(paths.size() + 1, 0));
  const auto count = [&](const Column<std::uint32_t>& ids) {
    constexpr std::size_t kGrain = std::size_t{1} << 18;
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, ids.size(), kGrain), [&](const auto& range) {
      std::vector<std::uint64_t>& mine = counted.local();
      for (std::size_t row = range.begin(); row < range.end(); ++row) {
        ++mine[ids[row]];
      }
    });
  };
  for (std::size_t i = 0; i < trace.launches.size() && faults.list().empty(); ++i) {
    const Launch& launch = trace.launches[i];
    const Events& events = launch.data.events;
    if (paths.size() == 0 && !launch.thread_path.empty()) {
      faults.add(fmt::format("/launch/{}/threads/path", i), "the launch has paths, but there is no table of them", "",
                 kPaths);
      return;
    }
    check_ids(events.path, paths, fmt::format("/launch/{}/events/path", i), faults,
              [&](std::size_t row, std::uint16_t shader) {
                return enters_shader(events.kind[row]) && events.shader[row] == shader;
              });
    check_ids(
        launch.thread_path, paths, fmt::format("/launch/{}/threads/path", i), faults,
        [&](std::size_t, std::uint16_t shader) { return trace.shaders[shader].stage == ShaderStage::RayGeneration; });
    if (faults.list().empty()) {
      count(events.path);
      count(launch.thread_path);
    }
  }
  if (trace.launches.empty()) {
    return;  // a merged profile: the calls of launches that are not here
  }
  std::vector<std::uint64_t> sums(paths.size() + 1, 0);
  for (const std::vector<std::uint64_t>& part : counted) {
    for (std::size_t p = 0; p < sums.size(); ++p) {
      sums[p] += part[p];
    }
  }
  for (std::size_t p = 0; p < paths.size() && faults.list().empty(); ++p) {
    if (sums[p + 1] != paths.calls[p]) {
      faults.add_row(std::string(kPaths) + "/calls", p, "the path has another number of calls than there are",
                     std::to_string(paths.calls[p]), std::to_string(sums[p + 1]));
    }
  }
}

}  // namespace rayreplay::trace
