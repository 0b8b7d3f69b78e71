#include "sim/variants/memory_variants.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "base/error.hpp"
#include "base/report_progress.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/comparison/ranges.hpp"
#include "sim/engine/shader_accesses.hpp"
#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/input.hpp"
#include "sim/engine/stages/model.hpp"
#include "sim/engine/stages/simt.hpp"
#include "sim/engine/stages/stream.hpp"
#include "sim/engine/stages/structure.hpp"
#include "sim/engine/stages/traffic.hpp"
#include "sim/settings/machine_settings.hpp"
#include "sim/settings/metrics.hpp"
#include "sim/settings/thread_registers.hpp"
#include "sim/variants/number_rules.hpp"

namespace rayreplay::experiment {
namespace {

constexpr const char* kModel = "scheduler.model";
constexpr const char* kPacking = "packing";
constexpr const char* kNodeOrder = "bvh.node_order";
constexpr const char* kCycles = "time_cycles";
constexpr const char* kModelCycles = "model_cycles";
/// Rows run at a time: each holds its recorded accesses.
constexpr std::size_t kRowsAtOnce = 4;
/// Halvings of the part of a range in which the sign changes.
constexpr int kSteps = 4;

/// Settings of a row, not completed: keys that inherit a varied one follow it.
Settings chosen(const Settings& asked, const MemoryOutputs& outputs, const MemoryRow& row) {
  Settings settings = asked;
  settings.set(kModel, row.model, "");
  settings.set(kPacking, row.packing, "");
  settings.set(kNodeOrder, row.node_order, "");
  if (outputs.time && !settings.has(kTimeKey)) {
    settings.set(kTimeKey, std::string("memory"), "");
  }
  std::string words = "model";
  for (const auto& [word, wanted] :
       {std::pair{",cache", outputs.cache}, std::pair{",traffic", true}, std::pair{",time", outputs.time}}) {
    if (wanted && !row.bound) {
      words += word;
    }
  }
  settings.set("outputs", words, "");
  return settings;
}

void take(Metrics& metrics, Made made) {
  if (const auto* failure = std::get_if<Failure>(&made)) {
    std::rethrow_exception(thrown_of(*failure));
  }
  for (const auto& [index, value] : std::get<MetricSet>(made).values()) {
    metrics.insert_or_assign(all_metrics()[index].name, value);
  }
}

double ratio(double before, double after) {
  return before == after ? 1 : before / after;
}

class Comparison {
 public:
  Comparison(const VariantBench& bench, const MemoryWanted& wanted)
      : bench_(bench), wanted_(wanted), asked_(bench.asked) {}

  MemoryResult run() {
    make_rows();
    check_rows();
    run_models();
    run_rows();
    compare_rows();
    if (judges()) {
      judge_rows();
    }
    return std::move(result_);
  }

 private:
  void make_rows() {
    for (const std::string& order : wanted_.node_orders) {
      for (const std::string& packing : wanted_.packings) {
        for (const std::string& model : wanted_.models) {
          const auto created = scheduler::SchedulerModels::create(model);
          MemoryRow row;
          row.model = created.spec;
          row.packing = packing;
          row.node_order = order;
          row.bound = created.model->grouping() == scheduler::Grouping::Bound;
          result_.rows.push_back(std::move(row));
        }
      }
    }
    if (std::ranges::any_of(wanted_.packings,
                            [](const std::string& packing) { return parse_spec(packing).name != "identity"; })) {
      result_.notes.emplace_back(
          "packings sort the threads before the launch: the sort takes no time here (assumed), and packings by what "
          "threads do later (numrays, objects, shaders) know it ahead");
    }
    result_.outputs = wanted_.outputs;
    const Settings first = settings_of(asked_, wanted_.outputs, result_.rows.front());
    result_.machine = stream_machine(first);
    const Experiment experiment = bench_.open(first);
    result_.rays = experiment.launch().rays;
    result_.shader_notes = shader_access_notes(experiment);
    decide_registers(asked_, experiment.launch().registers);
    decide_cycles(asked_, experiment);
  }

  void check_rows() {
    std::vector<Settings> settings;
    for (const MemoryRow& row : result_.rows) {
      settings.push_back(settings_of(asked_, wanted_.outputs, row));
      const Experiment experiment = bench_.open(settings.back());
      check_output(stage("model"), experiment);
      for (const auto& [name, wanted] : memory_stages()) {
        if (wanted && !row.bound) {
          check_output(stage(name), experiment);
        }
      }
      if (row.bound) {
        settings.pop_back();
      }
    }
    if (!wanted_.outputs.time || result_.rows.front().bound) {
      return;
    }
    facts_ = number_facts(result_.rows.front());
    if (judges()) {
      check_numbers(settings, facts_, wanted_.numbers);
      for (const AskedNumber& one : wanted_.numbers) {
        check_number(one);
      }
    }
    add_numbers();
  }

  void add_numbers() {
    for (MemoryRow& row : result_.rows) {
      if (!row.bound) {
        const Settings complete = settings_of(asked_, wanted_.outputs, row);
        row.numbers = numbers_in_use(
            complete, facts_, judges() ? numbers_of(complete, facts_, wanted_.numbers) : std::vector<Quantity>());
      }
    }
  }

  [[nodiscard]] std::array<std::pair<const char*, bool>, 3> memory_stages() const {
    return {{{"cache", wanted_.outputs.cache}, {"traffic", true}, {"time", wanted_.outputs.time}}};
  }

  /// Whether rows have verdicts.
  [[nodiscard]] bool judges() const {
    return wanted_.outputs.time && wanted_.break_even && !result_.rows.front().bound &&
           std::ranges::count(result_.rows, false, &MemoryRow::bound) > 1;
  }

  /// The key of the row's stream with the number at a value; Usage if it cannot run.
  [[nodiscard]] Key key_at(const MemoryRow& row, const Quantity& quantity, double value) const {
    static const Stage kStream = stage("stream");
    try {
      Settings asked = chosen(asked_, wanted_.outputs, row);
      set_numbers(asked, facts_, {&quantity, 1}, {&value, 1}, true);
      const Settings settings = complete(asked, NamedInput::Elsewhere);
      const Experiment experiment = bench_.open(settings);
      check_output(kStream, experiment);
      return experiment.key(kStream);
    } catch (const Error& error) {
      ErrorInfo info = error.info();
      info.where =
          fmt::format("--break-even, {} = {}{}{}", quantity.key, value, info.where.empty() ? "" : ": ", info.where);
      throw Error(error.kind(), std::move(info));
    }
  }

  /// Usage if the ends of the number's range cannot run, or no row's accesses and time depend on the number.
  void check_number(const AskedNumber& asked) {
    const std::vector<AskedNumber> alone = {asked};
    bool read = false;
    for (const MemoryRow& row : result_.rows) {
      if (row.bound) {
        continue;
      }
      const Settings now = settings_of(asked_, wanted_.outputs, row);
      for (const Quantity& quantity : numbers_of(now, facts_, alone)) {
        for (const double value : {quantity.low, quantity.high}) {
          const Key at = key_at(row, quantity, value);
          read = read || at != bench_.open(now).key(stage("stream"));
        }
        if (const std::string note = range_note(quantity, asked);
            !note.empty() && std::ranges::find(result_.notes, note) == result_.notes.end()) {
          result_.notes.push_back(note);
        }
      }
    }
    if (!read) {
      throw Error(ErrorKind::Usage,
                  {"the memory time of no row depends on the key", "--break-even", fmt::format("'{}'", asked.key),
                   "a key that the rows' machine and models read", "leave it out"});
    }
  }

  /// Models of one packing and order are compared at once, as in a sweep.
  void run_models() {
    const std::size_t together = wanted_.models.size();
    Workbench bench = bench_.bench(false);
    for (std::size_t first = 0; first < result_.rows.size(); first += together) {
      std::vector<Settings> settings;
      std::vector<Experiment> experiments;
      std::vector<const Experiment*> members;
      settings.reserve(together);
      experiments.reserve(together);
      for (std::size_t i = first; i < first + together; ++i) {
        settings.push_back(settings_of(asked_, wanted_.outputs, result_.rows[i]));
        experiments.push_back(bench_.open(settings.back()));
        members.push_back(&experiments.back());
      }
      std::vector<Made> made = bench.numbers(stage("model"), members);
      for (std::size_t i = 0; i < together; ++i) {
        take(result_.rows[first + i].metrics, std::move(made[i]));
      }
    }
  }

  void run_rows() {
    std::vector<MemoryRow*> rows;
    for (MemoryRow& row : result_.rows) {
      if (!row.bound) {
        rows.push_back(&row);
      }
    }
    const auto at_once =
        std::min(kRowsAtOnce, static_cast<std::size_t>(std::max(1, tbb::this_task_arena::max_concurrency())));
    report_start(bench_.progress, "variants", rows.size());
    std::vector<MemoryRow*> failed(rows.size(), nullptr);
    for (std::size_t first = 0; first < rows.size(); first += at_once) {
      tbb::parallel_for(first, std::min(first + at_once, rows.size()), [&](std::size_t i) {
        try {
          // Isolated: a thread that waits here must not begin another row, which could wait for what this one makes.
          tbb::this_task_arena::isolate([&] { run_memory(*rows[i], true); });
          report_advance(bench_.progress, 1);
        } catch (...) {
          failed[i] = rows[i];
        }
      });
    }
    report_finish(bench_.progress);
    // A row that did not fit beside others may fit alone; otherwise its error is the first one in the order of rows.
    for (MemoryRow* row : failed) {
      if (row != nullptr) {
        run_memory(*row, false);
      }
    }
  }

  /// `alone`: of VariantBench::bench.
  void run_memory(MemoryRow& row, bool alone) const {
    const Settings settings = settings_of(asked_, wanted_.outputs, row);
    const Experiment experiment = bench_.open(settings);
    Workbench bench = bench_.bench(alone);
    const auto recorded = stream(bench, experiment);  // held while the stages read it
    const Experiment* const member = &experiment;
    for (const auto& [name, wanted] : memory_stages()) {
      if (wanted) {
        take(row.metrics, std::move(bench.numbers(stage(name), {&member, 1}).front()));
      }
    }
  }

  void compare_rows() {
    const Metrics& baseline = result_.rows.front().metrics;
    note_images();
    for (MemoryRow& row : result_.rows) {
      row.model_speed_up = ratio(baseline.at(kModelCycles), row.metrics.at(kModelCycles));
      if (row.metrics.contains(kCycles)) {
        row.speed_up = ratio(baseline.at(kCycles), row.metrics.at(kCycles));
      }
    }
  }

  /// Images' layout is assumed; whether the launch's shaders use any is known when the rows have run.
  void note_images() {
    constexpr std::array kImages = {memory::DataKind::ImageLoad, memory::DataKind::ImageStore,
                                    memory::DataKind::ImageAtomic, memory::DataKind::ImageSample};
    const bool used = std::ranges::any_of(result_.rows, [&](const MemoryRow& row) {
      return std::ranges::any_of(kImages, [&](memory::DataKind kind) {
        return row.metrics.contains(traffic_metric(kind, TrafficPart::Bytes));
      });
    });
    if (used) {
      const Settings first = settings_of(asked_, wanted_.outputs, result_.rows.front());
      result_.shader_notes.push_back(
          fmt::format("texels of images lie as in {} (assumed)", first.text("stream.image_layout")));
    }
  }

  void judge_rows() {
    const MemoryRow& baseline = result_.rows.front();
    for (const MemoryRow& row : result_.rows) {
      if (!row.bound) {
        remember(chosen(asked_, wanted_.outputs, row), row.metrics.at(kCycles));
      }
    }
    const std::size_t of_rows = cycles_.size();
    report_start(bench_.progress, fmt::format("break-even, at least {} memory times", fewest_runs()), 0);
    report_advance(bench_.progress, 0);
    for (MemoryRow& row : result_.rows) {
      if (!row.bound && &row != &baseline) {
        judge_row(row);
      }
    }
    report_finish(bench_.progress);
    result_.runs = cycles_.size() - of_rows;
  }

  /// Memory times at the ends of all ranges, beside those of the rows.
  [[nodiscard]] std::size_t fewest_runs() const {
    const MemoryRow& baseline = result_.rows.front();
    std::set<std::string> keys;
    for (const MemoryRow& row : result_.rows) {
      if (row.bound || &row == &baseline) {
        continue;
      }
      for (const Quantity& quantity : numbers_of(settings_of(asked_, wanted_.outputs, row), facts_, wanted_.numbers)) {
        for (const double value : {quantity.low, quantity.high}) {
          for (const MemoryRow* side : {&baseline, &row}) {
            Settings settings = chosen(asked_, wanted_.outputs, *side);
            set_numbers(settings, facts_, {&quantity, 1}, {&value, 1}, side != &baseline);
            if (std::string key = key_of(settings); !cycles_.contains(key)) {
              keys.insert(std::move(key));
            }
          }
        }
      }
    }
    return keys.size();
  }

  [[nodiscard]] NumberFacts number_facts(const MemoryRow& baseline) {
    const Settings settings = settings_of(asked_, wanted_.outputs, baseline);
    const Experiment experiment = bench_.open(settings);
    Workbench bench = bench_.bench(false);
    const simt::ReplayResult replayed = replay(bench, experiment, {});
    const auto data = input(bench, experiment);
    const trace::Launch& launch = data->trace.launches[resolved_of(settings, data->trace, false).launch];
    machine::Costs costs = machine::make_costs(data->trace, launch, costs_in_memory_time(settings));
    return {.calls = CallGroups(data->trace.shaders, replayed.by_call, std::move(costs.calls)),
            .warp_size = resolved_of(settings, data->trace, false).warp_size,
            .given = wanted_.given_parameters,
            .live_state = shaders_state(bench, experiment)};
  }

  void judge_row(MemoryRow& row) {
    const MemoryRow& baseline = result_.rows.front();
    std::vector<Quantity> uncertain, known;
    const Settings settings = settings_of(asked_, wanted_.outputs, row);
    for (Quantity& quantity : numbers_of(settings, facts_, wanted_.numbers)) {
      (is_uncertain(quantity.origin) ? uncertain : known).push_back(std::move(quantity));
    }
    row.not_varied = left_out(settings, facts_, wanted_.numbers);
    const auto judged = [&](std::vector<Quantity> quantities) {
      const std::vector<Quantity> list = quantities;
      const SpeedUpAt speed_up = [&](std::span<const double> values) {
        const double before = cycles_at(baseline, list, values);
        return ratio(before, cycles_at(row, list, values));
      };
      Verdict verdict = judge(std::move(quantities), row.speed_up, speed_up, {.noisy = true, .noisy_steps = kSteps});
      for (JointSample& sample : verdict.samples) {
        sample.values = used_numbers(facts_, list, sample.values);
      }
      if (verdict.together) {
        verdict.together->values = used_numbers(facts_, list, verdict.together->values);
      }
      return verdict;
    };
    row.verdict = judged(std::move(uncertain));
    row.explored = judged(std::move(known));
  }

  double cycles_at(const MemoryRow& row, const std::vector<Quantity>& quantities, std::span<const double> values) {
    Settings settings = chosen(asked_, wanted_.outputs, row);
    set_numbers(settings, facts_, quantities, values, &row != &result_.rows.front());
    const std::string key = key_of(settings);
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = cycles_.find(key); found != cycles_.end()) {
        return found->second;
      }
    }
    const double cycles = time(settings);
    remember(settings, cycles);
    report_advance(bench_.progress, 1);
    return cycles;
  }

  double time(const Settings& settings) {
    const Settings complete_settings = complete(settings, NamedInput::Elsewhere);
    double cycles = 0;
    // Isolated: a thread that waits here must not begin another point, which could wait for what this one makes.
    tbb::this_task_arena::isolate([&] {
      const Experiment experiment = bench_.open(complete_settings);
      Workbench bench = bench_.bench(true);
      cycles = static_cast<double>(interleave_launch(bench, experiment).cycles);
    });
    return cycles;
  }

  [[nodiscard]] static std::string key_of(const Settings& settings) {
    return to_toml(complete(settings, NamedInput::Elsewhere), false);
  }
  void remember(const Settings& settings, double cycles) {
    std::string key = key_of(settings);
    const std::lock_guard lock(mutex_);
    cycles_.emplace(std::move(key), cycles);
  }

  const VariantBench& bench_;
  const MemoryWanted& wanted_;
  Settings asked_;  ///< of the bench, with what the trace decides
  MemoryResult result_;
  NumberFacts facts_;
  std::map<std::string, double> cycles_;  ///< by settings
  std::mutex mutex_;
};

}  // namespace

Settings settings_of(const Settings& asked, const MemoryOutputs& outputs, const MemoryRow& row) {
  return complete(chosen(asked, outputs, row), NamedInput::Elsewhere);
}

MemoryResult compare_memory(const VariantBench& bench, const MemoryWanted& wanted) {
  return Comparison(bench, wanted).run();
}

}  // namespace rayreplay::experiment
