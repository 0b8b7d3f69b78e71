#include "capture/trace/trace.hpp"

namespace rayreplay::trace {

const char* to_string(EventKind kind) {
  static constexpr std::array<const char*, kEventKinds> kNames{
      "Begin",        "OcclusionBegin", "Intersection", "ReportIntersection", "AnyHit", "IgnoreIntersection",
      "TerminateRay", "Miss",           "ClosestHit",   "Callable",           "Reorder"};
  const auto index = static_cast<std::size_t>(kind);
  return index < kNames.size() ? kNames.at(index) : "unknown event";
}

const char* to_string(ShaderStage stage) {
  static constexpr std::array<const char*, kShaderStages> kNames{
      "ray-generation", "intersection", "any-hit", "closest-hit", "miss", "callable", "vertex", "fragment", "compute"};
  const auto index = static_cast<std::size_t>(stage);
  return index < kNames.size() ? kNames.at(index) : "unknown stage";
}

const char* to_string(AccessKind kind) {
  static constexpr std::array<const char*, kAccessKinds> kNames{"load", "store", "atomic", "sample"};
  const auto index = static_cast<std::size_t>(kind);
  return index < kNames.size() ? kNames.at(index) : "unknown access";
}

const char* to_string(AccessSpace space) {
  static constexpr std::array<const char*, kAccessSpaces> kNames{"descriptor", "device address", "shader record",
                                                                 "image"};
  const auto index = static_cast<std::size_t>(space);
  return index < kNames.size() ? kNames.at(index) : "unknown memory";
}

const char* to_string(StatisticFormat format) {
  static constexpr std::array<const char*, kStatisticFormats> kNames{"bool", "i64", "u64", "f64"};
  const auto index = static_cast<std::size_t>(format);
  return index < kNames.size() ? kNames.at(index) : "unknown format";
}

}  // namespace rayreplay::trace
