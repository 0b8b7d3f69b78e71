#include "capture/trace/launch_scene.hpp"

#include "base/error.hpp"

namespace rayreplay::trace {

void require_scene(const Scene& scene, const Launch& launch, const std::string& where, const std::string& otherwise) {
  const std::string or_else = otherwise.empty() ? "" : "; or " + otherwise;
  if (scene.instances.empty()) {
    throw Error(ErrorKind::Missing, {"the trace does not hold the scene", where, "", "geometry and instances",
                                     "capture with geometry, or trace the scene with rayreplay trace" + or_else});
  }
  if (launch.tlas == kNone) {
    throw Error(ErrorKind::Missing, {"it is not known which top-level structure the launch used", where, "",
                                     "one of the scene's structures",
                                     "capture again; rayreplay info shows the notes that say why" + or_else});
  }
}

}  // namespace rayreplay::trace
