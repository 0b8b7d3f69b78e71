// Twins: algorithms of this program that kernels/ has for devices, too.
//
// Contract: the room that has an algorithm declares its twin, a constant-initialised `Twin<Signature>`, and calls `run`
// in one place with its own code as `on_cpu`. kernels/ registers the same for devices (kernels/twins.hpp), before
// main(); the room knows nothing of it. Without a registration (built without GPU support, or not linked) the processor
// does it. Both give the same result, bit for bit. base/accelerator.hpp says who runs when.
#pragma once

#include <functional>
#include <string>

#include "base/accelerator.hpp"

namespace rayreplay {

template <class Signature>
class Twin;

template <class Result, class... Arguments>
class Twin<Result(Arguments...)> {
 public:
  struct Kernels {
    std::function<Result(Accelerator::Devices, Arguments...)> run;
    bool only_first = false;                           ///< one device does it: the first that is able
    std::function<DeviceNeeds(Arguments...)> needs{};  ///< empty: nothing beyond what every device has
  };

  /// `stage`: its name in records.
  constexpr explicit Twin(const char* stage) : stage_(stage) {}

  struct Registrar {
    Registrar(Twin& twin, Kernels given) : kernels(std::move(given)) {
      twin.kernels_ = &kernels;
    }
    Registrar(const Registrar&) = delete;
    Registrar& operator=(const Registrar&) = delete;

    Kernels kernels;
  };

  [[nodiscard]] const char* stage() const {
    return stage_;
  }

  /// What was registered, to be run by itself, as measurements do; null: nothing.
  [[nodiscard]] const Kernels* kernels() const {
    return kernels_;
  }

  /// `accelerator` null: the processor.
  template <class OnCpu>
  Result run(Accelerator* accelerator, const OnCpu& on_cpu, Arguments... arguments) const {
    if (accelerator == nullptr) {
      return on_cpu();
    }
    if (kernels_ == nullptr) {
      accelerator->note_cpu(stage_, "this program was linked without its kernels");
      return on_cpu();
    }
    return accelerator->run(
        stage_, kernels_->needs ? kernels_->needs(arguments...) : DeviceNeeds{},
        [&](Accelerator::Devices devices) { return kernels_->run(devices, arguments...); }, on_cpu,
        kernels_->only_first);
  }

 private:
  const char* stage_;
  const Kernels* kernels_ = nullptr;
};

}  // namespace rayreplay
