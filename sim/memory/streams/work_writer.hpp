// Writes the work between a warp's memory instructions (warp_work.hpp).
//
// Contract: work that is added belongs to the row before the next instruction. Callers add the parts of a row in the
// order of its members. `depend` says that the next instruction needs what the ones before have loaded or computed;
// every other instruction follows, unless there is work before it. `enter` sets the stage of the shader and memory
// instructions from now on. `instruction` closes a row, `finish` the last one. Errors: Resource for work
// that does not fit into a row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "sim/memory/streams/warp_work.hpp"

namespace rayreplay::memory {

class WorkWriter {
 public:
  explicit WorkWriter(std::vector<WarpWork>& out) : out_(&out) {}

  void depend() {
    follows_ = false;
  }
  void enter(WorkStage stage) {
    stage_ = stage;
  }
  void test(std::uint32_t visits, std::uint32_t boxes, std::uint32_t triangles) {
    add(row_.visits, visits);
    add(row_.boxes, boxes);
    add(row_.triangles, triangles);
  }
  void end_rays(std::uint32_t rays) {
    add(row_.rays_end, rays);
  }
  /// Shader instructions, in units of 1 / kIssueScale, and their cycles.
  void run(std::uint32_t issue, std::uint32_t latency) {
    add(row_.issue, issue);
    add(row_.latency, latency);
    run_.add(stage_, issue, latency);
  }
  /// Counts `calls` different calls by `lanes` lanes, one call a lane.
  void count_calls(std::size_t calls, std::size_t lanes) {
    calls_.add({calls, lanes});
  }
  [[nodiscard]] const WarpCalls& calls() const {
    return calls_;
  }
  void begin_rays(std::uint32_t rays) {
    add(row_.rays_begin, rays);
  }
  void instruction() {
    row_.follows = follows_ && row_ == WarpWork{};
    close(stage_);
    follows_ = true;
  }
  void finish() {
    close(WorkStage::RayGeneration);
    follows_ = false;
  }

 private:
  void close(WorkStage access) {
    if (row_.issue != 0 || row_.latency != 0) {
      row_.stages = {run_.stage(), access};
      run_ = {};
    } else {
      row_.stages = {WorkStage::RayGeneration, access};
    }
    out_->push_back(row_);
    row_ = {};
  }
  template <class T>
  static void add(T& sum, std::uint32_t part) {
    const std::uint64_t whole = std::uint64_t{sum} + part;
    if (whole > std::numeric_limits<T>::max()) {
      throw Error(ErrorKind::Resource, {"the work of a warp between two accesses is too large", "access streams",
                                        std::to_string(whole), std::to_string(std::numeric_limits<T>::max()), ""});
    }
    sum = static_cast<T>(whole);
  }

  std::vector<WarpWork>* out_;
  WarpWork row_;
  WarpCalls calls_;
  WorkStage stage_ = WorkStage::RayGeneration;
  LongestStage run_;  ///< of the row's shader instructions
  bool follows_ = false;
};

}  // namespace rayreplay::memory
