// The rendered picture as a PNG, and the swizzle that says which thread renders which pixel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rayreplay::apps {

/// `rgba`: linear, four floats a pixel; gamma 2 as in the book. Replaces the file. Errors: Output, Resource.
void write_picture(const std::string& path, std::uint32_t width, std::uint32_t height, const std::vector<float>& rgba);

/// A flat file of little-endian uint32, a permutation of 0 … threads − 1. Errors: Input.
[[nodiscard]] std::vector<std::uint32_t> read_swizzle(const std::string& path, std::uint64_t threads);

}  // namespace rayreplay::apps
