// Facts of the trace, which the page loads before all other data, and the keys that it may set.
#include <cmath>

#include <fmt/format.h>

#include "app/report/charts/colormap.hpp"
#include "base/registry.hpp"
#include "sim/settings/parameter_table.hpp"
#include "viewer/content/answers.hpp"

namespace rayreplay::viewer {
namespace {

using nlohmann::ordered_json;

ordered_json choices_json(std::span<const Choice> choices) {
  ordered_json list = ordered_json::array();
  for (const Choice& choice : choices) {
    list.push_back({{"name", choice.name},
                    {"title", choice.title},
                    {"text", choice.text},
                    {"of_settings", choice.of_settings},
                    {"nominal", choice.is_nominal}});
  }
  return list;
}

/// "rrggbb" of each entry, end to end.
std::string colors_of(pictures::Colormap map) {
  std::string text;
  for (std::size_t i = 0; i < pictures::kColormapEntries; ++i) {
    const pictures::Rgb color =
        pictures::color_at(map, static_cast<double>(i) / static_cast<double>(pictures::kColormapEntries - 1));
    text += fmt::format("{:02x}{:02x}{:02x}", color.r, color.g, color.b);
  }
  return text;
}

ordered_json launch_json(const trace::Launch& launch) {
  return {{"width", launch.size.width},
          {"height", launch.size.height},
          {"depth", launch.size.depth},
          {"threads", launch.size.threads()},
          {"rays", launch.data.rays.size()},
          {"events", launch.data.events.size()},
          {"frame", launch.frame},
          {"milliseconds",
           launch.duration_ns == 0 ? ordered_json() : ordered_json(static_cast<double>(launch.duration_ns) * 1e-6)},
          {"has_warps", !launch.thread_warp.empty()},
          {"has_groups", !launch.thread_warp.empty() && !launch.data.events.group.empty()},
          {"tlas", launch.tlas == trace::kNone ? ordered_json() : ordered_json(launch.tlas)},
          {"maps", choices_json(known_maps(launch))}};
}

}  // namespace

ordered_json trace_facts(const trace::Trace& trace, const std::string& file, const experiment::Settings& asked) {
  ordered_json result = {{"schema", "rayreplay.view/1"},
                         {"file", file},
                         {"hash", trace.hash},
                         {"launch", asked.has("launch") ? asked.integer("launch") : 0},
                         {"tool_version", RAYREPLAY_VERSION},
                         {"application", trace.header.application},
                         {"device", trace.header.device},
                         {"driver", trace.header.driver},
                         {"warp_size", trace.header.warp_size},
                         {"not_captured", trace.header.not_captured}};
  for (const trace::Launch& launch : trace.launches) {
    result["launches"].push_back(launch_json(launch));
  }
  ordered_json shaders = ordered_json::array();
  for (std::size_t id = 0; id < trace.shaders.size(); ++id) {
    shaders.push_back(
        {{"shader", id}, {"stage", trace::to_string(trace.shaders[id].stage)}, {"name", trace.shaders[id].name}});
  }
  result["shaders"] = std::move(shaders);
  ordered_json kinds = ordered_json::array();
  for (std::size_t kind = 0; kind < trace::kEventKinds; ++kind) {
    kinds.push_back(trace::to_string(static_cast<trace::EventKind>(kind)));
  }
  result["kinds"] = std::move(kinds);
  ordered_json geometries = ordered_json::array();
  for (const trace::Geometry& geometry : trace.scene.geometries) {
    geometries.push_back({{"type", geometry.type == trace::GeometryType::Triangles ? "triangles" : "boxes"},
                          {"primitives", geometry.primitives()},
                          {"opaque", geometry.opaque},
                          {"name", geometry.name}});
  }
  ordered_json structures = ordered_json::array();
  for (const trace::Blas& blas : trace.scene.blases) {
    structures.push_back({{"first_geometry", blas.first_geometry}, {"geometries", blas.geometry_count}});
  }
  ordered_json instances = ordered_json::array();
  for (const trace::Instance& instance : trace.scene.instances) {
    instances.push_back(
        {{"structure", instance.blas}, {"transform", instance.transform}, {"custom_index", instance.custom_index}});
  }
  ordered_json tops = ordered_json::array();
  for (const trace::Tlas& tlas : trace.scene.tlases) {
    tops.push_back({{"first_instance", tlas.first_instance}, {"instances", tlas.instance_count}});
  }
  result["scene"] = {{"geometries", std::move(geometries)},
                     {"structures", std::move(structures)},
                     {"instances", std::move(instances)},
                     {"tops", std::move(tops)}};
  result["face_metrics"] = choices_json(face_metrics());
  result["colors"] = {{"viridis", colors_of(pictures::Colormap::Viridis)},
                      {"plasma", colors_of(pictures::Colormap::Plasma)},
                      {"blue-red", colors_of(pictures::Colormap::BlueRed)},
                      {"nothing", fmt::format("{:02x}{:02x}{:02x}", pictures::kNoDataColor.r, pictures::kNoDataColor.g,
                                              pictures::kNoDataColor.b)}};
  return result;
}

ordered_json key_facts(const experiment::Settings& asked) {
  ordered_json list = ordered_json::array();
  for (const char* name : {"packing", "order", "policy", "warp_size"}) {
    const experiment::ExperimentParameter* parameter = experiment::find_parameter(name);
    if (parameter == nullptr) {
      continue;
    }
    ordered_json key = {{"key", name}, {"text", parameter->declared.text}};
    ordered_json choices = ordered_json::array();
    for (const std::string& choice : parameter->declared.choices) {
      choices.push_back({{"name", choice}, {"text", ""}});
    }
    if (!parameter->model_kind.empty()) {
      for (const ModelDescription& model : all_models()) {
        if (model.kind == parameter->model_kind) {
          choices.push_back({{"name", model.name}, {"text", model.summary}});
        }
      }
    }
    key["choices"] = std::move(choices);
    const ParameterValue& value =
        asked.has(name) ? asked.all().find(name)->second.value : parameter->declared.default_value;
    key["value"] = to_text(value);
    list.push_back(std::move(key));
  }
  return list;
}

}  // namespace rayreplay::viewer
