// Warps that only test nodes and leaves: time is the ray-tracing unit, or the latency of the tests.
//
// Contract: every SM runs R · rounds warps, R = warps · issue_partitions at a time. A warp visits v nodes and leaves,
// with b boxes and t triangles. In hardware one server does the tests of all R warps: it takes s = b /
// rt_boxes_per_cycle + t / rt_triangles_per_cycle, or v / rt_steps_per_cycle, and the tests end their latency l after
// it. In software each partition is a server of its `warps`: a step of all lanes takes it s = warp_size ·
// issue_partitions / rt_steps_per_cycle cycles, whatever the number of visits, and the tests end no earlier than l
// after their begin. With n warps a server and P the time of tests alone: (n − 1) s + (rounds − 1) max(P, n s) + P.
// Source: Little 1961; rayreplay. O(warps).
#include <cmath>
#include <memory>

#include "sim/workloads/one_row_workload.hpp"

namespace rayreplay::workloads {
namespace {

class RayTests final : public OneRowWorkload {
 public:
  explicit RayTests(const Parameters& parameters)
      : OneRowWorkload("ray-tests", parameters),
        visits_(get_count(parameters, "visits")),
        boxes_(get_count(parameters, "boxes")),
        triangles_(get_count(parameters, "triangles")) {}

  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"ray-tests:warps=1", "ray-tests:warps=4", "ray-tests:warps=2,boxes=0,triangles=32"};
  }

 private:
  void fill(memory::WarpWork& row) const override {
    row.visits = static_cast<std::uint16_t>(visits_);
    row.boxes = static_cast<std::uint16_t>(boxes_);
    row.triangles = static_cast<std::uint16_t>(triangles_);
  }

  [[nodiscard]] std::vector<KnownAnswer> answers_on(const TimedMachine& machine) const override {
    const AnswerSettings settings = memory_time();
    const double service = machine.test_service(visits_, boxes_, triangles_);
    const double alone = machine.test_time(service);
    const double together = machine.software_traversal ? warps_ : warps_ * static_cast<double>(machine.partitions);
    const double last = (together - 1) * service + (rounds_ - 1) * std::max(alone, together * service);
    // In hardware the latency follows the service, in software they overlap.
    const double cycles = machine.software_traversal
                              ? std::max(std::ceil(last + service), std::floor(last) + machine.test_latency)
                              : std::max(std::ceil(last + service), 1.0) + machine.test_latency;
    const bool close = together > 1 && std::abs(alone - together * service) < 2;
    const bool fraction = service != std::floor(service);
    const double rounding = rounds_ == 1 || !fraction ? 0 : close ? rounds_ : 1;
    const double busy = together * rounds_ * service / cycles;
    return {{"time_cycles", cycles, rounding, "(n - 1) s + (rounds - 1) max(P, n s) + P, P the tests of a warp alone",
             settings},
            {machine.software_traversal ? "time_issue_slots_busy" : "time_ray_tracing_units_busy", busy,
             1e-9 + busy * rounding / cycles, "n rounds s / cycles", settings},
            {"time_traversal_share", 1, 1e-9, "no warp does anything else", settings}};
  }

  std::uint32_t visits_;
  std::uint32_t boxes_;
  std::uint32_t triangles_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "ray-tests",
     .summary = "Warps of tests alone: the ray-tracing unit",
     .text = "Every SM holds warps that test boxes and triangles and load nothing. With few warps the latency of the "
             "tests is the time, with many the rate of the unit; in software the rate of the issue partitions.",
     .source = "Little, A proof for the queuing formula L = lambda W, Operations Research 9, 1961; rayreplay",
     .parameters = {declare::whole("visits", 32, "visits", "Nodes and leaves that a warp's lanes enter.", 1, 32768),
                    declare::whole("boxes", 128, "boxes", "Child boxes that they test.", 0, 32768),
                    declare::whole("triangles", 16, "triangles", "Triangles that they test.", 0, 32768),
                    of_partition_parameter(2), rounds_parameter(8)}},
    [](const Parameters& parameters) { return std::make_unique<RayTests>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
