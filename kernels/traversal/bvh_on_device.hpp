// A traced scene's acceleration structures in device memory, kept between batches.
//
// Contract: made for one Bvh, which must outlive it unchanged, and kept in a DeviceSlot (TraceOptions::on_device). `on`
// uploads it at its first use on a device, which must outlive it. Layouts binary, wide-8 and compressed-wide-8. `unfit`
// says why no kernel can traverse it (another layout; more references or records than a stack entry's word can number,
// from 2^26, with smaller leaves up to 2^30; a grid whose planes leave the range of floats); empty: some kernel can.
// Device memory: the nodes, 48 bytes a reference of a leaf, 128 an instance; with `for_logs` also index triples and
// vertex orders. Different threads may use different devices.
//
// The first `on` checks the device's arithmetic (sums, products and conversions rounded to nearest, minima with NaNs,
// quotients after correction) and throws DeviceError, Unsupported, if it differs. Devices may flush denormals to zero:
// their results equal the processor's as long as no denormal float arises: no coordinate, difference of coordinates or
// slab distance between 0 and 2^-126, no direction above 2^125. Errors: DeviceError, std::bad_alloc.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "bvh/bvh.hpp"
#include "kernels/device/device.hpp"

namespace rayreplay::kernels {

enum class NodeKind : std::uint32_t { Binary, Wide8, Compressed8 };  ///< values as in nodes.glsl

class BvhOnDevice {
 public:
  explicit BvhOnDevice(const bvh::Bvh& bvh);
  ~BvhOnDevice();
  BvhOnDevice(const BvhOnDevice&) = delete;
  BvhOnDevice& operator=(const BvhOnDevice&) = delete;

  [[nodiscard]] const bvh::Bvh& bvh() const {
    return *bvh_;
  }
  [[nodiscard]] const std::string& unfit() const {
    return unfit_;
  }
  [[nodiscard]] NodeKind nodes() const {
    return nodes_;
  }
  /// The bits of a child's word for the number of references (nodes.glsl).
  [[nodiscard]] std::uint32_t count_bits() const {
    return count_bits_;
  }
  /// Upper bound of entries on the stack of a depth-first traversal.
  [[nodiscard]] std::uint32_t most_waiting() const {
    return most_waiting_;
  }

  /// Address of the scene's record (records.h).
  [[nodiscard]] std::uint64_t on(Device& device, Stream& stream, bool for_logs) const;

 private:
  struct OnOne;

  [[nodiscard]] OnOne& place_for(Device& device) const;

  const bvh::Bvh* bvh_;
  std::string unfit_;
  NodeKind nodes_ = NodeKind::Binary;
  std::uint32_t count_bits_ = 1;
  std::uint32_t most_waiting_ = 0;
  mutable std::mutex mutex_;
  mutable std::map<Device*, std::unique_ptr<OnOne>> devices_;
};

}  // namespace rayreplay::kernels
