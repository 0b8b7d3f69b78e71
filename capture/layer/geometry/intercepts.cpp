#include "capture/layer/geometry/intercepts.hpp"

namespace rayreplay::layer::geometry {

std::span<const Intercept> intercepts() {
  static const std::vector<Intercept> kTable = [] {
    std::vector<Intercept> table;
    add_buffer_intercepts(table);
    add_structure_intercepts(table);
    add_host_structure_intercepts(table);
    add_descriptor_intercepts(table);
    add_bound_set_intercepts(table);
    return table;
  }();
  return kTable;
}

}  // namespace rayreplay::layer::geometry
