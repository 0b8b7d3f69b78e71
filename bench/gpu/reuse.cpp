// Exact reuse distances (kernels/reuse) of 100 million accesses: an L1 for each of 80 SMs, and one stack.
//
// Bytes: what the passes of kernels/reuse/reuse.hpp read and write, gathers and scatters counted as the words they
// move.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "bench/gpu/access_streams.hpp"
#include "bench/gpu/gpu_case.hpp"
#include "kernels/reuse/reuse.hpp"
#include "sim/memory/reuse/reuse_stacks.hpp"

namespace rayreplay::bench {
namespace {

constexpr double kAccesses = 100e6;

class ReuseCase {
 public:
  ReuseCase(kernels::Device& device, AccessStreams streams)
      : device_(&device),
        streams_(std::move(streams)),
        size_(streams_.lines.size()),
        keys_(device.allocate_array<std::uint32_t>(size_, "lines, kept")),
        begins_(device.allocate_array<std::uint32_t>(streams_.begins.size(), "beginnings")),
        space_(kernels::make_reuse_space(device, size_, sizeof(std::uint32_t))),
        links_(kernels::make_use_links(device, size_)) {
    kernels::Stream stream(device);
    stream.upload_array(keys_, std::vector<std::uint32_t>(streams_.lines.begin(), streams_.lines.end()));
    stream.upload_array(begins_, std::vector<std::uint32_t>(streams_.begins.begin(), streams_.begins.end()));
    stream.wait();
  }

  void on_device() {
    kernels::Stream stream(*device_);
    stream.copy(keys_, 0, space_.keys, 0, size_ * sizeof(std::uint32_t));
    kernels::link_uses(*device_, stream, size_, streams_.bits(), begins_,
                       static_cast<std::uint32_t>(streams_.begins.size() - 1), space_, links_);
    found_ = &kernels::reuse_distances(*device_, stream, size_, links_, space_);
    stream.wait();
  }
  void on_processor() {
    twin_ = memory::distances_of_streams(streams_.lines, streams_.begins, nullptr);
  }
  void check() const {
    std::vector<std::uint32_t> found(size_);
    kernels::Stream stream(*device_);
    stream.download_array(*found_, found);
    stream.wait();
    if (found != twin_) {
      throw Error(ErrorKind::Internal, {"reuse distances differ between device and processor", "", "", "", ""});
    }
  }
  [[nodiscard]] double bytes() const {
    constexpr double kWord = 4;
    const std::uint64_t passes = (streams_.bits() + 7) / 8;
    double levels = 0;
    for (std::uint64_t tiles = size_ / 2048; tiles > 1; tiles /= 16) {
      ++levels;
    }
    // Copy and numbers 3; a pass of the sort 5; links 3; permutation 4; a level 5; leaves 3; distances 2.
    return kWord * static_cast<double>(size_) * (static_cast<double>(3 + 5 * passes + 3 + 4 + 3 + 2) + 5 * levels);
  }
  [[nodiscard]] std::string size(const char* what) const {
    return fmt::format("{:.4g} M accesses, {}", static_cast<double>(size_) * 1e-6, what);
  }
  [[nodiscard]] double accesses() const {
    return static_cast<double>(size_);
  }

 private:
  kernels::Device* device_;
  AccessStreams streams_;
  std::uint64_t size_;
  kernels::Buffer keys_, begins_;
  kernels::ReuseSpace space_;
  kernels::UseLinks links_;
  const kernels::Buffer* found_ = nullptr;
  std::vector<std::uint32_t> twin_;
};

PreparedCase prepared(const std::shared_ptr<ReuseCase>& one, const char* what) {
  return {.size = one->size(what),
          .unit = "accesses",
          .items = one->accesses(),
          .least_bytes = one->bytes(),
          .device = [one] { one->on_device(); },
          .cpu = [one] { one->on_processor(); },
          .check = [one] { one->check(); }};
}

std::size_t scaled(double scale) {
  return static_cast<std::size_t>(std::max(1e4, kAccesses * scale));
}

const GpuCases::Registrar kSms(
    {.kernel = "exact reuse distances, 80 stacks", .needs = {}, .prepare = [](kernels::Device& device, double scale) {
       return prepared(std::make_shared<ReuseCase>(device, traversal_streams(scaled(scale))), "incoherent traversal");
     }});
const GpuCases::Registrar kOne(
    {.kernel = "exact reuse distances, one stack", .needs = {}, .prepare = [](kernels::Device& device, double scale) {
       return prepared(std::make_shared<ReuseCase>(device, uniform_streams(scaled(scale))), "4 M lines, uniform");
     }});

}  // namespace
}  // namespace rayreplay::bench
