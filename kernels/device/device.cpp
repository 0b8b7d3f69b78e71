#include "kernels/device/device.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/device/device_state.hpp"

namespace rayreplay::kernels {

Buffer::Buffer() = default;
Buffer::Buffer(Buffer&&) noexcept = default;
Buffer& Buffer::operator=(Buffer&&) noexcept = default;
Buffer::~Buffer() = default;

Device::Device(const DeviceInfo& info, const DeviceOptions& options)
    : state_(std::make_shared<detail::DeviceState>(info, options)) {}
Device::~Device() = default;

const DeviceInfo& Device::info() const {
  return state_->facts.info;
}

bool Device::is_lost() const {
  return state_->lost;
}

Buffer Device::allocate(std::uint64_t bytes, const char* what) {
  constexpr std::uint64_t kMin = 16;
  Buffer buffer;
  // Allocated first: if it throws, nothing is held.
  auto state = std::make_unique<detail::BufferState>();
  detail::Allocation allocation = state_->allocate(std::max(bytes, kMin), what);
  state->device = state_;
  state->allocation = std::move(allocation);
  state->recorded_before = state_->recorded;
  buffer.state_ = std::move(state);
  buffer.address_ = buffer.state_->allocation.address;
  buffer.bytes_ = std::max(bytes, kMin);
  return buffer;
}

std::uint64_t Device::free_bytes() const {
  return state_->free_bytes();
}
std::uint64_t Device::allocated_bytes() const {
  return state_->live_bytes;
}
std::uint64_t Device::peak_bytes() const {
  return state_->peak_bytes;
}

Program Device::program(const Shader& shader, std::span<const std::uint32_t> constants, std::uint32_t subgroup) {
  state_->require_alive();
  const DeviceInfo& own = info();
  const std::string missing = own.lacks(shader.needs);
  if (!missing.empty()) {
    throw DeviceError(Fault::Unsupported,
                      {fmt::format("the kernel '{}' cannot run: the device lacks {}", shader.name, missing), own.name,
                       "", "", "use --device cpu"});
  }
  if (subgroup != 0 && (subgroup < own.least_subgroup || subgroup > own.greatest_subgroup)) {
    throw DeviceError(
        Fault::Unsupported,
        {fmt::format("the kernel '{}' cannot run: its subgroups have another size", shader.name), own.name,
         std::to_string(subgroup), fmt::format("{} to {}", own.least_subgroup, own.greatest_subgroup), ""});
  }
  auto& entry = state_->programs[{shader.code.data(), {constants.begin(), constants.end()}, subgroup}];
  if (entry != nullptr) {
    return Program(entry.get());
  }
  auto made = std::make_unique<detail::ProgramState>();
  made->name = shader.name;
  state_->guard("compiling a kernel", [&] {
    vk::ShaderModuleCreateInfo module_info;
    module_info.setCode(shader.code);
    const vk::raii::ShaderModule module(state_->device, module_info);
    std::vector<vk::SpecializationMapEntry> entries(constants.size());
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      entries[i].constantID = i;
      entries[i].offset = static_cast<std::uint32_t>(i * sizeof(std::uint32_t));
      entries[i].size = sizeof(std::uint32_t);
    }
    vk::SpecializationInfo specialization;
    specialization.setMapEntries(entries);
    specialization.setData<std::uint32_t>(constants);
    vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo size_info;
    size_info.requiredSubgroupSize = subgroup;
    vk::ComputePipelineCreateInfo info;
    info.layout = *state_->layout;
    info.stage.stage = vk::ShaderStageFlagBits::eCompute;
    info.stage.module = *module;
    info.stage.pName = "main";
    info.stage.pSpecializationInfo = &specialization;
    if (state_->facts.has_subgroup_size_control && subgroup != 0) {
      info.stage.flags = vk::PipelineShaderStageCreateFlagBits::eRequireFullSubgroups;
      if (own.least_subgroup != own.greatest_subgroup) {
        info.stage.pNext = &size_info;
      }
    }
    made->pipeline = vk::raii::Pipeline(state_->device, state_->cache, info);
  });
  entry = std::move(made);
  return Program(entry.get());
}

const std::map<std::string, ProgramTime>& Device::times() const {
  return state_->times;
}
void Device::clear_times() {
  state_->times.clear();
}

}  // namespace rayreplay::kernels
