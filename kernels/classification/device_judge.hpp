// Tests judged on a device, batch by batch: the BatchJudge of kernels/classification.
//
// Contract: that of traversal/classification/batch_judge.hpp. `set_test` refuses tests whose numbers are outside the
// kernel's exact range, or whose primitive the scene does not hold. Memory: 68 bytes a test and ray of the batch beside
// the device's (judge_tests.hpp). Errors: DeviceError.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bvh/scene.hpp"
#include "kernels/classification/judge_tests.hpp"
#include "traversal/classification/batch_judge.hpp"

namespace rayreplay::traversal {

class DeviceJudge final : public BatchJudge {
 public:
  /// Why the kernel cannot judge tests of this configuration; empty: it can.
  [[nodiscard]] static std::string unfit(const EnlargedBoxes& enlarged, const Judge& judge);

  /// The arguments must outlive this object.
  DeviceJudge(kernels::Device& device, const bvh::PreparedScene& scene, const EnlargedBoxes& enlarged,
              const Judge& judge);

  void begin(const Batch& batch) override;
  void set_ray(std::uint64_t place, std::uint64_t thread, const Ray& ray, float t_star, bool assumed) override;
  [[nodiscard]] bool set_test(std::uint64_t test_number, std::uint64_t ray_number, const JudgedTest& test) override;
  void judge(Accumulator& sums) override;
  [[nodiscard]] bool judged(std::uint64_t place) const override {
    return (tests_[place].flags & kernels::kTestLeftOut) == 0;
  }
  [[nodiscard]] Verdict verdict(std::uint64_t place) const override;
  /// Whether the device counts objects; otherwise this object counts them from the verdicts.
  [[nodiscard]] bool counts_objects() const {
    return kernel_->counts_objects();
  }
  [[nodiscard]] std::vector<ObjectCounts> objects() override;

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
  std::vector<std::uint64_t> first_box_;  ///< by blas, and the total
  std::vector<Instance> instances_;
  std::vector<kernels::InstanceRecord> instance_records_;
  std::optional<kernels::TestJudge> kernel_;
  Batch batch_;
  std::vector<kernels::RayRecord> rays_;
  std::vector<std::uint8_t> usable_rays_;
  std::vector<kernels::TestRecord> tests_;
  const kernels::JudgedBatch* judged_ = nullptr;
};

}  // namespace rayreplay::traversal
