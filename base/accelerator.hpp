// Where stages run: on the processor, or on one or several devices, with the processor to fall back on.
//
// Contract: this room knows devices by name alone; `kernels/` opens them. A stage asks `run` for its result:
// `on_devices` computes it on the accelerator's devices, `on_cpu` gives the same on the processor (base/twin.hpp joins
// the two). `on_cpu` runs instead when there is no device, when all devices lack what `needs` names, when `on_devices`
// throws NoKernel, and when it throws DeviceError. Devices that were asked for by name (`required`) are not replaced:
// their DeviceError goes on to the caller, as it does once all are lost. A lost device is not used again. Every fall
// back is told to `log` once; that a configuration has no kernel is not. `records` says which device ran which stage,
// and why not. A null Accelerator* means: the processor, nothing is recorded. `run` is for one thread at a time.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace rayreplay {

/// What some kernels ask of a device beyond what all do.
struct DeviceNeeds {
  bool float64 = false;
  bool int64_atomics = false;  ///< on 64-bit words of buffers
  bool operator==(const DeviceNeeds&) const = default;
};

/// A device that computes; what it can do is known in kernels/ alone.
class ComputeDevice {
 public:
  ComputeDevice() = default;
  ComputeDevice(const ComputeDevice&) = delete;
  ComputeDevice& operator=(const ComputeDevice&) = delete;
  virtual ~ComputeDevice() = default;

  [[nodiscard]] virtual const std::string& name() const = 0;
  /// What of `needs` the device lacks, in words; empty: nothing.
  [[nodiscard]] virtual std::string lacks(const DeviceNeeds& needs) const = 0;
  [[nodiscard]] virtual bool is_lost() const = 0;
};

/// `Memory`: the device has too little of it for this call; it works on, and a caller may ask for less at a time.
/// `Lost`: the driver gave the device up. `Unsupported`: it lacks a feature that this call needs; the message names it.
enum class Fault { Memory, Lost, Unsupported };

/// A device failed while it worked. Results of a call that threw are undefined.
class DeviceError : public Error {
 public:
  DeviceError(Fault fault, ErrorInfo info)
      : Error(fault == Fault::Unsupported ? ErrorKind::Missing : ErrorKind::Resource, std::move(info)), fault_(fault) {}

  [[nodiscard]] Fault fault() const noexcept {
    return fault_;
  }

 private:
  Fault fault_;
};

/// There is no kernel for what a stage was asked: the processor does it, also where a device was asked for by name.
struct NoKernel {
  std::string reason;
};

struct StageRecord {
  std::string stage;   ///< "replay", "sort", …
  std::string device;  ///< the devices' names; "CPU"
  std::string reason;  ///< of the CPU, where devices were there: why not they
  std::uint64_t runs = 0;

  bool operator==(const StageRecord&) const = default;
};

/// Where kernels keep what they upload of an object, or derive from it, from call to call. Typed in kernels/ alone.
using DeviceSlot = std::shared_ptr<void>;
/// A result in the memory of a device, beside the object that it is a copy of. Typed in kernels/ alone.
using DeviceCopy = std::shared_ptr<const void>;

class Accelerator {
 public:
  using Log = std::function<void(const std::string&)>;
  using Devices = std::span<ComputeDevice* const>;

  /// No devices: everything runs on the processor.
  Accelerator() = default;
  template <std::derived_from<ComputeDevice> Device>
  Accelerator(std::vector<std::unique_ptr<Device>> devices, bool required, Log log)
      : devices_(std::make_move_iterator(devices.begin()), std::make_move_iterator(devices.end())),
        lost_(devices_.size(), false),
        required_(required),
        log_(std::move(log)) {}

  [[nodiscard]] bool has_device() const;
  /// Those that are not lost.
  [[nodiscard]] std::vector<ComputeDevice*> devices() const;

  /// `on_devices(Devices)` gets the devices that have `needs`, at least one; `only_first`: the first of them.
  template <class OnDevices, class OnCpu>
  auto run(std::string_view stage, const DeviceNeeds& needs, const OnDevices& on_devices, const OnCpu& on_cpu,
           bool only_first = false) {
    std::vector<ComputeDevice*> able = able_devices(stage, needs);
    if (!able.empty()) {
      able.resize(only_first ? 1 : able.size());
      try {
        if constexpr (std::is_void_v<decltype(on_devices(Devices(able)))>) {
          on_devices(Devices(able));
          return record(stage, able);
        } else {
          auto result = on_devices(Devices(able));
          record(stage, able);
          return result;
        }
      } catch (const NoKernel& no_kernel) {
        note_cpu(stage, no_kernel.reason);
      } catch (const DeviceError& error) {
        fall_back(stage, error);
      }
    }
    return on_cpu();
  }

  /// Notes that a stage ran on the processor for want of a kernel.
  void note_cpu(std::string_view stage, const std::string& reason);

  [[nodiscard]] const std::vector<StageRecord>& records() const {
    return records_;
  }

 private:
  /// Records and tells why none is able.
  [[nodiscard]] std::vector<ComputeDevice*> able_devices(std::string_view stage, const DeviceNeeds& needs);
  void record(std::string_view stage, Devices devices);
  void add_record(std::string_view stage, std::string device, std::string reason);
  /// To `log`, once.
  void tell(std::string_view stage, const std::string& reason) const;
  /// Throws the error on if devices were asked for by name.
  void fall_back(std::string_view stage, const DeviceError& error);

  std::vector<std::unique_ptr<ComputeDevice>> devices_;
  std::vector<bool> lost_;
  bool required_ = false;
  Log log_;
  std::vector<StageRecord> records_;
};

}  // namespace rayreplay
