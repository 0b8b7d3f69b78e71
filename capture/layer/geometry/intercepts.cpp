#include "capture/layer/geometry/intercepts.hpp"

namespace rayreplay::layer::geometry {

std::array<std::span<const Intercept>, 6> intercepts() {
  return {buffer_intercepts(), structure_intercepts(),  host_structure_intercepts(),
          image_intercepts(),  descriptor_intercepts(), bound_set_intercepts()};
}

}  // namespace rayreplay::layer::geometry
