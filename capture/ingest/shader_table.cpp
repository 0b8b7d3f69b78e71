#include "capture/ingest/shader_table.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/format.h>

namespace rayreplay::ingest {
namespace {

using trace::ShaderStage;

std::string_view text_of(const std::uint8_t* bytes, std::size_t count) {
  return {reinterpret_cast<const char*>(bytes), count};
}

const char* name_of(spool::TableRegion region) {
  switch (region) {
    case spool::TableRegion::RayGeneration:
      return "ray-generation";
    case spool::TableRegion::Miss:
      return "miss";
    case spool::TableRegion::Hit:
      return "hit";
    case spool::TableRegion::Callable:
      return "callable";
  }
  return "";
}

class TableReader {
 public:
  TableReader(const spool::Pipeline* pipeline, std::uint32_t handle_bytes, const std::vector<std::uint8_t>& stages)
      : handle_bytes_(handle_bytes), stages_(stages) {
    for (std::size_t i = 0; pipeline != nullptr && i < pipeline->groups.size(); ++i) {
      const spool::Group& group = pipeline->groups[i];
      if (group.handle.size() == handle_bytes) {
        groups_.emplace(text_of(group.handle.data(), group.handle.size()), &group);
      }
    }
  }

  void read(const spool::Table& table, std::vector<trace::ShaderRecord>& records) const {
    const std::uint64_t stride = table.stride == 0 ? table.bytes.size() : table.stride;
    std::uint32_t index = 0;
    for (std::uint64_t at = 0; at + handle_bytes_ <= table.bytes.size(); ++index) {
      const std::uint64_t next = stride > table.bytes.size() - at ? table.bytes.size() : at + stride;
      trace::ShaderRecord record;
      record.region = static_cast<trace::TableRegion>(table.region);
      record.index = index;
      const auto group = groups_.find(text_of(table.bytes.data() + at, handle_bytes_));
      if (group != groups_.end()) {
        bind(*group->second, record);
      }
      const auto byte = [&](std::uint64_t place) { return table.bytes.begin() + static_cast<std::ptrdiff_t>(place); };
      record.data.assign(byte(std::min(at + handle_bytes_, next)), byte(next));
      records.push_back(std::move(record));
      at = next;
    }
  }

 private:
  void bind(const spool::Group& group, trace::ShaderRecord& record) const {
    const auto of_stage = [&](std::uint16_t shader, ShaderStage stage) {
      const bool fits = shader < stages_.size() && stages_[shader] == static_cast<std::uint8_t>(stage);
      return fits ? shader : trace::kNoShader;
    };
    switch (record.region) {
      case trace::TableRegion::RayGeneration:
        record.general = of_stage(group.general, ShaderStage::RayGeneration);
        break;
      case trace::TableRegion::Miss:
        record.general = of_stage(group.general, ShaderStage::Miss);
        break;
      case trace::TableRegion::Callable:
        record.general = of_stage(group.general, ShaderStage::Callable);
        break;
      case trace::TableRegion::Hit:
        record.closest_hit = of_stage(group.closest_hit, ShaderStage::ClosestHit);
        record.any_hit = of_stage(group.any_hit, ShaderStage::AnyHit);
        record.intersection = of_stage(group.intersection, ShaderStage::Intersection);
        break;
    }
  }

  std::uint32_t handle_bytes_;
  const std::vector<std::uint8_t>& stages_;
  std::map<std::string_view, const spool::Group*> groups_;
};

}  // namespace

std::vector<trace::ShaderRecord> read_shader_table(const spool::Launch& launch, const spool::Pipeline* pipeline,
                                                   std::uint32_t handle_bytes, const std::vector<std::uint8_t>& stages,
                                                   std::vector<std::string>& missing) {
  std::vector<trace::ShaderRecord> records;
  if (handle_bytes == 0) {
    if (!launch.tables.empty()) {
      missing.emplace_back("shader table: the device's handle size was not recorded");
    }
    return records;
  }
  const TableReader reader(pipeline, handle_bytes, stages);
  for (const spool::Table& table : launch.tables) {
    if (!table.missing.empty()) {
      missing.push_back(fmt::format("{} shader table: {}", name_of(table.region), table.missing));
    } else if (table.stride != 0 && table.stride < handle_bytes) {
      missing.push_back(
          fmt::format("{} shader table: its stride {} is less than a handle", name_of(table.region), table.stride));
    } else {
      reader.read(table, records);
    }
  }
  return records;
}

}  // namespace rayreplay::ingest
