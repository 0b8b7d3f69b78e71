#include "kernels/classification/judge_tests.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "JudgeTests.spv.hpp"
#include "kernels/arithmetic/arithmetic_check.hpp"
#include "kernels/device/growing.hpp"
#include "kernels/reduction/sum_by_key.hpp"

namespace rayreplay::kernels {
namespace {

constexpr std::uint64_t kGroup = 128;

struct Push {
  std::uint32_t first_group = 0;
  std::uint32_t count = 0;
  std::uint32_t models = 0;
  std::uint32_t hardware = 0;
  std::uint64_t tests = 0;
  std::uint64_t rays = 0;
  std::uint64_t instances = 0;
  std::uint64_t boxes = 0;
  std::uint64_t boxes_a_model = 0;
  std::uint64_t verdicts = 0;
  std::uint64_t thread_keys = 0;
  std::uint64_t ray_keys = 0;
  std::uint64_t object_keys = 0;
  std::uint64_t small_sums = 0;
  double unit = 0;
  double enlarged_unit = 0;
};

bool have_room(const Device& device, std::uint64_t objects) {
  const std::uint64_t bytes = objects * kJudgedKinds * sizeof(std::uint64_t);
  return objects <= kMaxRecords && bytes <= device.free_bytes() / 4;
}

void require_few(std::uint64_t count, const char* what) {
  if (count > kMaxRecords) {
    throw Error(ErrorKind::Usage, {fmt::format("too many {} in one batch", what), "kernels::TestJudge",
                                   fmt::format("{}", count), fmt::format("at most {}", kMaxRecords), ""});
  }
}

}  // namespace

struct TestJudge::State {
  State(Device& own_device, const JudgeScene& scene) : device(own_device), stream(own_device) {
    require_exact_doubles(device);
    program = std::make_unique<Program>(device.program({"judging tests", kJudgeTests, {.float64 = true}}));
    instances = device.allocate_array<InstanceRecord>(scene.instances.size(), "instances of the classification");
    stream.upload_array(instances, scene.instances);
    upload_boxes(scene);
    if (have_room(device, scene.objects)) {
      object_count = scene.objects;
      objects = device.allocate_array<std::uint64_t>(object_count * kJudgedKinds, "counts of objects");
      stream.fill(objects, 0);
    }
    fixed.models = scene.models;
    fixed.hardware = (scene.culls ? kHardwareCulls : 0) | (scene.clips ? kHardwareClips : 0);
    fixed.instances = instances.address();
    fixed.boxes = boxes.address();
    fixed.boxes_a_model = scene.boxes_a_model;
    fixed.unit = scene.unit;
    fixed.enlarged_unit = scene.enlarged_unit;
  }

  void upload_boxes(const JudgeScene& scene) {
    constexpr std::uint64_t kPiece = std::uint64_t{1} << 20U;
    const std::uint64_t count = scene.boxes_a_model * (scene.models + std::uint64_t{1});
    boxes = device.allocate_array<BoxRecord>(count, "boxes of the classification");
    std::vector<BoxRecord> piece;
    for (std::uint64_t first = 0; first < count; first += kPiece) {
      piece.resize(std::min(kPiece, count - first));
      scene.fill_boxes(first, piece);
      stream.upload_array(boxes, piece, first);
    }
  }

  /// Sums by the keys that the kernel wrote for each test, downloaded to `to`.
  void count(const Buffer& keys, std::uint64_t items, std::uint64_t rows, Growing& sums,
             std::vector<std::uint64_t>& to) {
    to.resize(rows * kJudgedKinds);
    const std::uint64_t bytes = to.size() * sizeof(std::uint64_t);
    const Buffer& there = sums.of(device, stream, bytes);
    if (bytes == 0) {
      return;
    }
    stream.fill(there, 0, 0, bytes);
    sum_by_key(device, stream, {items, &keys}, static_cast<std::uint32_t>(to.size()), there);
    stream.download_array(there, to);
  }

  Device& device;
  Stream stream;
  std::unique_ptr<Program> program;
  Push fixed;
  Buffer instances, boxes, objects;
  std::uint64_t object_count = 0;
  Growing rays{"rays of the classification"}, tests{"tests of the classification"}, verdicts{"verdicts"},
      small{"sums of kinds"};
  Growing thread_keys{"threads of tests"}, ray_keys{"rays of tests"}, object_keys{"objects of tests"};
  Growing thread_sums{"counts of threads"}, ray_sums{"counts of rays"};
  JudgedBatch result;
};

TestJudge::TestJudge(Device& device, const JudgeScene& scene) : state_(std::make_unique<State>(device, scene)) {}
TestJudge::~TestJudge() = default;

bool TestJudge::counts_objects() const {
  return state_->objects.bytes() > 0;
}

const JudgedBatch& TestJudge::judge(const JudgeBatch& batch) {
  State& own = *state_;
  require_few(batch.rays.size(), "rays");
  require_few(batch.tests.size(), "tests");
  require_few(batch.threads, "threads");
  const std::uint64_t count = batch.tests.size();
  const std::uint64_t key_bytes = count * sizeof(std::uint32_t);
  const auto memory = [&own](Growing& growing, std::uint64_t bytes) -> const Buffer& {
    return growing.of(own.device, own.stream, bytes);
  };
  const Buffer& rays = memory(own.rays, batch.rays.size_bytes());
  const Buffer& tests = memory(own.tests, batch.tests.size_bytes());
  const Buffer& small = memory(own.small, sizeof(own.result.small));
  const Buffer& thread_keys = memory(own.thread_keys, key_bytes);
  const Buffer& ray_keys = memory(own.ray_keys, batch.per_ray ? key_bytes : 0);
  const Buffer& object_keys = memory(own.object_keys, counts_objects() ? key_bytes : 0);
  const Buffer& verdicts = memory(own.verdicts, batch.verdicts ? count * sizeof(VerdictRecord) : 0);
  own.result = {};
  if (count > 0) {
    own.stream.upload_array(rays, batch.rays);
    own.stream.upload_array(tests, batch.tests);
    own.stream.fill(small, 0);
    Push push = own.fixed;
    push.count = static_cast<std::uint32_t>(count);
    push.tests = tests.address();
    push.rays = rays.address();
    push.small_sums = small.address();
    push.thread_keys = thread_keys.address();
    push.ray_keys = batch.per_ray ? ray_keys.address() : 0;
    push.object_keys = counts_objects() ? object_keys.address() : 0;
    push.verdicts = batch.verdicts ? verdicts.address() : 0;
    own.stream.run(*own.program, (count + kGroup - 1) / kGroup, push);
    own.stream.download_array(small, own.result.small);
    own.count(thread_keys, count, batch.threads, own.thread_sums, own.result.by_thread);
    if (batch.per_ray) {
      own.count(ray_keys, count, batch.rays.size(), own.ray_sums, own.result.by_ray);
    }
    if (counts_objects()) {
      sum_by_key(own.device, own.stream, {count, &object_keys},
                 static_cast<std::uint32_t>(own.object_count * kJudgedKinds), own.objects);
    }
    if (batch.verdicts) {
      own.result.verdicts.resize(count);
      own.stream.download_array(verdicts, own.result.verdicts);
    }
  } else {
    own.result.by_thread.assign(batch.threads * std::size_t{kJudgedKinds}, 0);
    own.result.by_ray.assign(batch.per_ray ? batch.rays.size() * kJudgedKinds : 0, 0);
  }
  own.stream.wait();
  return own.result;
}

std::vector<std::uint64_t> TestJudge::objects() {
  std::vector<std::uint64_t> counts(state_->object_count * kJudgedKinds);
  if (!counts.empty()) {
    state_->stream.download_array(state_->objects, counts);
  }
  state_->stream.wait();
  return counts;
}

}  // namespace rayreplay::kernels
