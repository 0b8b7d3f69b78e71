// The scene inside Embree: hits, and the shaders called during traversal.
//
// Contract: `closest` and `occluded` traverse the two-level structure for one ray and record what a Vulkan
// implementation would call during traversal: Intersection, ReportIntersection, AnyHit, IgnoreIntersection. Embree
// tests only the bounds of leaves, so a procedural primitive's own box is tested against [t_min, current t_max] first,
// and only a box that the ray meets there has its intersection shader called. Geometry that is opaque in its instance
// is accepted without any-hit. A null recorder leaves hits and images as they are. Not captured here: the trace call
// itself and closest-hit and miss (pipeline.hpp).
//
// Embree is built with one thread (parallel builds reorder leaves) and never uses more than AVX2, so that the order of
// events does not depend on the machine's core count or on AVX-512. Scenes are `robust`: its box tests then err only
// towards visiting more. Instances with the identity transform over a single box go into one top-level geometry, as
// Embree's instances are slow for one primitive; the events are the same. Thread-safe once built. The scene and the
// shader table must outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/reference/embree.hpp"
#include "capture/reference/precise.hpp"
#include "capture/reference/ray.hpp"
#include "capture/reference/recorder.hpp"
#include "capture/reference/scene.hpp"
#include "capture/reference/shader_table.hpp"

namespace rayreplay::reference {

struct AcceleratorOptions {
  bool flatten = true;  ///< single boxes under the identity transform: off only to compare
};

class Accelerator {
 public:
  Accelerator(const RenderScene& scene, const ShaderTable& table, AcceleratorOptions options = {});
  ~Accelerator();
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;

  /// The closest accepted hit; false when there is none.
  bool closest(const Ray& ray, Recorder* recorder, Hit& hit) const;
  /// Whether anything is accepted in [t_min, t_max] (terminate on first hit).
  [[nodiscard]] bool occluded(const Ray& ray, Recorder* recorder) const;

  struct InstanceRecord {
    Transformd to_object;
    bool identity = false;
    bool flip_facing = false;
    std::uint32_t first_geometry = 0;
  };
  [[nodiscard]] const InstanceRecord& instance(std::uint32_t id) const {
    return instances_[id];
  }
  [[nodiscard]] const RenderScene& scene() const {
    return *scene_;
  }

 private:
  struct Traversal;
  struct GeometryRecord;
  struct FlatRecord;
  struct Callbacks;

  void build_blases();
  void build_top(AcceleratorOptions options);
  void attach_flat(RTCScene top, std::uint32_t geometry_id);
  void require_no_error(const char* where) const;

  const RenderScene* scene_;
  const ShaderTable* table_;
  std::vector<InstanceRecord> instances_;
  std::vector<std::unique_ptr<GeometryRecord>> geometries_;
  std::unique_ptr<FlatRecord> flat_;
  RTCDevice device_ = nullptr;
  std::vector<RTCScene> blases_;
  RTCScene top_ = nullptr;
};

/// Embree's version and instruction set: "3.13.5" and "avx2", or the best set below it.
[[nodiscard]] std::string embree_version();
[[nodiscard]] std::string embree_isa();

}  // namespace rayreplay::reference
