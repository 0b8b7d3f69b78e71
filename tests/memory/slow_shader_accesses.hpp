// Slow, obvious accesses of shaders in a stream: each access of each lane is placed by itself, and a warp instruction
// is put together from the lanes that have it next (docs/access-streams.md, "Accesses of shaders").
//
// Contract: `run` gives a text for each instruction of an item: kind, bytes, and lane@address/element of each access.
// The allocations are those of the source that is compared; addresses in them are computed here.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduler-models/regrouping/segments.hpp"
#include "sim/memory/streams/launch_source.hpp"
#include "tests/memory/launch_streams.hpp"
#include "tests/memory/shader_accesses.hpp"
#include "tests/memory/slow_images.hpp"

namespace rayreplay::test {

class SlowShaderAccesses {
 public:
  SlowShaderAccesses(const trace::Trace& trace, const trace::Launch& launch, const scheduler::Segments& segments,
                     const memory::Allocations& table)
      : trace_(trace), launch_(launch), data_(launch.data), segments_(segments), table_(table) {
    for (std::size_t row = 0; row < launch.images.size(); ++row) {
      images_.emplace_back(shape_of(row), 32, 32);
    }
    for (std::size_t row = 0; row < data_.accesses.size(); ++row) {
      if (is_image(row)) {
        for (const std::uint64_t offset : blocks(row)) {
          pages_[image_name(row)].insert(offset / kPageBytes);
        }
        continue;
      }
      const std::uint64_t first = data_.accesses.address[row];
      const std::uint64_t last = first + trace_.access_sites.bytes[data_.accesses.site[row]] - 1;
      pages_[name_of(data_.accesses.site[row])].insert({first / kPageBytes, last / kPageBytes});
    }
  }

  [[nodiscard]] bool is_image(std::uint64_t row) const {
    return trace_.access_sites.space[data_.accesses.site[row]] == trace::AccessSpace::Image;
  }
  /// Whether the access touches memory.
  [[nodiscard]] bool is_somewhere(std::uint64_t row) const {
    return !is_image(row) || !blocks(row).empty();
  }
  [[nodiscard]] bool is_outside(std::uint64_t row) const {
    return is_image(row) && is_somewhere(row) && kind_of(row) == trace::AccessKind::Sample &&
           data_.accesses.address[row] >= std::uint64_t{1} << 63U;
  }
  [[nodiscard]] bool assumes_filter(std::uint64_t row) const {
    return is_image(row) && is_somewhere(row) && kind_of(row) == trace::AccessKind::Sample &&
           launch_.images.filter[*row_of_table(row)] == trace::Filter::None;
  }

  /// A text for each instruction of shaders of an item.
  [[nodiscard]] std::vector<std::string> run(std::span<const std::uint32_t> segment_of_lane) const {
    std::map<Moment, std::map<std::uint32_t, std::vector<std::uint64_t>>> found;  // by lane: rows of accesses
    for (std::uint32_t lane = 0; lane < segment_of_lane.size(); ++lane) {
      const std::uint32_t segment = segment_of_lane[lane];
      if (segment == scheduler::kNoSegment) {
        continue;
      }
      const auto thread = static_cast<std::uint32_t>(
          std::upper_bound(segments_.first.begin(), segments_.first.end(), segment) - segments_.first.begin() - 1);
      for (std::uint64_t row = data_.accesses.offset[thread]; row < data_.accesses.offset[thread + 1]; ++row) {
        const bool of_record = trace_.access_sites.space[data_.accesses.site[row]] == trace::AccessSpace::ShaderRecord;
        if (!of_record && segment_of(thread, row) == segment) {
          found[moment(thread, segment, row)][lane].push_back(row);
        }
      }
    }
    std::vector<std::string> all;
    for (auto& [when, lanes] : found) {
      append(lanes, all);
    }
    return all;
  }

 private:
  /// Place of an access: the ray's number (0: none of the segment's), before it, in a call, or behind; the call's place
  /// among those of the ray; its number by shader and kind.
  using Moment = std::tuple<std::uint64_t, int, std::uint64_t, std::uint32_t>;
  static constexpr int kBefore = 0, kInCall = 1, kBehind = 2;
  /// Behind the rays of all lanes.
  static constexpr std::uint64_t kAllRays = ~std::uint64_t{0};
  static constexpr std::uint64_t kPageBytes = 65536;

  [[nodiscard]] trace::AccessKind kind_of(std::uint64_t row) const {
    return trace_.access_sites.kind[data_.accesses.site[row]];
  }
  [[nodiscard]] memory::ImageShape shape_of(std::size_t row) const {
    const trace::Images& table = launch_.images;
    return {table.width[row],  table.height[row],      table.depth[row],        table.layers[row],
            table.levels[row], table.block_width[row], table.block_height[row], table.block_bytes[row]};
  }
  /// The access's descriptor in the table of images.
  [[nodiscard]] std::optional<std::size_t> row_of_table(std::uint64_t row) const {
    const trace::Images& table = launch_.images;
    for (std::size_t at = 0; at < table.size(); ++at) {
      if (table.set[at] == 0 && table.binding[at] == trace_.access_sites.binding[data_.accesses.site[row]] &&
          table.element[at] == (data_.accesses.address[row] >> 48U) % 32768) {
        return at;
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] std::string image_name(std::uint64_t row) const {
    const auto at = row_of_table(row);
    return at ? "image " + std::to_string(launch_.images.image[*at]) : "no image";
  }
  /// Places in the image of the blocks that the access touches, in the order of its texels.
  [[nodiscard]] std::vector<std::uint64_t> blocks(std::uint64_t row) const {
    const auto at = row_of_table(row);
    if (!at) {
      return {};
    }
    const trace::Images& table = launch_.images;
    const std::uint64_t address = data_.accesses.address[row];
    const auto x = static_cast<std::int64_t>(address % 65536), y = static_cast<std::int64_t>(address >> 16U) % 65536;
    const std::uint32_t third = static_cast<std::uint32_t>(address >> 32U) % 4096 + table.base_layer[*at];
    const auto level = static_cast<std::uint32_t>(address >> 44U) % 16 + table.base_level[*at];
    const bool solid = table.depth[*at] > 1;
    const auto texel = [&](std::int64_t column, std::int64_t line, std::int64_t slice) {
      return memory::ImageTexel{static_cast<std::uint32_t>(column), static_cast<std::uint32_t>(line),
                                static_cast<std::uint32_t>(solid ? slice : 0), solid ? 0 : third, level};
    };
    const bool sample = kind_of(row) == trace::AccessKind::Sample;
    const memory::ImageTexel nearest = sample ? texel(x / 2, y / 2, third) : texel(x, y, third);
    if (!images_[*at].contains(nearest)) {
      return {};
    }
    if (!sample || table.filter[*at] == trace::Filter::Nearest) {
      return {images_[*at].offset(nearest)};
    }
    const std::int64_t width = SlowImage::texels(table.width[*at], level);
    const std::int64_t height = SlowImage::texels(table.height[*at], level);
    const std::int64_t depth = SlowImage::texels(table.depth[*at], level);
    const auto wrapped = [](std::int64_t place, std::int64_t side) { return ((place % side) + side) % side; };
    std::vector<std::uint64_t> all;
    for (int i = 0; i < 8; ++i) {
      // (x − 1) / 2 rounded down, as a right shift does.
      const std::uint64_t offset = images_[*at].offset(texel(wrapped(((x - 1) >> 1) + (i & 1), width),
                                                             wrapped(((y - 1) >> 1) + (i >> 1 & 1), height),
                                                             wrapped(std::int64_t{third} + (i >> 2), depth)));
      if (std::ranges::find(all, offset) == all.end()) {
        all.push_back(offset);
      }
    }
    return all;
  }
  [[nodiscard]] std::string name_of(std::uint32_t site) const {
    return trace_.access_sites.space[site] == trace::AccessSpace::Device
               ? "device memory"
               : "descriptor 0." + std::to_string(trace_.access_sites.binding[site]) + " buffer";
  }
  [[nodiscard]] std::uint64_t behind(std::uint32_t thread, std::uint64_t row) const {
    return data_.event_offset[thread] + data_.accesses.event[row];
  }
  [[nodiscard]] bool is_begin(std::uint64_t event) const {
    return trace::begins_ray(data_.events.kind[event]);
  }
  [[nodiscard]] bool is_call(std::uint64_t event, std::uint16_t shader) const {
    return trace::enters_shader(data_.events.kind[event]) && data_.events.shader[event] == shader;
  }
  [[nodiscard]] std::uint32_t segment_of(std::uint32_t thread, std::uint64_t row) const {
    const std::uint64_t event = behind(thread, row);
    const std::uint16_t shader = trace_.access_sites.shader[data_.accesses.site[row]];
    std::uint32_t segment = segments_.first[thread];
    while (segments_.event_offset[segment + 1] < event) {
      ++segment;
    }
    const bool between = segments_.event_offset[segment + 1] == event && segment + 1 < segments_.first[thread + 1];
    return between && is_begin(event) && data_.events.shader[event] == shader && !is_call(event - 1, shader)
               ? segment + 1
               : segment;
  }
  /// The ray of a call, as a number in its segment from 1 on; 0: none of these.
  [[nodiscard]] std::uint64_t number_of(std::uint32_t thread, std::uint32_t segment, std::uint64_t call) const {
    std::uint64_t before = 0, own = 0, begun = 0;
    for (std::uint64_t event = data_.event_offset[thread]; event < data_.event_offset[thread + 1]; ++event) {
      if (is_begin(event)) {
        before += event < segments_.event_offset[segment] ? 1U : 0U;
        own += event >= segments_.event_offset[segment] && event < segments_.event_offset[segment + 1] ? 1U : 0U;
        begun += event < call ? 1U : 0U;
      }
    }
    if (data_.events.ray.empty() && begun == 0) {
      return 0;
    }
    const std::uint64_t ray = data_.events.ray.empty() ? begun - 1 : data_.events.ray[call];
    return ray >= before && ray < before + own ? ray - before + 1 : 0;
  }
  [[nodiscard]] Moment moment(std::uint32_t thread, std::uint32_t segment, std::uint64_t row) const {
    const std::uint16_t shader = trace_.access_sites.shader[data_.accesses.site[row]];
    const std::uint64_t first = segments_.event_offset[segment];
    const std::uint64_t last = segments_.event_offset[segment + 1];
    for (std::uint64_t event = behind(thread, row); event > first && !is_begin(event - 1); --event) {
      const std::uint64_t call = event - 1;
      if (is_call(call, shader)) {
        const std::uint64_t number = number_of(thread, segment, call);
        std::uint64_t place = 0;
        for (std::uint64_t other = first; other < call; ++other) {
          place +=
              trace::enters_shader(data_.events.kind[other]) && number_of(thread, segment, other) == number ? 1U : 0U;
        }
        return {number, kInCall, place,
                shader * trace::kEventKinds + static_cast<std::uint32_t>(data_.events.kind[call])};
      }
    }
    std::uint64_t begun = 0, rays = 0;
    for (std::uint64_t event = first; event < last; ++event) {
      rays += is_begin(event) ? 1U : 0U;
      begun += is_begin(event) && event < behind(thread, row) ? 1U : 0U;
    }
    if (begun < rays) {
      return {begun + 1, kBefore, 0, 0};
    }
    if (trace_.shaders[shader].stage != trace::ShaderStage::RayGeneration) {
      return {rays, kBehind, 0, 0};
    }
    if (rays == 0 && data_.accesses.event[row] == 0) {
      return {1, kBefore, 0, 0};
    }
    return {kAllRays, kBehind, 0, 0};
  }
  [[nodiscard]] std::string place_of(std::uint64_t row) const {
    if (!is_image(row)) {
      return place_in(name_of(data_.accesses.site[row]), data_.accesses.address[row]);
    }
    std::string text;
    for (const std::uint64_t offset : blocks(row)) {
      text += (text.empty() ? "" : ",") + place_in(image_name(row), offset);
    }
    return text;
  }
  [[nodiscard]] std::string place_in(const std::string& name, std::uint64_t address) const {
    const auto& pages = pages_.at(name);
    const auto rank = static_cast<std::uint64_t>(std::distance(pages.begin(), pages.find(address / kPageBytes)));
    const memory::Allocation& table = named(table_, name);
    const std::uint64_t offset = rank * kPageBytes + address % kPageBytes;
    return std::to_string(table.start + offset) + "/" + std::to_string(table.first_element + offset / 32);
  }
  /// Instructions of one moment: what the lanes have left, until nothing is.
  void append(std::map<std::uint32_t, std::vector<std::uint64_t>>& lanes, std::vector<std::string>& all) const {
    using Key = std::pair<std::uint32_t, std::size_t>;
    std::map<std::uint32_t, std::vector<std::pair<Key, std::uint64_t>>> left;
    for (const auto& [lane, rows] : lanes) {
      std::map<std::uint32_t, std::size_t> executions;
      for (const std::uint64_t row : rows) {
        const std::uint32_t site = data_.accesses.site[row];
        left[lane].push_back({{site, executions[site]++}, row});
      }
    }
    for (;;) {
      std::vector<Key> keys;
      for (const auto& [lane, of_lane] : left) {
        for (const auto& [key, row] : of_lane) {
          keys.push_back(key);
        }
      }
      if (keys.empty()) {
        return;
      }
      const auto waits = [&](const Key& key) {
        return std::ranges::any_of(left, [&](const auto& lane) {
          return !lane.second.empty() && lane.second.front().first != key &&
                 std::ranges::any_of(lane.second, [&](const auto& one) { return one.first == key; });
        });
      };
      const auto ready = std::ranges::find_if_not(keys, waits);
      const Key next = ready == keys.end() ? keys.front() : *ready;
      const std::string kind =
          std::string(trace_.access_sites.space[next.first] == trace::AccessSpace::Image ? "image-" : "") +
          trace::to_string(trace_.access_sites.kind[next.first]) + " ";
      std::map<std::uint32_t, std::string> by_size;
      for (auto& [lane, of_lane] : left) {
        const auto one = std::ranges::find_if(of_lane, [&](const auto& access) { return access.first == next; });
        if (one == of_lane.end()) {
          continue;
        }
        if (is_somewhere(one->second)) {
          const std::uint32_t bytes = is_image(one->second) ? launch_.images.block_bytes[*row_of_table(one->second)]
                                                            : trace_.access_sites.bytes[next.first];
          by_size[bytes] += " " + std::to_string(lane) + "@" + place_of(one->second);
        }
        of_lane.erase(one);
      }
      for (const auto& [bytes, text] : by_size) {
        all.push_back(kind + std::to_string(bytes) + ":" + text);
      }
    }
  }

  const trace::Trace& trace_;
  const trace::Launch& launch_;
  const trace::ThreadData& data_;
  const scheduler::Segments& segments_;
  const memory::Allocations& table_;
  std::map<std::string, std::set<std::uint64_t>> pages_;
  std::vector<SlowImage> images_;  ///< by row of the table
};

}  // namespace rayreplay::test
