// Rules of what a launch was bound to: its top-level structure and its shader binding table; and of the rays' hints.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "capture/trace/parallel_search.hpp"
#include "capture/trace/rules/rules.hpp"

namespace rayreplay::trace {
namespace {

struct Slot {
  const char* column;
  std::uint16_t shader;
  std::optional<ShaderStage> stage;  ///< none: no shader may stand here
};

std::array<Slot, 4> slots_of(const ShaderRecord& record) {
  const bool hit = record.region == TableRegion::Hit;
  const auto only_in_hit = [&](ShaderStage stage) { return hit ? std::optional(stage) : std::nullopt; };
  std::optional<ShaderStage> general;
  switch (record.region) {
    case TableRegion::RayGeneration:
      general = ShaderStage::RayGeneration;
      break;
    case TableRegion::Miss:
      general = ShaderStage::Miss;
      break;
    case TableRegion::Callable:
      general = ShaderStage::Callable;
      break;
    case TableRegion::Hit:
      break;
  }
  return {Slot{"general", record.general, general},
          Slot{"closest_hit", record.closest_hit, only_in_hit(ShaderStage::ClosestHit)},
          Slot{"any_hit", record.any_hit, only_in_hit(ShaderStage::AnyHit)},
          Slot{"intersection", record.intersection, only_in_hit(ShaderStage::Intersection)}};
}

void check_record(const ShaderRecord& record, const std::string& table, std::size_t row,
                  const std::vector<Shader>& shaders, FaultList& faults) {
  if (record.region > TableRegion::Callable) {
    faults.add_row(table + "region", row, "there is no such region",
                   std::to_string(static_cast<unsigned>(record.region)), "at most 3");
    return;
  }
  for (const Slot& slot : slots_of(record)) {
    if (slot.shader == kNoShader) {
      continue;
    }
    if (slot.shader >= shaders.size()) {
      faults.add_row(table + slot.column, row, "the record's shader id is out of range", std::to_string(slot.shader),
                     fmt::format("less than {}, the number of shaders", shaders.size()));
    } else if (slot.stage != shaders[slot.shader].stage) {
      faults.add_row(table + slot.column, row, "a shader of this stage cannot stand here",
                     fmt::format("shader {}, {}", slot.shader, to_string(shaders[slot.shader].stage)),
                     slot.stage ? to_string(*slot.stage) : "none");
    }
  }
}

}  // namespace

bool check_launch_bindings(const Launch& launch, const std::string& path, const std::vector<Shader>& shaders,
                           const Scene& scene, FaultList& faults) {
  for (std::size_t i = 0; i < launch.shader_table.size() && !faults.full(); ++i) {
    check_record(launch.shader_table[i], path + "/shader_table/", i, shaders, faults);
  }
  const Column<std::uint8_t>& bits = launch.data.rays.hint_bits;
  if (const auto row = first_row(0, bits.size(), [&](std::size_t i) { return bits[i] > 32; })) {
    faults.add_row(path + "/rays/hint_bits", *row, "the hint has more bits than there are", std::to_string(bits[*row]),
                   "at most 32");
  }
  const std::size_t structures = std::max<std::size_t>(scene.tlases.size(), 1);
  if (launch.tlas != kNone && launch.tlas >= structures) {
    faults.add(path, "the launch's top-level structure is out of range", std::to_string(launch.tlas),
               fmt::format("less than {}, the number of such structures", structures));
    return false;
  }
  return true;
}

}  // namespace rayreplay::trace
