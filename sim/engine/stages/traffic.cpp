// Stage "traffic": the launch's accesses by kind of data, and who served them in the machine's own caches.
#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stages/stream.hpp"
#include "sim/engine/stages/traffic.hpp"
#include "sim/memory/data_kind.hpp"

namespace rayreplay::experiment {
namespace {

using memory::DataKind;

/// The kinds of data that a launch's accesses can have.
constexpr std::array kKinds = {
    DataKind::Node,         DataKind::Index,       DataKind::Vertex,       DataKind::Box,         DataKind::Instance,
    DataKind::ShaderRecord, DataKind::Payload,     DataKind::Stack,        DataKind::FrameBuffer, DataKind::State,
    DataKind::ShaderLoad,   DataKind::ShaderStore, DataKind::ShaderAtomic, DataKind::ImageLoad,   DataKind::ImageStore,
    DataKind::ImageAtomic,  DataKind::ImageSample, DataKind::Queue};

struct KindTraffic {
  std::uint64_t transactions = 0, l2 = 0, dram = 0, sectors = 0;
};

MetricSet metrics_of(const RecordedStream& stream) {
  std::array<KindTraffic, memory::kDataKinds> kinds{};
  for (const memory::Transaction& one : stream.transactions) {
    KindTraffic& kind = kinds[static_cast<std::size_t>(one.kind)];
    ++kind.transactions;
    kind.sectors += static_cast<std::uint64_t>(std::popcount(one.sectors));
    if ((one.flags & memory::kTimedL2Hit) != 0) {
      ++kind.l2;
    } else if ((one.flags & (memory::kStore | memory::kTimedHit | memory::kTimedMerged)) == 0) {
      ++kind.dram;
    }
  }
  MetricSet metrics;
  for (const DataKind kind : kKinds) {
    const KindTraffic& sums = kinds[static_cast<std::size_t>(kind)];
    if (sums.transactions > 0) {
      metrics.add_count(traffic_metric(kind, TrafficPart::L2), sums.l2);
      metrics.add_count(traffic_metric(kind, TrafficPart::Dram), sums.dram);
      metrics.add_count(traffic_metric(kind, TrafficPart::Bytes), sums.sectors * stream.coalescing.sector_bytes);
    }
  }
  return metrics;
}

std::vector<Made> make_numbers(Workbench& bench, std::span<const Experiment* const> members) {
  return {Made(metrics_of(*stream(bench, *members.front())))};
}

std::vector<Metric> declared_metrics() {
  std::vector<Metric> metrics;
  for (const DataKind kind : kKinds) {
    const std::string name(memory::to_string(kind));
    metrics.push_back({traffic_metric(kind, TrafficPart::L2), "", "transactions",
                       fmt::format("Loads of kind {} that the L2 served", name), Goal::Less});
    metrics.push_back({traffic_metric(kind, TrafficPart::Dram), "", "transactions",
                       fmt::format("Loads of kind {} that DRAM served", name), Goal::Less});
    metrics.push_back({traffic_metric(kind, TrafficPart::Bytes), "", "bytes",
                       fmt::format("Sectors that loads and stores of kind {} touch", name), Goal::Less});
  }
  return metrics;
}

constexpr StageCode kCode = {
    .estimate_bytes =
        [](const Experiment& experiment) { return likely_transactions(experiment) * sizeof(memory::Transaction); },
    .numbers = make_numbers,
    .alone = true,
};

}  // namespace

std::span<const DataKind> traffic_kinds() {
  return kKinds;
}

std::string traffic_metric(DataKind kind, TrafficPart part) {
  constexpr std::array kParts = {"l2", "dram", "bytes"};
  std::string name(memory::to_string(kind));
  std::ranges::replace(name, '-', '_');
  return fmt::format("traffic_{}_{}", name, kParts.at(static_cast<std::size_t>(part)));
}

namespace {

const StageRegistrar kRegistrar({.name = "traffic",
                                 .text = "Accesses by kind of data, and whether L2 or DRAM served them",
                                 .position = 72,
                                 .takes = {"stream"},
                                 .format = 3,
                                 .metrics = declared_metrics(),
                                 .rank = 7,
                                 .unit_shares = "stream",
                                 .unit_weight = 5,
                                 .large_units = true},
                                &kCode);

}  // namespace
}  // namespace rayreplay::experiment
