#include "base/accelerator.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rayreplay {

bool Accelerator::has_device() const {
  return std::find(lost_.begin(), lost_.end(), false) != lost_.end();
}

std::vector<ComputeDevice*> Accelerator::devices() const {
  std::vector<ComputeDevice*> result;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (!lost_[i]) {
      result.push_back(devices_[i].get());
    }
  }
  return result;
}

void Accelerator::tell(std::string_view stage, const std::string& reason) const {
  const bool told = std::any_of(records_.begin(), records_.end(), [&](const StageRecord& record) {
    return record.stage == stage && record.reason == reason;
  });
  if (!reason.empty() && !told && log_) {
    log_(fmt::format("{} runs on the processor: {}", stage, reason));
  }
}

void Accelerator::add_record(std::string_view stage, std::string device, std::string reason) {
  const auto found = std::find_if(records_.begin(), records_.end(), [&](const StageRecord& record) {
    return record.stage == stage && record.device == device && record.reason == reason;
  });
  if (found != records_.end()) {
    ++found->runs;
    return;
  }
  records_.push_back({std::string(stage), std::move(device), std::move(reason), 1});
}

std::vector<ComputeDevice*> Accelerator::able_devices(std::string_view stage, const DeviceNeeds& needs) {
  std::vector<ComputeDevice*> able;
  std::string reason;
  for (ComputeDevice* device : devices()) {
    const std::string missing = device->lacks(needs);
    if (missing.empty()) {
      able.push_back(device);
    } else {
      reason = fmt::format("{} lacks {}", device->name(), missing);
    }
  }
  if (able.empty()) {
    if (reason.empty() && !devices_.empty()) {
      if (required_) {
        throw DeviceError(Fault::Lost, {fmt::format("{} cannot run: the device was lost", stage), "--device", "", "",
                                        "use --device auto or --device cpu"});
      }
      reason = "the device was lost";
    }
    tell(stage, reason);
    add_record(stage, "CPU", reason);
  }
  return able;
}

void Accelerator::record(std::string_view stage, Devices devices) {
  std::string names;
  for (const ComputeDevice* device : devices) {
    names += (names.empty() ? "" : ", ") + device->name();
  }
  add_record(stage, names, {});
}

void Accelerator::note_cpu(std::string_view stage, const std::string& reason) {
  add_record(stage, "CPU", devices_.empty() ? std::string() : reason);
}

void Accelerator::fall_back(std::string_view stage, const DeviceError& error) {
  if (error.fault() == Fault::Lost) {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      lost_[i] = lost_[i] || devices_[i]->is_lost();
    }
  }
  if (required_) {
    throw DeviceError(error);
  }
  tell(stage, error.what());
  add_record(stage, "CPU", error.what());
}

}  // namespace rayreplay
