// Persistent while-while: a fixed number of resident warps takes rays from a queue.
//
// Defaults as in 2009: a warp fetches when all of its lanes have finished, without speculation. Dynamic fetch (2012;
// threshold above 1) and speculation are parameters.
//
// Contract: `warps` warps are resident (fewer if the rays do not fill them at the start). The queue holds all rays from
// first_ray.front() to first_ray.back() in order; limits between warps are ignored. When a round of searching and
// testing has ended, and fewer than `threshold` lanes are busy or none is, the warp fetches: its free lanes, lowest
// first, take the next rays (a Fetch step). Untraversable rays are fetched too and leave their lane free. With queue
// `global` the warps share one queue and execute one step each in turn, lowest warp first, as if all steps took equally
// long: this order decides on the fetched rays, so it runs on one thread. With queue `share` each warp has an equal
// part of consecutive rays, and warps run in parallel. Both are deterministic. WarpStep::warp is the resident warp.
// Memory: the lanes of all resident warps.
#include <bit>
#include <deque>

#include "base/declare_parameters.hpp"
#include "base/report_progress.hpp"
#include "traversal/warp/warp_batch.hpp"

namespace rayreplay::traversal {
namespace {

struct Settings {
  std::uint64_t warps = 0;
  int threshold = 0;
  bool speculative = false;
  bool global = false;
};

/// Rows [next, end) of the rays.
struct Queue {
  std::uint64_t next = 0;
  std::uint64_t end = 0;
};

template <class Observer>
class Resident {
 public:
  Resident(const bvh::Bvh& bvh, std::span<const Ray> rays, const WarpTraceOptions& options, const Settings& settings,
           std::uint32_t index, StepLog& log, WarpTraceResult& result)
      : warp_(bvh, DecodeKernel(*bvh.layout), rays, options, settings.speculative, log, result),
        schedule_(settings.speculative),
        threshold_(settings.threshold),
        index_(index) {}

  /// Executes one step. False: no work is left.
  bool turn(Queue& queue) {
    const int busy = std::popcount(warp_.busy());
    const bool too_few = busy == 0 || (busy < threshold_ && busy < static_cast<int>(warp_.size()));
    if (too_few && queue.next < queue.end && schedule_.at_start(warp_)) {
      fetch(queue);
      return true;
    }
    const Choice next = schedule_.choose(warp_);
    if (next.mask == 0) {
      return false;
    }
    warp_.step(index_, next.kind, next.mask);
    return true;
  }

 private:
  void fetch(Queue& queue) {
    std::uint64_t mask = 0;
    rows_.clear();
    for (std::uint32_t lane = 0; lane < warp_.size() && queue.next < queue.end; ++lane) {
      if ((warp_.busy() >> lane & 1U) == 0) {
        mask |= std::uint64_t{1} << lane;
        rows_.push_back(static_cast<std::uint32_t>(queue.next++));
      }
    }
    warp_.fetch(index_, mask, rows_);
  }

  Warp<DecodeKernel, Observer> warp_;
  WhileWhile schedule_;
  int threshold_;
  std::uint32_t index_;
  std::vector<std::uint32_t> rows_;
};

class PersistentWhileWhile final : public WarpTraversal {
 public:
  explicit PersistentWhileWhile(const Settings& settings) : settings_(settings) {}

  [[nodiscard]] WarpTraceResult trace_on_cpu(const bvh::Bvh& bvh, std::span<const Ray> rays,
                                             std::span<const std::uint64_t> first_ray,
                                             const WarpTraceOptions& options) const override {
    check_warps(rays, first_ray, options);
    const Queue queue = first_ray.empty() ? Queue{} : Queue{first_ray.front(), first_ray.back()};
    const std::uint64_t count = queue.end - queue.next;
    const std::uint64_t warps = std::min(settings_.warps, (count + options.warp_size - 1) / options.warp_size);
    std::vector<StepLog> logs(warps);
    report_start(options.progress, "tracing rays", count);
    WarpTraceResult result = trace_with_observer(rays, options, [&]<class Observer>(WarpTraceResult& parts) {
      const auto make = [&](std::uint64_t warp) {
        return Resident<Observer>(bvh, rays, options, settings_, static_cast<std::uint32_t>(warp), logs[warp], parts);
      };
      if (settings_.global) {
        run_in_turns<Observer>(queue, warps, make, options.progress);
        return;
      }
      tbb::parallel_for(std::uint64_t{0}, warps, [&](std::uint64_t warp) {
        Queue own{queue.next + count * warp / warps, queue.next + count * (warp + 1) / warps};
        const std::uint64_t rays_of_warp = own.end - own.next;
        auto resident = make(warp);
        while (resident.turn(own)) {
        }
        report_advance(options.progress, rays_of_warp);
      });
    });
    join_logs(logs, options, result);
    report_finish(options.progress);
    return result;
  }
  [[nodiscard]] bool keeps_warps() const override {
    return false;
  }

 private:
  template <class Observer, class Make>
  static void run_in_turns(Queue queue, std::uint64_t warps, const Make& make, Progress* progress) {
    std::deque<Resident<Observer>> residents;
    std::vector<Resident<Observer>*> running;
    for (std::uint64_t warp = 0; warp < warps; ++warp) {
      running.push_back(&residents.emplace_back(make(warp)));
    }
    std::uint64_t reported = queue.next;
    while (!running.empty()) {
      std::erase_if(running, [&](Resident<Observer>* resident) { return !resident->turn(queue); });
      report_advance(progress, queue.next - reported);
      reported = queue.next;
    }
  }

  Settings settings_;
};

const WarpTraversals::Registrar kRegistrar(
    {.kind = {},
     .name = "persistent-while-while",
     .summary = "Persistent threads: resident warps that take the next rays of a queue",
     .text = "While-while for long-running warps. By default a warp takes new rays when all of its lanes have finished "
             "theirs, without speculation: the persistent threads of 2009. With a threshold above 1 it also does so at "
             "the end of a round of searching and testing if fewer lanes than the threshold are busy, so that a few "
             "long rays no longer hold up a warp: the dynamic fetch of 2012, there combined with speculation "
             "(threshold=20,speculative=true). All steps are taken to last equally long.",
     .source =
         "Aila and Laine, \"Understanding the Efficiency of Ray Traversal on GPUs\", HPG 2009; Aila, Laine and Karras, "
         "\"Understanding the Efficiency of Ray Traversal on GPUs – Kepler and Fermi Addendum\", NVR-2012-02",
     .parameters = {declare::whole("warps", 128, "warps", "Resident warps.", 1, 16384),
                    declare::whole("threshold", 1, "lanes",
                                   "A warp fetches rays when fewer lanes are busy; 1: when all have finished; more "
                                   "than the warp size: as soon as one is free.",
                                   1, 65),
                    declare::flag("speculative", false, "Lanes with a leaf search on while others still need one."),
                    declare::choice("queue", "global", {"global", "share"},
                                    "One queue for all warps, or an equal share of consecutive rays for each.")}},
    [](const Parameters& parameters) {
      return std::make_unique<PersistentWhileWhile>(
          Settings{.warps = static_cast<std::uint64_t>(parameters.get_int("warps")),
                   .threshold = static_cast<int>(parameters.get_int("threshold")),
                   .speculative = parameters.get_bool("speculative"),
                   .global = parameters.get_string("queue") == "global"});
    });

}  // namespace
}  // namespace rayreplay::traversal
