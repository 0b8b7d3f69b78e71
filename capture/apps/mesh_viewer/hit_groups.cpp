#include "capture/apps/mesh_viewer/hit_groups.hpp"

#include <map>
#include <tuple>

#include "capture/apps/mesh_viewer/shaders.hpp"

namespace rayreplay::apps {
namespace {

constexpr std::uint32_t kAnyKind = 4;  // of shaders/closest_hit.rchit

/// Adds stages and groups as geometries need them.
class GroupMaker {
 public:
  GroupMaker(PipelineBuilder& builder, const ViewerShaders& shaders) : builder_(&builder), shaders_(&shaders) {}

  std::uint32_t group(bool spheres, bool any_hit, std::uint32_t kind) {
    const auto [found, is_new] = groups_.try_emplace({spheres, any_hit, kind}, 0);
    if (is_new) {
      const std::size_t type = spheres ? 1 : 0;
      const std::uint32_t closest = stage(VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR, shaders_->closest_hit.at(type), {kind});
      const std::uint32_t any =
          any_hit ? stage(VK_SHADER_STAGE_ANY_HIT_BIT_KHR, shaders_->alpha_test.at(type), {}) : kNoStage;
      const std::uint32_t intersection =
          spheres ? stage(VK_SHADER_STAGE_INTERSECTION_BIT_KHR, shaders_->sphere, {}) : kNoStage;
      found->second = builder_->add_hit_group(closest, any, intersection);
    }
    return found->second;
  }

 private:
  std::uint32_t stage(VkShaderStageFlagBits kind, Spirv spirv, const std::vector<std::uint32_t>& constants) {
    const auto [found, is_new] = stages_.try_emplace({spirv.data(), constants}, 0);
    if (is_new) {
      found->second = builder_->add_stage(kind, spirv, constants);
    }
    return found->second;
  }

  PipelineBuilder* builder_;
  const ViewerShaders* shaders_;
  std::map<std::tuple<bool, bool, std::uint32_t>, std::uint32_t> groups_;
  std::map<std::pair<const std::uint32_t*, std::vector<std::uint32_t>>, std::uint32_t> stages_;
};

std::vector<std::byte> bytes_of(const GeometryRecord& record) {
  const auto bytes = std::as_bytes(std::span(&record, 1));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

ViewerPipeline make_viewer_pipeline(const Options& options, const SharedResources& shared,
                                    const std::vector<GeometryTraits>& traits,
                                    const std::vector<GeometryRecord>& records) {
  const ViewerShaders shaders = viewer_shaders(options);
  ViewerPipeline pipeline;
  PipelineBuilder& builder = pipeline.builder;
  const auto general = [&](VkShaderStageFlagBits stage, Spirv spirv, std::vector<std::uint32_t> constants) {
    return ShaderRecord{builder.add_general_group(builder.add_stage(stage, spirv, std::move(constants))), {}};
  };
  pipeline.ray_generation = general(VK_SHADER_STAGE_RAYGEN_BIT_KHR, shaders.ray_generation, shared.constants());
  pipeline.miss.push_back(general(VK_SHADER_STAGE_MISS_BIT_KHR, shaders.sky, {}));
  pipeline.miss.push_back(general(VK_SHADER_STAGE_MISS_BIT_KHR, shaders.unoccluded, {}));
  GroupMaker maker(builder, shaders);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::uint32_t kind = options.per_material() ? static_cast<std::uint32_t>(traits[i].kind) : kAnyKind;
    pipeline.hit.push_back({maker.group(traits[i].spheres, traits[i].any_hit, kind), bytes_of(records[i])});
  }
  builder.recursion = options.recursion ? options.depth + 1 : 1;
  return pipeline;
}

}  // namespace rayreplay::apps
