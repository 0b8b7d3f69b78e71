// A pipeline of many small shaders.
#pragma once

#include <cstdint>
#include <string>

#include "vulkan_context.hpp"

namespace scenario {

/// One pipeline with `count` callable shaders, each a module of its own, called by one thread each. What they return,
/// in one number.
[[nodiscard]] std::string call_shaders(Context& context, std::uint32_t count);

}  // namespace scenario
