#include "sim/engine/workbench.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/engine/stage_registry.hpp"

namespace rayreplay::experiment {
namespace {

/// Finds the devices that ran a stage since construction.
class DeviceWatch {
 public:
  explicit DeviceWatch(const Accelerator* accelerator) : accelerator_(accelerator) {
    if (accelerator != nullptr) {
      before_ = accelerator->records();
    }
  }
  [[nodiscard]] std::string device() const {
    constexpr const char* kProcessor = "CPU";
    std::vector<std::string> names;
    bool processor = accelerator_ == nullptr;
    if (accelerator_ != nullptr) {
      for (const StageRecord& record : accelerator_->records()) {
        if (std::ranges::find(before_, record) != before_.end()) {
          continue;  // it ran nothing since then
        }
        if (record.device == kProcessor) {
          processor = true;
        } else if (std::ranges::find(names, record.device) == names.end()) {
          names.push_back(record.device);
        }
      }
    }
    if (processor || names.empty()) {
      names.emplace_back(kProcessor);
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }

 private:
  const Accelerator* accelerator_;
  std::vector<StageRecord> before_;
};

}  // namespace

Failure failure_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const MemoryShort& error) {
    return {error.kind(), error.info(), error.needed_bytes()};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Internal) {
      throw;
    }
    return {error.kind(), error.info()};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::Resource,
            {"the experiment needs more memory than there is", "", "", "", "use a smaller launch"}};
  }
}

std::exception_ptr thrown_of(const Failure& failure) {
  return failure.needed_bytes != 0 ? std::make_exception_ptr(MemoryShort(failure.info, failure.needed_bytes))
                                   : std::make_exception_ptr(Error(failure.kind, failure.info));
}

Key numbers_key(Stage stage, const Experiment& experiment) {
  const Key& key = experiment.key(stage);
  return code(stage).gives_result ? KeyMaker().add(info_of(stage).name + " metrics").add(key).key() : key;
}

Experiment with(const Experiment& experiment, const std::string& key, const ParameterValue& value, Settings& settings) {
  settings = *experiment.settings;
  settings.set(key, value, "");
  Experiment other = experiment;
  other.settings = &settings;
  other.keys = experiment_keys(settings, *experiment.facts, [](const std::string& path) { return path; });
  return other;
}

trace::AcceleratedLaunch* Workbench::on_device(const std::shared_ptr<const InputData>& input, std::uint32_t launch) {
  if (accelerator_ == nullptr) {
    return nullptr;
  }
  const trace::Launch& columns = input->trace.launches[launch];
  if (uploaded_ == nullptr || &uploaded_->launch() != &columns) {
    uploaded_.reset();
    uploaded_from_ = input;
    uploaded_ = std::make_unique<trace::AcceleratedLaunch>(*accelerator_, columns);
  }
  return uploaded_.get();
}

std::vector<Made> Workbench::numbers(Stage stage, std::span<const Experiment* const> members) {
  const StageCode& made_by = code(stage);
  if (!made_by.alone || members.size() == 1) {
    try {
      const Experiment& first = *members.front();
      if (first.facts->memory && !made_by.of_accesses) {
        throw Error(ErrorKind::Missing,
                    {"a memory trace has accesses only, neither threads nor a scene", first.facts->name,
                     fmt::format("outputs with \"{}\"", to_string(stage)), "outputs = \"cache\"", ""});
      }
      const DeviceWatch watch(accelerator_);
      std::vector<Made> made = made_by.numbers(*this, members);
      for (Made& one : made) {
        if (auto* metrics = std::get_if<MetricSet>(&one)) {
          metrics->device = watch.device();
        }
      }
      return made;
    } catch (...) {
      Failure failure = failure_of(std::current_exception());
      if (members.size() == 1) {
        return {Made(std::move(failure))};
      }
    }
  }
  std::vector<Made> made;
  for (std::size_t i = 0; i < members.size(); ++i) {
    made.push_back(numbers(stage, members.subspan(i, 1)).front());
  }
  return made;
}

}  // namespace rayreplay::experiment
