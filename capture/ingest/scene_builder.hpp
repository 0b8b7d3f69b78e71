// The structures of a spool as a Scene: every top-level structure that launches used, with all it refers to. Internal.
//
// Contract: `tlas_of` adds a top-level structure at its first use and returns its index in Scene::tlases, or
// trace::kNone if a part of it is unknown; `notes` then names the structure and the reason, once per structure.
// Vertices are converted to 32-bit floats and transformed by the geometry's matrix, which the trace therefore does not
// hold. Triangles without indices get them. An inactive instance (reference 0), or one of a structure that was never
// seen (noted), gets a bottom-level structure without geometries: no ray can hit it. Everything in a spool is checked:
// formats, strides, counts, indices.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "capture/ingest/spool_contents.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::ingest {

class SceneBuilder {
 public:
  explicit SceneBuilder(const SpoolContents& contents) : contents_(contents) {}

  [[nodiscard]] std::uint32_t tlas_of(std::uint32_t structure);
  [[nodiscard]] const trace::Scene& scene() const {
    return scene_;
  }
  [[nodiscard]] const std::vector<std::string>& notes() const {
    return notes_;
  }

 private:
  /// "" and the structure, or the reason why there is none.
  [[nodiscard]] std::string read_structure(std::uint32_t number, bool top_level, spool::Structure& structure) const;
  [[nodiscard]] std::uint32_t add_tlas(std::uint32_t number);
  /// Index in Scene::blases, kNone if the content is not known; then `blas_faults_` says why.
  [[nodiscard]] std::uint32_t blas_of(std::uint32_t number);
  [[nodiscard]] std::uint32_t add_blas(std::uint32_t number);
  [[nodiscard]] std::uint32_t empty_blas();

  const SpoolContents& contents_;
  trace::Scene scene_;
  std::map<std::uint32_t, std::uint32_t> tlases_, blases_;
  std::map<std::uint32_t, std::string> blas_faults_;
  std::uint32_t empty_ = trace::kNone;
  std::vector<std::string> notes_;
};

}  // namespace rayreplay::ingest
