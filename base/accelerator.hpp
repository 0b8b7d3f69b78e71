// Where stages run: on the processor, or on one or several devices, with the processor to fall back on.
//
// Contract: this room knows devices by name alone; `kernels/` opens them. A stage asks `run` for its result:
// `on_devices` computes it on the accelerator's devices, `on_cpu` gives the same on the processor (base/twin.hpp joins
// the two). `on_cpu` runs instead if there is no device, if every device lacks a feature of `needs`, or if `on_devices`
// throws NoKernel or DeviceError. With `required` (the user named the devices) a DeviceError is rethrown, and `run`
// throws one when all devices are lost. A lost device is not used again. Each fallback is logged once, except NoKernel.
// `records` lists the device of every stage, and the reason if the CPU ran it. A null Accelerator* means the processor,
// without records. One thread at a time calls `run`.
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

/// Features that only some kernels require of a device.
struct DeviceNeeds {
  bool float64 = false;
  bool int64_atomics = false;  ///< on 64-bit words of buffers
  bool operator==(const DeviceNeeds&) const = default;
};

/// A device that runs kernels. Only kernels/ knows the concrete type.
class ComputeDevice {
 public:
  ComputeDevice() = default;
  ComputeDevice(const ComputeDevice&) = delete;
  ComputeDevice& operator=(const ComputeDevice&) = delete;
  virtual ~ComputeDevice() = default;

  [[nodiscard]] virtual const std::string& name() const = 0;
  /// The features of `needs` that the device lacks, in words; empty: none.
  [[nodiscard]] virtual std::string lacks(const DeviceNeeds& needs) const = 0;
  [[nodiscard]] virtual bool is_lost() const = 0;
};

/// `Memory`: device memory is too small for this call; the device stays usable, and the caller may retry with smaller
/// batches. `Lost`: the driver reported the device as lost. `Unsupported`: the device lacks a feature that this call
/// needs; the message names the feature.
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

/// Thrown by a stage that has no kernel for the requested configuration. The processor computes the stage, even if the
/// user named a device.
struct NoKernel {
  std::string reason;
};

struct StageRecord {
  std::string stage;   ///< "replay", "sort", …
  std::string device;  ///< the devices' names; "CPU"
  std::string reason;  ///< why the CPU ran the stage although there were devices
  std::uint64_t runs = 0;

  bool operator==(const StageRecord&) const = default;
};

/// Device data uploaded or derived from an object, kept between calls. Only kernels/ knows the type.
using DeviceSlot = std::shared_ptr<void>;
/// A copy of an object in device memory, owned by the object. Only kernels/ knows the type.
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
  /// The devices that are not lost.
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

  /// Records that a stage ran on the processor because it has no kernel.
  void note_cpu(std::string_view stage, const std::string& reason);

  [[nodiscard]] const std::vector<StageRecord>& records() const {
    return records_;
  }

 private:
  /// The devices that have `needs`. If there are none, the reason is recorded and logged.
  [[nodiscard]] std::vector<ComputeDevice*> able_devices(std::string_view stage, const DeviceNeeds& needs);
  void record(std::string_view stage, Devices devices);
  void add_record(std::string_view stage, std::string device, std::string reason);
  /// Writes a fallback to `log`, once for each stage and reason.
  void tell(std::string_view stage, const std::string& reason) const;
  /// Rethrows the error if the user named the devices.
  void fall_back(std::string_view stage, const DeviceError& error);

  std::vector<std::unique_ptr<ComputeDevice>> devices_;
  std::vector<bool> lost_;
  bool required_ = false;
  Log log_;
  std::vector<StageRecord> records_;
};

}  // namespace rayreplay
