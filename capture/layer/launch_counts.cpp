#include "capture/layer/launch_counts.hpp"

#include <cstddef>
#include <cstring>
#include <vector>

#include "capture/layer/counter_memory.hpp"
#include "capture/layer/launches.hpp"
#include "capture/layer/pipelines/pipelines.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer {
namespace {

VkDeviceSize bytes_of(const PipelineRecord& pipeline) {
  VkDeviceSize bytes = 0;
  for (const auto& counters : pipeline.counters) {
    bytes += counters->bytes();
  }
  return bytes;
}

void copy(CommandRecording& recording, const LaunchOperation& operation, VkDeviceSize at) {
  at += operation.counts.offset;
  for (const auto& counters : operation.pipeline->counters) {
    const VkBufferCopy region{counters->offset, at, counters->bytes()};
    recording.device.vk.CmdCopyBuffer(recording.handle, counters->buffer, operation.counts.buffer, 1, &region);
    at += region.size;
  }
}

std::uint64_t number_at(const void* bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

/// Calls `filter` with the cell of each filter of the tables of values, `key` with that of each key.
template <typename Filter, typename Key>
void for_each_table(const instrument::CounterLayout& layout, const Filter& filter, const Key& key) {
  for (const auto& function : layout.functions) {
    for (const auto& site : function.sites) {
      for (std::size_t shader = function.shaders.front(); site.slots != 0 && shader <= function.shaders.back();
           ++shader) {
        const auto first = function.first + (shader - function.shaders.front()) * function.cells + site.cell;
        for (std::size_t at = instrument::table_of(site); at < instrument::slots_of(site); ++at) {
          filter(first + at);
        }
        for (std::size_t slot = 0; slot < site.slots; ++slot) {
          key(first + instrument::slots_of(site) + slot * instrument::kSlotCells);
        }
      }
    }
  }
}

/// A key as the spool has it: 0 if its slot was free.
std::uint64_t key_of(std::uint64_t cell, std::uint32_t mark) {
  constexpr std::uint64_t kHeld = std::uint64_t{1} << 32U;
  return cell >> 32U == mark ? kHeld + (cell & 0xFFFF'FFFFU) : 0;
}

/// The counts: the cells at `after` less those at `before` (null: zeros), summed over the copies.
template <typename Byte>
std::vector<std::uint64_t> difference(const ModuleCounters& counters, const Byte* before, const Byte* after) {
  const auto& layout = counters.layout();
  const auto cell_of = [](const Byte* cells, std::size_t at) {
    return cells == nullptr ? 0 : number_at(cells + at * sizeof(std::uint64_t));
  };
  std::vector<std::uint64_t> cells(layout.cells);
  for (std::size_t i = 0; i < std::size_t{layout.cells} * layout.copies; ++i) {
    cells[i % layout.cells] += cell_of(after, i) - cell_of(before, i);
  }
  // A slot may have been taken in an earlier launch, also in one that is not captured: its key stays.
  for_each_table(
      layout, [&](std::size_t cell) { cells[cell] = 0; },
      [&](std::size_t cell) {
        cells[cell] = cells[cell + 1] == 0 ? 0 : key_of(cell_of(after, cell), counters.mark());
      });
  return cells;
}

}  // namespace

void begin_counts(CommandRecording& recording, LaunchOperation& operation) {
  if (!operation.pipeline || operation.pipeline->counters.empty()) {
    return;
  }
  const auto bytes = bytes_of(*operation.pipeline);
  operation.counts = recording.device.allocate_readback(2 * bytes);
  if (!operation.counts) {
    note("no host-visible memory is left: a launch is not counted");
    return;
  }
  copy(recording, operation, 0);
}

void end_counts(CommandRecording& recording, const LaunchOperation& operation) {
  if (operation.counts) {
    copy(recording, operation, operation.counts.bytes / 2);
  }
}

void spool_counts(const LaunchOperation& operation, std::uint32_t launch) {
  if (!operation.counts) {
    return;
  }
  operation.counts.invalidate();
  const auto* before = operation.counts.data;
  const auto* after = before + operation.counts.bytes / 2;
  for (const auto& counters : operation.pipeline->counters) {
    spool::Counts block;
    block.device = operation.device.number;
    block.launch = launch;
    block.pipeline = operation.pipeline->number;
    block.module = counters->module();
    block.cells = difference(*counters, before, after);
    before += counters->bytes();
    after += counters->bytes();
    spool_block(block);
  }
}

void spool_totals(std::uint32_t device, std::uint32_t pipeline, const ModuleCounters& counters) {
  spool::Counts block;
  block.device = device;
  block.launch = spool::kNone;
  block.pipeline = pipeline;
  block.module = counters.module();
  block.cells = difference(counters, static_cast<const std::byte*>(nullptr), counters.mapped);
  spool_block(block);
}

}  // namespace rayreplay::layer
