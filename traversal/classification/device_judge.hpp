// Tests judged on a device, batch by batch: the Judge (judge.hpp) and the sums of the Accumulator by the kernels of
// kernels/classification. Internal to this folder.
//
// Contract: `begin`, then `set_ray` of every ray with a test and `set_test` of every test, from several threads if each
// has its own rays; then `judge`. A test that `set_test` refuses (its numbers are not those that the kernel is exact
// for, or it names no primitive that the scene knows) has to be judged by the caller; so are tests never set. Kinds,
// flags and t_enter are the Judge's bit for bit. Memory: 68 bytes a test and ray of the batch beside the device's
// (judge_tests.hpp). Errors: kernels::DeviceError.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bvh/scene.hpp"
#include "kernels/accelerator.hpp"
#include "kernels/classification/judge_tests.hpp"
#include "traversal/classification/accumulator.hpp"
#include "traversal/classification/enlarged.hpp"
#include "traversal/classification/judge.hpp"

namespace rayreplay::traversal {

class DeviceJudge {
 public:
  /// Why the kernel cannot take any test of this configuration; empty: it can.
  [[nodiscard]] static std::string unfit(const EnlargedBoxes& enlarged, const Judge& judge);

  /// All must outlive it.
  DeviceJudge(kernels::Device& device, const bvh::PreparedScene& scene, const EnlargedBoxes& enlarged,
              const Judge& judge);

  struct Batch {
    std::uint64_t first_thread = 0, threads = 0;  ///< of the launch
    std::uint64_t first_ray = 0, rays = 0;
    std::uint64_t tests = 0;
    bool verdicts = false;  ///< wanted
  };
  void begin(const Batch& batch);
  /// `place`: of the batch; `thread`: of the launch. `assumed`: t* rests on an assumption (ClassifyOptions).
  void set_ray(std::uint64_t place, std::uint64_t thread, const Ray& ray, float t_star, bool assumed);
  /// Numbers of the batch; the ray was set. False: the caller judges it.
  [[nodiscard]] bool set_test(std::uint64_t test_number, std::uint64_t ray_number, const JudgedTest& test);
  void judge(Accumulator& sums);

  /// Whether test `place` was judged here.
  [[nodiscard]] bool judged(std::uint64_t place) const {
    return (tests_[place].flags & kernels::kTestLeftOut) == 0;
  }
  /// Of a test that was, where verdicts were wanted.
  [[nodiscard]] Verdict verdict(std::uint64_t place) const;

  /// Whether the device counts objects; else this does, from the verdicts.
  [[nodiscard]] bool counts_objects() const {
    return kernel_->counts_objects();
  }
  /// Counts of the objects of all batches, ascending; none where it does not count them.
  [[nodiscard]] std::vector<ObjectCounts> objects();

 private:
  struct Instance {
    std::uint64_t first_object = 0;
    bool usable = false;
  };

  [[nodiscard]] kernels::JudgeScene describe();
  void fill_boxes(std::uint64_t first, std::span<kernels::BoxRecord> to) const;
  void count_objects(Accumulator& sums, const kernels::JudgedBatch& judged) const;

  const bvh::PreparedScene* scene_;
  const EnlargedBoxes* enlarged_;
  const Judge* judge_;
  std::vector<std::uint64_t> first_box_;  ///< of each blas; one more
  std::vector<Instance> instances_;
  std::vector<kernels::InstanceRecord> instance_records_;
  std::optional<kernels::TestJudge> kernel_;
  Batch batch_;
  std::vector<kernels::RayRecord> rays_;
  std::vector<std::uint8_t> usable_rays_;
  std::vector<kernels::TestRecord> tests_;
  const kernels::JudgedBatch* judged_ = nullptr;
};

/// `run(device)` on the accelerator's first device, or `run(nullptr)` on the processor.
template <class Run>
auto on_accelerator(kernels::Accelerator* accelerator, const EnlargedBoxes& enlarged, const Judge& judge,
                    const Run& run) {
  constexpr const char* kStage = "classification";
  if (accelerator == nullptr) {
    return run(nullptr);
  }
  const std::string why = DeviceJudge::unfit(enlarged, judge);
  if (!why.empty()) {
    accelerator->note_cpu(kStage, why);
    return run(nullptr);
  }
  return accelerator->run_on_one(
      kStage, {.float64 = true}, [&](kernels::Device& one) { return run(&one); }, [&] { return run(nullptr); });
}

}  // namespace rayreplay::traversal
