#include "capture/ingest/scene_builder.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "capture/ingest/geometry.hpp"
#include "capture/ingest/report.hpp"
#include "capture/spool/payload.hpp"

namespace rayreplay::ingest {

using trace::kNone;

std::uint32_t SceneBuilder::tlas_of(std::uint32_t structure) {
  const auto known = tlases_.find(structure);
  return known != tlases_.end() ? known->second : tlases_[structure] = add_tlas(structure);
}

std::string SceneBuilder::read_structure(std::uint32_t number, bool top_level, spool::Structure& structure) const {
  const auto payload = contents_.structures.find(number);
  if (payload == contents_.structures.end()) {
    return "its content was not recorded";
  }
  if (!spool::decode(payload->second, structure)) {
    return "its block is damaged";
  }
  if (structure.top_level != (top_level ? 1 : 0)) {
    return top_level ? "it is a bottom-level structure" : "an instance refers to it, but it is a top-level structure";
  }
  return structure.missing;
}

std::uint32_t SceneBuilder::add_tlas(std::uint32_t number) {
  const auto unknown = [&](const std::string& why) {
    notes_.push_back(
        fmt::format("structure {}: the geometry of the launches that used it is unknown: {}", number, why));
    return kNone;
  };
  spool::Structure structure;
  if (const std::string fault = read_structure(number, true, structure); !fault.empty()) {
    return unknown(fault);
  }
  std::vector<trace::Instance> instances;
  std::uint64_t without = 0;
  for (const spool::Instance& from : structure.instances) {
    trace::Instance to;
    std::copy(std::begin(from.transform), std::end(from.transform), to.transform.begin());
    to.custom_index = from.custom_index;
    to.hit_group_offset = from.hit_group_offset;
    to.mask = from.mask;
    to.flags = from.flags;
    without += from.structure == spool::kNone ? 1U : 0U;
    const bool none = from.structure == spool::kNone || from.structure == spool::kNullReference;
    to.blas = none ? empty_blas() : blas_of(from.structure);
    if (to.blas == kNone) {
      return unknown(blas_faults_.at(from.structure));
    }
    instances.push_back(to);
  }
  if (without != 0) {
    notes_.push_back(fmt::format("structure {}: of {}, {} to no structure that was seen; in the trace {} empty", number,
                                 counted(instances.size(), "instance"),
                                 without == 1 ? "1 refers" : with_separators(without) + " refer",
                                 without == 1 ? "it is" : "they are"));
  }
  if (instances.size() >= kNone - scene_.instances.size()) {
    return unknown("there are more instances than instance ids");
  }
  scene_.tlases.push_back(
      {static_cast<std::uint32_t>(scene_.instances.size()), static_cast<std::uint32_t>(instances.size())});
  scene_.instances.insert(scene_.instances.end(), instances.begin(), instances.end());
  return static_cast<std::uint32_t>(scene_.tlases.size() - 1);
}

std::uint32_t SceneBuilder::blas_of(std::uint32_t number) {
  const auto known = blases_.find(number);
  return known != blases_.end() ? known->second : blases_[number] = add_blas(number);
}

std::uint32_t SceneBuilder::add_blas(std::uint32_t number) {
  const auto unknown = [&](const std::string& why) {
    blas_faults_[number] = fmt::format("bottom-level structure {}: {}", number, why);
    return kNone;
  };
  spool::Structure structure;
  if (const std::string fault = read_structure(number, false, structure); !fault.empty()) {
    return unknown(fault);
  }
  if (!is_utf8(structure.name)) {
    notes_.push_back(fmt::format("bottom-level structure {}: its name is not UTF-8: {}", number, kReplaced));
  }
  std::vector<trace::Geometry> geometries;
  for (const spool::Geometry& from : structure.geometries) {
    trace::Geometry to;
    if (const std::string fault = convert_geometry(from, to); !fault.empty()) {
      return unknown(fmt::format("geometry {}: {}", geometries.size(), fault));
    }
    to.name = structure.name.empty() || structure.geometries.size() == 1
                  ? structure.name
                  : fmt::format("{} {}", structure.name, geometries.size());
    to.name = clean(to.name);
    geometries.push_back(std::move(to));
  }
  scene_.blases.push_back(
      {static_cast<std::uint32_t>(scene_.geometries.size()), static_cast<std::uint32_t>(geometries.size())});
  std::move(geometries.begin(), geometries.end(), std::back_inserter(scene_.geometries));
  return static_cast<std::uint32_t>(scene_.blases.size() - 1);
}

std::uint32_t SceneBuilder::empty_blas() {
  if (empty_ == kNone) {
    empty_ = static_cast<std::uint32_t>(scene_.blases.size());
    scene_.blases.push_back({static_cast<std::uint32_t>(scene_.geometries.size()), 0});
  }
  return empty_;
}

}  // namespace rayreplay::ingest
