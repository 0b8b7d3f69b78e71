#include "kernels/classification/device_judge.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include "kernels/twins.hpp"

namespace rayreplay::traversal {
namespace {

constexpr std::size_t kGrain = 4096;

// The kernel uses the kinds' numbers.
static_assert(kTestKinds == kernels::kJudgedKinds);
static_assert(static_cast<unsigned>(TestKind::Necessary) == kernels::kJudgedNecessary);
static_assert(static_cast<unsigned>(TestKind::BoxMiss) == kernels::kJudgedBoxMiss);
static_assert(static_cast<unsigned>(TestKind::Overlap) == kernels::kJudgedOverlap);
static_assert(static_cast<unsigned>(TestKind::Enlargement) == kernels::kJudgedEnlargement);
static_assert(static_cast<unsigned>(TestKind::Order) == kernels::kJudgedOrder);
static_assert(static_cast<unsigned>(TestKind::EnlargementOrOrder) == kernels::kJudgedEnlargementOrOrder);
static_assert(static_cast<unsigned>(TestKind::BeforeTMin) == kernels::kJudgedBeforeTMin);

bool is_finite(const bvh::Box& box) {
  return box.low.allFinite() && box.high.allFinite();
}

/// A number, and not −infinity.
bool is_distance(float t) {
  return t >= std::numeric_limits<float>::lowest();
}

bool is_exact(double entry) {
  const double magnitude = std::abs(entry);
  return magnitude == 0 || (magnitude >= kernels::kMinEntry && magnitude <= kernels::kGreatestEntry);
}

bool is_usable(const Ray& ray) {
  const auto finite = [](float value) { return std::isfinite(value); };
  return std::all_of(ray.origin.begin(), ray.origin.end(), finite) &&
         std::all_of(ray.direction.begin(), ray.direction.end(), finite) && finite(ray.t_min) && is_distance(ray.t_max);
}

kernels::BoxRecord record_of(const bvh::Box& box) {
  kernels::BoxRecord record{};
  Eigen::Map<Vec3>(record.low) = box.low;
  Eigen::Map<Vec3>(record.high) = box.high;
  if (box.empty()) {
    record.low[0] = std::numeric_limits<float>::infinity();
  }
  return record;
}

}  // namespace

std::string DeviceJudge::unfit(const EnlargedBoxes& enlarged, const Judge& judge) {
  if (!(judge.unit() <= 1) || !(judge.enlarged_unit() <= 1)) {
    return "the slack is above 2^24";
  }
  for (std::size_t model = 0; model < enlarged.models(); ++model) {
    for (const std::vector<bvh::Box>& boxes : enlarged.boxes(model)) {
      const bool fit = tbb::parallel_reduce(
          tbb::blocked_range<std::size_t>(0, boxes.size(), kGrain), true,
          [&](const auto& range, bool so_far) {
            for (std::size_t i = range.begin(); so_far && i < range.end(); ++i) {
              so_far = boxes[i].empty() || is_finite(boxes[i]);
            }
            return so_far;
          },
          [](bool a, bool b) { return a && b; });
      if (!fit) {
        return "an enlarged box reaches beyond the largest float";
      }
    }
  }
  return {};
}

DeviceJudge::DeviceJudge(kernels::Device& device, const bvh::PreparedScene& scene, const EnlargedBoxes& enlarged,
                         const Judge& judge)
    : scene_(&scene), enlarged_(&enlarged), judge_(&judge) {
  const kernels::JudgeScene description = describe();
  kernel_.emplace(device, description);
}

kernels::JudgeScene DeviceJudge::describe() {
  // Only boxes of structures that an active instance uses are ever read.
  std::vector<bool> used(scene_->blases.size(), false);
  for (const bvh::SceneInstance& instance : scene_->instances) {
    if (instance.active) {
      used[instance.blas] = true;
    }
  }
  first_box_.assign(1, 0);
  for (std::size_t blas = 0; blas < scene_->blases.size(); ++blas) {
    first_box_.push_back(first_box_.back() + (used[blas] ? scene_->blases[blas].primitives() : 0));
  }
  std::uint64_t objects = 0;
  for (const bvh::SceneInstance& instance : scene_->instances) {
    kernels::InstanceRecord record{};
    Instance known{objects, true};
    record.first_object = objects;
    if (instance.blas < scene_->blases.size()) {
      objects += scene_->blases[instance.blas].primitives();
    } else {
      known.usable = false;
    }
    if (instance.active) {
      record.first_box = first_box_[instance.blas];
      record.flags = kernels::kInstanceActive | (instance.identity ? kernels::kInstanceIdentity : 0);
      Eigen::Map<Transformd>(record.to_object) = instance.to_object;
      known.usable = instance.identity || instance.to_object.unaryExpr(&is_exact).all();
    }
    instances_.push_back(known);
    instance_records_.push_back(record);
  }
  kernels::JudgeScene description;
  description.instances = instance_records_;
  description.fill_boxes = [this](std::uint64_t first, std::span<kernels::BoxRecord> to) { fill_boxes(first, to); };
  description.boxes_a_model = first_box_.back();
  description.models = static_cast<std::uint32_t>(enlarged_->models());
  description.objects = objects;
  description.unit = judge_->unit();
  description.enlarged_unit = judge_->enlarged_unit();
  description.culls = judge_->known().culls;
  description.clips = judge_->known().clips;
  return description;
}

void DeviceJudge::fill_boxes(std::uint64_t first, std::span<kernels::BoxRecord> to) const {
  const std::uint64_t a_model = first_box_.back();
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, to.size(), kGrain), [&](const auto& range) {
    std::size_t blas = 0;
    for (std::uint64_t i = range.begin(); i < range.end(); ++i) {
      const std::uint64_t place = (first + i) % a_model;
      const std::uint64_t model = (first + i) / a_model;  // 0: the primitives' own
      if (place < first_box_[blas] || place >= first_box_[blas + 1]) {
        const auto next = std::upper_bound(first_box_.begin(), first_box_.end(), place);
        blas = static_cast<std::size_t>(next - first_box_.begin()) - 1;
      }
      const auto number = static_cast<std::uint32_t>(place - first_box_[blas]);
      const auto owner = static_cast<std::uint32_t>(blas);
      to[i] = record_of(model == 0 ? scene_->primitive_box(owner, number) : enlarged_->box(model - 1, owner, number));
    }
  });
}

void DeviceJudge::begin(const Batch& batch) {
  batch_ = batch;
  rays_.resize(batch.rays);
  usable_rays_.assign(batch.rays, 0);
  kernels::TestRecord left_out{};
  left_out.flags = kernels::kTestLeftOut;
  tests_.assign(batch.tests, left_out);
  judged_ = nullptr;
}

void DeviceJudge::set_ray(std::uint64_t place, std::uint64_t thread, const Ray& ray, float t_star, bool assumed) {
  usable_rays_[place] = is_usable(ray) && is_distance(t_star) ? 1 : 0;
  rays_[place] = {ray.origin[0],
                  ray.origin[1],
                  ray.origin[2],
                  ray.t_min,
                  ray.direction[0],
                  ray.direction[1],
                  ray.direction[2],
                  ray.t_max,
                  t_star,
                  static_cast<std::uint32_t>(thread - batch_.first_thread),
                  (ray.ends_on_first_hit() ? kernels::kRayFirstHit : 0) | (assumed ? kernels::kRayAssumed : 0)};
}

bool DeviceJudge::set_test(std::uint64_t test_number, std::uint64_t ray_number, const JudgedTest& test) {
  const Candidate& candidate = test.candidate;
  if (usable_rays_[ray_number] == 0 || !is_distance(test.t_max) || (test.hit && !is_distance(test.t)) ||
      candidate.instance >= instances_.size() || !instances_[candidate.instance].usable) {
    return false;
  }
  const bvh::SceneBlas& blas = scene_->blases[scene_->instances[candidate.instance].blas];
  if (std::uint64_t{candidate.geometry} + 1 >= blas.first_primitive.size() ||
      candidate.primitive >= blas.first_primitive[candidate.geometry + 1] - blas.first_primitive[candidate.geometry]) {
    return false;
  }
  tests_[test_number] = {static_cast<std::uint32_t>(ray_number),
                         candidate.instance,
                         blas.first_primitive[candidate.geometry] + candidate.primitive,
                         (test.hit ? kernels::kTestHit : 0) | (test.procedural ? 0 : kernels::kTestTriangle),
                         test.hit ? test.t : 0,
                         test.t_max};
  return true;
}

void DeviceJudge::judge(Accumulator& sums) {
  kernels::JudgeBatch batch;
  batch.rays = rays_;
  batch.tests = tests_;
  batch.threads = static_cast<std::uint32_t>(batch_.threads);
  batch.verdicts = batch_.verdicts || !kernel_->counts_objects();
  batch.per_ray = sums.per_ray();
  judged_ = &kernel_->judge(batch);
  Accumulator::Worker& worker = sums.local();
  for (std::size_t goal = 0; goal < 2; ++goal) {
    for (std::size_t type = 0; type < 2; ++type) {
      for (std::size_t kind = 0; kind < kTestKinds; ++kind) {
        worker.split[goal][type][kind] += judged_->small[(goal * 2 + type) * kTestKinds + kind];
      }
    }
  }
  worker.inactive_tests += judged_->small[kernels::kSmallInactive];
  worker.late_tests += judged_->small[kernels::kSmallLate];
  worker.assumed_tests += judged_->small[kernels::kSmallAssumed];
  sums.add_rows(judged_->by_thread, batch_.first_thread, judged_->by_ray, batch_.first_ray);
  if (!kernel_->counts_objects()) {
    count_objects(sums, *judged_);
  }
}

void DeviceJudge::count_objects(Accumulator& sums, const kernels::JudgedBatch& judged_batch) const {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, tests_.size(), kGrain), [&](const auto& range) {
    Accumulator::Worker& worker = sums.local();
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      if (judged(i)) {
        const std::uint32_t blas = scene_->instances[tests_[i].instance].blas;
        const auto [geometry, primitive] = scene_->locate(blas, tests_[i].number);
        worker.objects.count({tests_[i].instance, geometry, primitive},
                             static_cast<TestKind>(judged_batch.verdicts[i].kind_and_flags & kernels::kVerdictKind));
      }
    }
  });
}

Verdict DeviceJudge::verdict(std::uint64_t place) const {
  const kernels::VerdictRecord& record = judged_->verdicts[place];
  return {static_cast<TestKind>(record.kind_and_flags & kernels::kVerdictKind), std::bit_cast<float>(record.t_enter),
          (record.kind_and_flags & kernels::kVerdictInactive) != 0,
          (record.kind_and_flags & kernels::kVerdictLate) != 0};
}

std::vector<ObjectCounts> DeviceJudge::objects() {
  std::vector<ObjectCounts> objects;
  if (!kernel_->counts_objects()) {
    return objects;
  }
  const std::vector<std::uint64_t> counts = kernel_->objects();
  for (std::uint32_t instance = 0; instance < instances_.size(); ++instance) {
    if (!instances_[instance].usable) {
      continue;
    }
    const bvh::SceneBlas& blas = scene_->blases[scene_->instances[instance].blas];
    for (std::uint32_t geometry = 0; geometry + 1 < blas.first_primitive.size(); ++geometry) {
      for (std::uint32_t number = blas.first_primitive[geometry]; number < blas.first_primitive[geometry + 1];
           ++number) {
        const std::uint64_t* const row = &counts[(instances_[instance].first_object + number) * kTestKinds];
        if (std::any_of(row, row + kTestKinds, [](std::uint64_t count) { return count != 0; })) {
          ObjectCounts& object = objects.emplace_back();
          object = {instance, geometry, number - blas.first_primitive[geometry], {}};
          std::copy(row, row + kTestKinds, object.counts.begin());
        }
      }
    }
  }
  return objects;
}

namespace {

void classify_there(kernels::Device& device, const bvh::PreparedScene& scene, const EnlargedBoxes& enlarged,
                    const Judge& judge, const std::function<void(BatchJudge*)>& classify) {
  const std::string why_not = DeviceJudge::unfit(enlarged, judge);
  if (!why_not.empty()) {
    throw NoKernel{why_not};
  }
  DeviceJudge there(device, scene, enlarged, judge);
  classify(&there);
}

const decltype(judge_twin)::Registrar kJudgeTwin(judge_twin,
                                                 {.run = kernels::first_device(classify_there),
                                                  .only_first = true,
                                                  .needs = [](auto&&...) { return DeviceNeeds{.float64 = true}; }});

}  // namespace
}  // namespace rayreplay::traversal
