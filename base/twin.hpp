// Twins: algorithms with two implementations, on the processor and as kernels for devices.
//
// Contract: the room that has an algorithm declares its twin, a constant-initialised `Twin<Signature>`, and calls `run`
// in one place with its own code as `on_cpu`. kernels/ registers the device implementation before main()
// (kernels/twins.hpp); the room does not depend on kernels/. Without a registration (a build without GPU support, or
// kernels not linked) the processor runs. Both implementations give the same result, bit for bit. base/accelerator.hpp
// has the rules of choice and fallback.
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
    bool only_first = false;                           ///< `run` gets one device: the first that has `needs`
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

  /// The registered kernels, which benchmarks run without fallback; null: none.
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
