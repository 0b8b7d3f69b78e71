#include "app/report/profile/pixel_instructions.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "app/report/charts/heatmap.hpp"
#include "app/report/packings/launch_pictures.hpp"
#include "app/report/profile/profile_page.hpp"
#include "base/error.hpp"
#include "capture/profile/thread_instructions.hpp"

namespace rayreplay::report {
namespace {

constexpr std::string_view kFile = "instructions", kExtension = ".png";

experiment::PixelMap by_pixel(const std::vector<std::optional<std::uint64_t>>& threads, trace::LaunchSize size) {
  experiment::PixelMap map{size.width, size.height, {}};
  const std::size_t slice = std::size_t{size.width} * size.height;
  std::vector<std::optional<double>> sums(slice);
  for (std::size_t thread = 0; thread < threads.size(); ++thread) {
    if (threads[thread]) {
      std::optional<double>& sum = sums[thread % slice];
      sum = sum.value_or(0) + static_cast<double>(*threads[thread]);
    }
  }
  map.values.reserve(slice);
  for (const std::optional<double>& sum : sums) {
    map.values.push_back(sum ? static_cast<float>(*sum) : std::numeric_limits<float>::quiet_NaN());
  }
  return map;
}

bool is_drawable(trace::LaunchSize size, const std::string& file) {
  try {
    pictures::require_drawable(size.width, size.height, file);
  } catch (const Error&) {
    return false;
  }
  return size.height > 1;
}

}  // namespace

std::vector<Picture> instruction_maps(const trace::Trace& trace, const profile::PathProfile& paths,
                                      const trace::Launch& launch, const std::string& file) {
  std::vector<Picture> maps;
  const auto add = [&](std::optional<std::uint16_t> shader, std::string name, const std::string& what) {
    const auto threads = profile::thread_instructions(trace, paths, launch, shader, file);
    const bool any = std::ranges::any_of(threads, [](const auto& thread) { return thread.has_value(); });
    if (any) {
      maps.push_back({std::move(name), what,
                      count_picture(by_pixel(threads, launch.size), what, pictures::Colormap::Viridis, "calls")});
    }
  };
  if (!is_drawable(launch.size, file)) {
    return maps;
  }
  add(std::nullopt, fmt::format("{}{}", kFile, kExtension), "executed instructions");
  std::vector<const profile::ShaderPaths*> shaders;
  for (const profile::ShaderPaths& of : paths.shaders) {
    if (of.executed != 0) {
      shaders.push_back(&of);
    }
  }
  std::ranges::stable_sort(shaders, std::greater<>(), &profile::ShaderPaths::executed);
  shaders.resize(std::min(shaders.size(), kMostMaps));
  for (const profile::ShaderPaths* of : shaders) {
    add(of->shader, fmt::format("{}-{}{}", kFile, of->shader, kExtension),
        "executed instructions of shader " + bar_label(of->shader, trace.shaders[of->shader].name));
  }
  return maps;
}

bool is_instruction_map(std::string_view name) {
  if (!name.starts_with(kFile) || !name.ends_with(kExtension) || name.size() < kFile.size() + kExtension.size()) {
    return false;
  }
  name.remove_prefix(kFile.size());
  name.remove_suffix(kExtension.size());
  const auto is_digit = [](char c) { return '0' <= c && c <= '9'; };
  return name.empty() || (name.size() > 1 && name.front() == '-' && std::ranges::all_of(name.substr(1), is_digit));
}

}  // namespace rayreplay::report
