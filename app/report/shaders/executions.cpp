#include "app/report/shaders/executions.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "capture/profile/count_sums.hpp"

namespace rayreplay::report {

std::string Executions::pipelines_text() const {
  constexpr std::size_t kMost = 8;
  const auto end = pipelines.begin() + static_cast<std::ptrdiff_t>(std::min(pipelines.size(), kMost));
  return fmt::format("{} {}{}", pipelines.size() == 1 ? "pipeline" : "pipelines",
                     fmt::join(pipelines.begin(), end, ", "),
                     pipelines.size() > kMost ? fmt::format(" and {} more", pipelines.size() - kMost) : "");
}

std::map<std::uint16_t, Executions> executions_by_shader(const trace::Profile& profile,
                                                         std::optional<std::uint32_t> only, const std::string& file) {
  // Checked first, because errors of the sums would not name the rows of the file.
  static_cast<void>(profile::shader_profiles({profile.shaders, profile.block_counts, profile.header.warp_size}, file));
  profile::SumOverPipelines sum = profile::sum_over_pipelines(profile.block_counts, only, file);
  std::map<std::uint16_t, Executions> result;
  for (profile::ShaderProfile& shader :
       profile::shader_profiles({profile.shaders, sum.counts, profile.header.warp_size}, file)) {
    const std::uint16_t id = shader.shader;
    result[id] = {std::move(shader), profile.header.warp_size, std::move(sum.pipelines[id]), {}};
  }
  for (const profile::LeftOutFunction& function : sum.left_out) {
    if (const auto known = result.find(function.shader); known != result.end()) {
      known->second.notes.push_back(fmt::format("function number {} is left out: {}", function.function,
                                                profile::reason_text(function, "pipeline")));
    }
  }
  return result;
}

}  // namespace rayreplay::report
