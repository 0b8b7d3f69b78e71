// The tables of intercepted functions, one for each file that defines some.
#pragma once

#include <vector>

#include "capture/layer/device.hpp"
#include "capture/layer/geometry/hooks.hpp"

namespace rayreplay::layer::geometry {

void add_buffer_intercepts(std::vector<Intercept>& table);
void add_structure_intercepts(std::vector<Intercept>& table);
void add_host_structure_intercepts(std::vector<Intercept>& table);
void add_descriptor_intercepts(std::vector<Intercept>& table);
void add_bound_set_intercepts(std::vector<Intercept>& table);

template <class Function>
void add(std::vector<Intercept>& table, const char* name, Function* function) {
  table.push_back({name, reinterpret_cast<PFN_vkVoidFunction>(function)});
}

/// The next layer's function that the dispatch table does not have, under its core or extension name.
template <class Function>
Function next_function(const Device& device, const char* core, const char* extension) {
  PFN_vkVoidFunction function = device.vk.GetDeviceProcAddr(device.handle, core);
  if (function == nullptr) {
    function = device.vk.GetDeviceProcAddr(device.handle, extension);
  }
  return reinterpret_cast<Function>(function);
}

}  // namespace rayreplay::layer::geometry
