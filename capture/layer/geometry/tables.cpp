// Shader binding tables of a launch.
#include <cstring>

#include "capture/layer/geometry/state.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer::geometry {
namespace {

constexpr std::size_t kRegions = 4;
constexpr const char* kNamedOnDevice =
    "shader binding tables that vkCmdTraceRaysIndirect2KHR names in device memory are not copied";
constexpr std::uint64_t kRegionMost = std::uint64_t{64} << 20U;

spool::Table table_of(std::size_t region, const VkStridedDeviceAddressRegionKHR& given) {
  spool::Table table;
  table.region = static_cast<spool::TableRegion>(region);
  table.stride = given.stride;
  return table;
}

void fill(spool::Table& table, const VkStridedDeviceAddressRegionKHR& given, const Window& window) {
  const std::uint8_t* from = read(window, {given.deviceAddress, given.size});
  if (from != nullptr) {
    table.bytes.assign(from, from + given.size);
  } else {
    table.missing = window.missing.empty() ? "the table lies outside what was copied" : window.missing;
  }
}

class DirectSnapshot final : public TableSnapshot {
 public:
  DirectSnapshot(State& state, const TableRegions& regions) : regions_(regions), batch_(state.budget) {
    const std::scoped_lock lock(state.mutex);
    for (const auto& region : regions_.region) {
      if (region.size > kRegionMost) {
        batch_.add_missing("the table has " + std::to_string(region.size) + " bytes; " + std::to_string(kRegionMost) +
                           " at most are copied");
      } else {
        batch_.add(state.buffers, {region.deviceAddress, region.size});
      }
    }
  }
  void record(CommandRecording& recording) {
    batch_.record(recording);
  }
  std::vector<spool::Table> read() override {
    std::vector<spool::Table> tables;
    attempt("reading shader binding tables", [&] {
      batch_.invalidate();
      for (std::size_t i = 0; i < kRegions; ++i) {
        tables.push_back(table_of(i, regions_.region[i]));
        if (regions_.region[i].size != 0) {
          fill(tables.back(), regions_.region[i], batch_.window(i));
        }
      }
    });
    return tables;
  }

 private:
  TableRegions regions_;
  CopyBatch batch_;
};

/// The regions are in memory, so the host knows them only afterwards. Copying the tables during recording would need
/// all buffers that may hold tables, but the application may destroy those that its launch does not use. Only the
/// command, which belongs to the application, is copied.
class IndirectSnapshot final : public TableSnapshot {
 public:
  explicit IndirectSnapshot(const HostBuffer& command) : command_(command) {}
  std::vector<spool::Table> read() override {
    std::vector<spool::Table> tables;
    attempt("reading shader binding tables", [&] {
      VkTraceRaysIndirectCommand2KHR command;
      if (command_.data == nullptr || command_.bytes < sizeof command) {
        return;
      }
      command_.invalidate();
      std::memcpy(&command, command_.data, sizeof command);
      const VkStridedDeviceAddressRegionKHR regions[kRegions] = {
          {command.raygenShaderRecordAddress, command.raygenShaderRecordSize, command.raygenShaderRecordSize},
          {command.missShaderBindingTableAddress, command.missShaderBindingTableStride,
           command.missShaderBindingTableSize},
          {command.hitShaderBindingTableAddress, command.hitShaderBindingTableStride,
           command.hitShaderBindingTableSize},
          {command.callableShaderBindingTableAddress, command.callableShaderBindingTableStride,
           command.callableShaderBindingTableSize}};
      for (std::size_t i = 0; i < kRegions; ++i) {
        tables.push_back(table_of(i, regions[i]));
        if (regions[i].size != 0) {
          tables.back().missing = kNamedOnDevice;
          note(kNamedOnDevice);
        }
      }
    });
    return tables;
  }

 private:
  const HostBuffer& command_;
};

/// For launches whose snapshot failed (noted then).
class NoSnapshot final : public TableSnapshot {
 public:
  std::vector<spool::Table> read() override {
    return {};
  }
};

}  // namespace

std::unique_ptr<TableSnapshot> State::snapshot_tables(CommandRecording& recording, const PipelineRecord*,
                                                      const TableRegions& regions) {
  std::unique_ptr<TableSnapshot> snapshot;
  attempt("copying shader binding tables", [&] {
    auto made = std::make_unique<DirectSnapshot>(*this, regions);
    made->record(recording);
    snapshot = std::move(made);
  });
  return snapshot != nullptr ? std::move(snapshot) : std::make_unique<NoSnapshot>();
}

std::unique_ptr<TableSnapshot> State::snapshot_tables_indirect(const HostBuffer& command) {
  std::unique_ptr<TableSnapshot> snapshot;
  attempt("following shader binding tables", [&] { snapshot = std::make_unique<IndirectSnapshot>(command); });
  return snapshot != nullptr ? std::move(snapshot) : std::make_unique<NoSnapshot>();
}

}  // namespace rayreplay::layer::geometry
