#include "tests/capture/captured.hpp"

#include <filesystem>
#include <stdexcept>

#include "capture/ingest/ingest.hpp"
#include "capture/trace/reader.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {

Captured capture(const std::string& program, const std::vector<std::string>& arguments,
                 const Environment& environment) {
  const TemporaryFolder folder;
  Environment all{{"VK_ADD_LAYER_PATH", RAYREPLAY_LAYER_FOLDER},
                  {"VK_INSTANCE_LAYERS", "VK_LAYER_RAYREPLAY_capture"},
                  {"RAYREPLAY_CAPTURE_SPOOL", folder / "spool"}};
  all.insert(all.end(), environment.begin(), environment.end());
  Captured captured;
  captured.picture = render(program, arguments, all);
  const std::filesystem::path path = folder / "trace.rrt";
  const ingest::IngestResult result = ingest::ingest(ingest::find_spools(folder / "spool"), path);
  if (result.traces.size() != 1) {
    throw std::runtime_error(std::to_string(result.traces.size()) + " traces were captured");
  }
  captured.trace = trace::load(path);
  return captured;
}

std::vector<RayStory> tell_rays(const trace::Launch& launch) {
  const trace::ThreadData& data = launch.data;
  std::vector<RayStory> stories(data.rays.size());
  for (std::size_t thread = 0; thread < data.threads(); ++thread) {
    const std::uint64_t first = data.ray_offset[thread];
    std::uint64_t begun = first;
    for (std::uint64_t row = data.event_offset[thread]; row < data.event_offset[thread + 1]; ++row) {
      const trace::EventKind kind = data.events.kind[row];
      begun += trace::begins_ray(kind) ? 1U : 0U;
      const std::uint64_t ray = data.events.ray.empty() ? begun - 1 : first + data.events.ray[row];
      RayStory& story = stories.at(ray);
      story.ray = ray;
      switch (kind) {
        case trace::EventKind::OcclusionBegin:
          story.occlusion = true;
          break;
        case trace::EventKind::ClosestHit:
          ++story.closest_hits;
          story.end = row;
          break;
        case trace::EventKind::Miss:
          ++story.misses;
          story.end = row;
          break;
        case trace::EventKind::Intersection:
        case trace::EventKind::ReportIntersection:
        case trace::EventKind::AnyHit:
        case trace::EventKind::IgnoreIntersection:
          story.during_traversal.push_back(row);
          break;
        default:
          break;
      }
    }
  }
  return stories;
}

}  // namespace rayreplay::test
