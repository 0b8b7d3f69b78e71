// Interface for judging tests in batches on a device, in place of the Judge (judge.hpp); implemented by
// kernels/classification.
//
// Contract: `begin`, then `set_ray` for every ray with a test and `set_test` for every test, from several threads with
// different rays; then `judge`. The caller judges tests that `set_test` refuses or that were not set. Kinds, flags and
// t_enter equal the Judge's bit for bit.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/twin.hpp"
#include "bvh/scene.hpp"
#include "traversal/classification/accumulator.hpp"
#include "traversal/classification/enlarged.hpp"
#include "traversal/classification/judge.hpp"

namespace rayreplay::traversal {

class BatchJudge {
 public:
  BatchJudge() = default;
  BatchJudge(const BatchJudge&) = delete;
  BatchJudge& operator=(const BatchJudge&) = delete;
  virtual ~BatchJudge() = default;

  struct Batch {
    std::uint64_t first_thread = 0, threads = 0;  ///< of the launch
    std::uint64_t first_ray = 0, rays = 0;
    std::uint64_t tests = 0;
    bool verdicts = false;  ///< wanted
  };
  virtual void begin(const Batch& batch) = 0;
  /// `place`: in the batch; `thread`: of the launch. `assumed`: t* rests on an assumption (ClassifyOptions).
  virtual void set_ray(std::uint64_t place, std::uint64_t thread, const Ray& ray, float t_star, bool assumed) = 0;
  /// Numbers within the batch; the ray was set. False: the caller judges the test.
  [[nodiscard]] virtual bool set_test(std::uint64_t test_number, std::uint64_t ray_number, const JudgedTest& test) = 0;
  virtual void judge(Accumulator& sums) = 0;

  /// Whether test `place` was judged here.
  [[nodiscard]] virtual bool judged(std::uint64_t place) const = 0;
  /// The verdict of a test judged here, if verdicts were wanted.
  [[nodiscard]] virtual Verdict verdict(std::uint64_t place) const = 0;
  /// Counts of objects of all batches, ascending; empty if `judge` has added them to the sums.
  [[nodiscard]] virtual std::vector<ObjectCounts> objects() = 0;
};

/// Makes a judge that lives during the call of `classify`.
inline constinit Twin<void(const bvh::PreparedScene&, const EnlargedBoxes&, const Judge&,
                           const std::function<void(BatchJudge*)>& classify)>
    judge_twin{"classification"};

}  // namespace rayreplay::traversal
