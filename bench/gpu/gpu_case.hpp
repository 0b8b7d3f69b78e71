// One row of bench/gpu's table: a kernel, its size, and its CPU twin.
//
// Contract: a file of this folder registers its cases with a static GpuCases::Registrar. `prepare` makes the input for
// a scale (1: the size that figures are published for; smaller: that share of it, at least something) and returns what
// runs it. Every call of `device` must do the whole work anew on what is already in device memory (uploads belong into
// `prepare` or the case says otherwise in its size), and must have ended when it returns. The harness takes the time
// from the device's own clock (Device::times) and the wall clock, the twin's from the wall clock on all cores, and the
// share of the device's copy bandwidth from `least_bytes`. `check` compares the two results and throws where they
// differ.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/device.hpp"

namespace rayreplay::bench {

struct PreparedCase {
  std::string size;              ///< "100 M events, 42 % efficiency"
  std::string unit;              ///< of a rate: "events", "rays", "keys"
  double items = 0;              ///< of one run, in that unit
  double least_bytes = 0;        ///< that one run must read and write in device memory; 0: not a matter of memory
  std::function<void()> device;  ///< on the device that `prepare` got
  std::function<void()> cpu;     ///< the twin; empty: a peer on the same device, which has none
  std::function<void()> check;   ///< after both ran; may be empty
  bool by_wall_clock = false;    ///< the work on the processor and the copies count, too: of a whole experiment
  /// Of a peer with a device of its own: the seconds of the latest run, by that device's clock; else empty.
  std::function<double()> clock{};
};

struct GpuCase {
  std::string kernel;  ///< "radix sort, 64-bit keys, 32-bit payload"
  kernels::Needs needs{};
  std::function<PreparedCase(kernels::Device&, double scale)> prepare;
};

class GpuCases {
 public:
  [[nodiscard]] static std::vector<GpuCase>& all() {
    static std::vector<GpuCase> cases;
    return cases;
  }
  struct Registrar {
    explicit Registrar(GpuCase one) {
      all().push_back(std::move(one));
    }
  };
};

}  // namespace rayreplay::bench
