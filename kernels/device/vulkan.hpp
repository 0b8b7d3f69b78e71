// Vulkan-Hpp for this folder: RAII handles, the loader found at run time. Slow to compile: not for public headers.
#pragma once

#define VULKAN_HPP_DISPATCH_LOADER_DYNAMIC 1
#define VULKAN_HPP_NO_STRUCT_CONSTRUCTORS
#include <vulkan/vulkan_raii.hpp>
