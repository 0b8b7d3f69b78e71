// Where stages run: on the processor, or on one or several Vulkan devices, with the processor to fall back on.
//
// Contract: a stage that has kernels asks `run` for its result: `on_device` computes it on the accelerator's devices,
// `on_cpu` is the twin that gives the same. `on_cpu` runs instead when there is no device, when all devices lack what
// `needs` names, and when `on_device` throws DeviceError, unless the devices were asked for by name (`required`): then
// that error goes on to the caller, as it does once all are lost. A lost device is not used again. Every fall back is
// told to `log` once; that a configuration has no kernel (`note_cpu`) is not. Which device ran which stage, and why
// not, is kept in `records`. An Accelerator* that is null means: the processor, nothing to be recorded. `run` is for
// one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/device/device.hpp"

namespace rayreplay::kernels {

struct StageRecord {
  std::string stage;   ///< "replay", "sort", …
  std::string device;  ///< the devices' names; "CPU"
  std::string reason;  ///< of the CPU, where devices were there: why not they
  std::uint64_t runs = 0;

  bool operator==(const StageRecord&) const = default;
};

class Accelerator {
 public:
  using Log = std::function<void(const std::string&)>;

  /// No devices: everything runs on the processor.
  Accelerator(std::vector<std::unique_ptr<Device>> devices, bool required, Log log);

  [[nodiscard]] bool has_device() const;
  /// Those that are not lost.
  [[nodiscard]] std::vector<Device*> devices() const;

  /// `on_device(std::span<Device* const>)` gets the devices that have `needs`, at least one.
  template <class OnDevice, class OnCpu>
  auto run(std::string_view stage, const Needs& needs, const OnDevice& on_device, const OnCpu& on_cpu) {
    const std::vector<Device*> able = able_devices(stage, needs);
    if (!able.empty()) {
      try {
        auto result = on_device(std::span<Device* const>(able));
        record(stage, able);
        return result;
      } catch (const DeviceError& error) {
        fall_back(stage, error);
      }
    }
    return on_cpu();
  }

  /// The same for stages that use one device: `on_device(Device&)` gets the first that is able.
  template <class OnDevice, class OnCpu>
  auto run_on_one(std::string_view stage, const Needs& needs, const OnDevice& on_device, const OnCpu& on_cpu) {
    const std::vector<Device*> able = able_devices(stage, needs);
    if (!able.empty()) {
      try {
        auto result = on_device(*able.front());
        record(stage, {able.front()});
        return result;
      } catch (const DeviceError& error) {
        fall_back(stage, error);
      }
    }
    return on_cpu();
  }

  /// Notes that a stage ran on the processor for want of a kernel: for configurations that have none.
  void note_cpu(std::string_view stage, const std::string& reason);

  [[nodiscard]] const std::vector<StageRecord>& records() const {
    return records_;
  }

 private:
  /// Records and tells why none is able.
  [[nodiscard]] std::vector<Device*> able_devices(std::string_view stage, const Needs& needs);
  void record(std::string_view stage, const std::vector<Device*>& devices);
  void add_record(std::string_view stage, std::string device, std::string reason);
  /// To `log`, once.
  void tell(std::string_view stage, const std::string& reason) const;
  /// Throws the error on if devices were asked for by name.
  void fall_back(std::string_view stage, const DeviceError& error);

  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<bool> lost_;
  bool required_;
  Log log_;
  std::vector<StageRecord> records_;
};

/// `choice`: "auto" (the fittest GPU, discrete before integrated before virtual; the processor where there is none),
/// "cpu", "vulkan" (as auto, but an error where there is none), "vulkan:N", "all" (every GPU), a part of a name or a
/// uuid, or several of the latter three between commas. Devices that are processors themselves (lavapipe) are taken
/// only by number, name or uuid. Errors: Usage for a choice that fits no device or several, with what there is; Missing
/// where a device was asked for and there is no loader, or it is unfit.
[[nodiscard]] std::unique_ptr<Accelerator> make_accelerator(const std::string& choice, const DeviceOptions& options,
                                                            Accelerator::Log log);

}  // namespace rayreplay::kernels
