// The kinds of intersection tests (MODELS.md §8), judged on the device and counted there.
//
// Contract: the twin of traversal/classification/judge.*, equal bit for bit in kind, flags and t_enter (NaN is one
// pattern), as long as
// - rays, t, t_max and t_star are no NaN; t_max, t_star and a test's t and t_max may be +infinity; all else is finite;
// - every entry of an active instance's to_object is 0 or between kMinEntry and kGreatestEntry in magnitude;
// - boxes are finite, or empty with low[0] infinite;
// - the units of rounding are at most 1.
// The caller ensures this and judges other tests itself (kTestLeftOut). Counts of kinds per thread, ray and object are
// integers, summed by kernels/reduction/sum_by_key.hpp; objects are counted over all batches until `objects` is called.
// Device memory: 120 bytes an instance, 24 a box, 56 an object, and for the largest batch 44 a ray, 36 a test, 56 a
// thread (and ray). Bytes moved at least: per test 24, 8 for each of its keys, 8 for the verdict and 24 for the box;
// instances, rays and counts stay in the caches. About 1500 operations a box. Errors: Missing when the device's doubles
// are not exact (kernels/arithmetic); DeviceError.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/classification/records.h"
#include "kernels/device/device.hpp"

namespace rayreplay::kernels {

inline constexpr double kMinEntry = 0x1p-100;
inline constexpr double kGreatestEntry = 0x1p202;

struct JudgeScene {
  std::span<const InstanceRecord> instances;
  /// Writes rows first, first + 1, … of the boxes: the primitives' own, then those of each enlarged model.
  std::function<void(std::uint64_t first, std::span<BoxRecord> to)> fill_boxes;
  std::uint64_t boxes_a_model = 0;
  std::uint32_t models = 0;
  std::uint64_t objects = 0;  ///< rows of InstanceRecord::first_object
  double unit = 0;            ///< unit of rounding for original boxes
  double enlarged_unit = 0;   ///< unit of rounding for enlarged boxes
  bool culls = false;         ///< as in traversal::KnownHardware
  bool clips = false;
};

struct JudgeBatch {
  std::span<const RayRecord> rays;    ///< at most kMaxRecords
  std::span<const TestRecord> tests;  ///< at most kMaxRecords; tests of one ray should be neighbours
  std::uint32_t threads = 0;          ///< at most kMaxRecords
  bool verdicts = false;              ///< wanted
  bool per_ray = false;               ///< counts of each ray wanted
};

inline constexpr std::uint64_t kMaxRecords = (std::uint64_t{1} << 32U) / kJudgedKinds - 1;

struct JudgedBatch {
  std::array<std::uint32_t, kSmallSums> small{};
  std::vector<std::uint64_t> by_thread;  ///< kind fastest
  std::vector<std::uint64_t> by_ray;
  std::vector<VerdictRecord> verdicts;
};

class TestJudge {
 public:
  TestJudge(Device& device, const JudgeScene& scene);
  ~TestJudge();
  TestJudge(const TestJudge&) = delete;
  TestJudge& operator=(const TestJudge&) = delete;

  /// Whether the device has room for the counts of objects. Otherwise the caller counts from the verdicts.
  [[nodiscard]] bool counts_objects() const;
  /// Waits for the result, which is valid until the next call.
  [[nodiscard]] const JudgedBatch& judge(const JudgeBatch& batch);
  /// Counts of all batches so far, kind fastest.
  [[nodiscard]] std::vector<std::uint64_t> objects();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rayreplay::kernels
