#include "capture/ingest/vertex_format.hpp"

#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace rayreplay::ingest {
namespace {

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

float half_to_float(std::uint16_t half) {
  const int exponent = half >> 10U & 31U;
  const int fraction = half & 1023U;
  const float sign = (half & 0x8000U) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) {
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
  }
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25));
}

struct Half {
  static constexpr std::size_t kBytes = 2;
  static float at(const std::byte* from) {
    return half_to_float(load<std::uint16_t>(from));
  }
};
template <class T>
struct Real {
  static constexpr std::size_t kBytes = sizeof(T);
  static float at(const std::byte* from) {
    return static_cast<float>(load<T>(from));
  }
};
/// Normalised, signed or not.
template <class T>
struct Norm {
  static constexpr std::size_t kBytes = sizeof(T);
  static float at(const std::byte* from) {
    return std::max(static_cast<float>(load<T>(from)) / static_cast<float>(std::numeric_limits<T>::max()), -1.0F);
  }
};

template <class Component, std::size_t Count>
std::array<float, 3> read_vertex(const std::byte* vertex) {
  std::array<float, 3> result{};
  for (std::size_t i = 0; i < std::min<std::size_t>(Count, 3); ++i) {
    result.at(i) = Component::at(vertex + i * Component::kBytes);
  }
  return result;
}

template <class Component, std::size_t Count>
VertexFormat of() {
  return {Count * Component::kBytes, read_vertex<Component, Count>};
}

std::array<float, 3> read_snorm10(const std::byte* vertex) {
  const auto packed = load<std::uint32_t>(vertex);
  std::array<float, 3> result{};
  for (unsigned i = 0; i < 3; ++i) {
    const auto shifted = static_cast<std::int32_t>(packed << (22U - 10U * i));
    result.at(i) = std::max(static_cast<float>(shifted >> 22) / 511.0F, -1.0F);
  }
  return result;
}
std::array<float, 3> read_unorm10(const std::byte* vertex) {
  const auto packed = load<std::uint32_t>(vertex);
  return {static_cast<float>(packed & 1023U) / 1023.0F, static_cast<float>(packed >> 10U & 1023U) / 1023.0F,
          static_cast<float>(packed >> 20U & 1023U) / 1023.0F};
}

}  // namespace

std::optional<VertexFormat> vertex_format(std::int32_t format) {
  switch (format) {
    case VK_FORMAT_R32G32B32_SFLOAT:
      return of<Real<float>, 3>();
    case VK_FORMAT_R32G32B32A32_SFLOAT:
      return of<Real<float>, 4>();
    case VK_FORMAT_R32G32_SFLOAT:
      return of<Real<float>, 2>();
    case VK_FORMAT_R64G64_SFLOAT:
      return of<Real<double>, 2>();
    case VK_FORMAT_R64G64B64_SFLOAT:
      return of<Real<double>, 3>();
    case VK_FORMAT_R64G64B64A64_SFLOAT:
      return of<Real<double>, 4>();
    case VK_FORMAT_R16G16_SFLOAT:
      return of<Half, 2>();
    case VK_FORMAT_R16G16B16_SFLOAT:
      return of<Half, 3>();
    case VK_FORMAT_R16G16B16A16_SFLOAT:
      return of<Half, 4>();
    case VK_FORMAT_R16G16_SNORM:
      return of<Norm<std::int16_t>, 2>();
    case VK_FORMAT_R16G16B16_SNORM:
      return of<Norm<std::int16_t>, 3>();
    case VK_FORMAT_R16G16B16A16_SNORM:
      return of<Norm<std::int16_t>, 4>();
    case VK_FORMAT_R16G16_UNORM:
      return of<Norm<std::uint16_t>, 2>();
    case VK_FORMAT_R16G16B16_UNORM:
      return of<Norm<std::uint16_t>, 3>();
    case VK_FORMAT_R16G16B16A16_UNORM:
      return of<Norm<std::uint16_t>, 4>();
    case VK_FORMAT_R8G8_SNORM:
      return of<Norm<std::int8_t>, 2>();
    case VK_FORMAT_R8G8B8_SNORM:
      return of<Norm<std::int8_t>, 3>();
    case VK_FORMAT_R8G8B8A8_SNORM:
      return of<Norm<std::int8_t>, 4>();
    case VK_FORMAT_R8G8_UNORM:
      return of<Norm<std::uint8_t>, 2>();
    case VK_FORMAT_R8G8B8_UNORM:
      return of<Norm<std::uint8_t>, 3>();
    case VK_FORMAT_R8G8B8A8_UNORM:
      return of<Norm<std::uint8_t>, 4>();
    case VK_FORMAT_A2B10G10R10_SNORM_PACK32:
      return VertexFormat{4, read_snorm10};
    case VK_FORMAT_A2B10G10R10_UNORM_PACK32:
      return VertexFormat{4, read_unorm10};
    default:
      return std::nullopt;
  }
}

}  // namespace rayreplay::ingest
