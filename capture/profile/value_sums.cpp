#include "capture/profile/value_sums.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::profile {

void ValueSums::add(std::uint32_t pipeline, std::uint16_t shader, const trace::ValueCounts& counts, RowRange places,
                    const std::string& file) {
  ShaderSum& of_shader = shaders_[{pipeline, shader}];
  ++of_shader.parts;
  auto next = static_cast<std::size_t>(std::lower_bound(counts.place.begin(), counts.place.end(), places.first) -
                                       counts.place.begin());
  for (std::size_t place = places.first; place < places.end; ++place) {
    PlaceSum& sum = of_shader.places[{counts.function[place], counts.instruction[place], counts.component[place]}];
    if (sum.parts++ == 0) {
      sum.block = counts.block[place];
    } else if (sum.block != counts.block[place]) {
      throw Error(ErrorKind::Input,
                  {"two runs have one load of a module in different blocks",
                   fmt::format("{}:/profile/values/block[{}]", file, place), std::to_string(counts.block[place]),
                   fmt::format("{}, as in another run", sum.block), "capture the run with the wrong block again"});
    }
    // Everything else is a part of these.
    add_count(sum.lanes, counts.lanes[place],
              {file, "/profile/values/lanes", "the sum of a load's executions exceeds 64 bits"}, place);
    sum.groups += counts.groups[place];
    const std::size_t first = next;
    std::uint64_t rest = counts.lanes[place];
    for (; next < counts.place.size() && counts.place[next] == place; ++next) {
      rest -= counts.value_lanes[next];
    }
    sum.rest += rest;
    for (std::size_t row = first; row < next; ++row) {
      ValueSum& value = sum.values[counts.value[row]];
      value.lanes += counts.value_lanes[row];
      value.uniform_groups += counts.uniform_groups[row];
      value.most_lanes += counts.most_lanes[row];
      value.rest += rest;
    }
  }
}

trace::ValueCounts ValueSums::sums() const {
  trace::ValueCounts result;
  for (const auto& [key, shader] : shaders_) {
    for (const auto& [place, sum] : shader.places) {
      if (sum.parts != shader.parts) {
        continue;
      }
      const auto row = static_cast<std::uint32_t>(result.size());
      result.pipeline.push_back(key.first);
      result.shader.push_back(key.second);
      result.function.push_back(std::get<0>(place));
      result.block.push_back(sum.block);
      result.instruction.push_back(std::get<1>(place));
      result.component.push_back(std::get<2>(place));
      result.lanes.push_back(sum.lanes);
      result.groups.push_back(sum.groups);
      for (const auto& [bits, value] : sum.values) {
        result.place.push_back(row);
        result.value.push_back(bits);
        result.value_lanes.push_back(value.lanes);
        result.uniform_groups.push_back(value.uniform_groups);
        result.most_lanes.push_back(value.most_lanes + (sum.rest - value.rest));
      }
    }
  }
  return result;
}

void ValueSums::add_left_out(std::set<LeftOut>& left_out) const {
  for (const auto& [key, shader] : shaders_) {
    for (const auto& [place, sum] : shader.places) {
      if (sum.parts != shader.parts) {
        const auto& [function, instruction, component] = place;
        left_out.insert({Left::Value, key.first, key.second, function, instruction, component});
      }
    }
  }
}

}  // namespace rayreplay::profile
