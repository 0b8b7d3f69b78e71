// Shader binding tables as a launch saw them.
#include <cstring>

#include "capture/layer/geometry/state.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer::geometry {
namespace {

constexpr std::size_t kRegions = 4;
constexpr std::uint64_t kRegionMost = std::uint64_t{64} << 20U;
constexpr std::uint64_t kAllTablesMost = std::uint64_t{64} << 20U;

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

/// The regions lie in memory, so that the host knows them only afterwards: all buffers that may hold tables are copied.
class IndirectSnapshot final : public TableSnapshot {
 public:
  IndirectSnapshot(State& state, const HostBuffer& command) : command_(command), batch_(state.budget) {
    const std::scoped_lock lock(state.mutex);
    std::uint64_t total = 0;
    for (const AddressMap::Buffer& buffer : state.buffers.with_usage(VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR)) {
      if (buffer.size > kAllTablesMost - total) {
        break;
      }
      total += buffer.size;
      batch_.add(state.buffers, {buffer.address, buffer.size});
    }
  }
  void record(CommandRecording& recording) {
    batch_.record(recording);
  }
  std::vector<spool::Table> read() override {
    std::vector<spool::Table> tables;
    attempt("reading shader binding tables", [&] {
      VkTraceRaysIndirectCommand2KHR command;
      if (command_.data == nullptr || command_.bytes < sizeof command) {
        return;
      }
      command_.invalidate();
      std::memcpy(&command, command_.data, sizeof command);
      batch_.invalidate();
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
          fill(tables.back(), regions[i], window_with({regions[i].deviceAddress, regions[i].size}));
        }
      }
    });
    return tables;
  }

 private:
  [[nodiscard]] Window window_with(const Stretch& stretch) const {
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      Window window = batch_.window(i);
      if (geometry::read(window, stretch) != nullptr) {
        return window;
      }
    }
    Window none;
    none.missing = "the table of an indirect launch lies in no shader-binding-table buffer that was copied";
    return none;
  }

  const HostBuffer& command_;
  CopyBatch batch_;
};

/// For launches whose snapshot could not be made: noted when that happened.
class NoSnapshot final : public TableSnapshot {
 public:
  std::vector<spool::Table> read() override {
    return {};
  }
};

template <class Made, class From>
std::unique_ptr<TableSnapshot> made_snapshot(State& state, CommandRecording& recording, const From& from) {
  std::unique_ptr<TableSnapshot> snapshot;
  attempt("copying shader binding tables", [&] {
    auto made = std::make_unique<Made>(state, from);
    made->record(recording);
    snapshot = std::move(made);
  });
  return snapshot != nullptr ? std::move(snapshot) : std::make_unique<NoSnapshot>();
}

}  // namespace

std::unique_ptr<TableSnapshot> State::snapshot_tables(CommandRecording& recording, const PipelineRecord*,
                                                      const TableRegions& regions) {
  return made_snapshot<DirectSnapshot>(*this, recording, regions);
}

std::unique_ptr<TableSnapshot> State::snapshot_tables_indirect(CommandRecording& recording, const PipelineRecord*,
                                                               const HostBuffer& command) {
  return made_snapshot<IndirectSnapshot>(*this, recording, command);
}

}  // namespace rayreplay::layer::geometry
