// How a stage of this room asks for its result: of a device where there is one to ask, else of the processor.
//
// Contract: `on_device` gets the first device that is able and `on_cpu` is its twin (kernels/accelerator.hpp says who
// runs when). `why_not`: what keeps this input from any device; it is recorded. Empty: nothing.
#pragma once

#include <span>
#include <string>

#include "kernels/launch_on_device.hpp"

namespace rayreplay::scheduler {

template <class OnDevice, class OnCpu>
auto run_stage(kernels::LaunchOnDevice* launch, const char* stage, const std::string& why_not,
               const OnDevice& on_device, const OnCpu& on_cpu) {
  if (launch == nullptr) {
    return on_cpu();
  }
  if (!why_not.empty()) {
    launch->accelerator().note_cpu(stage, why_not);
    return on_cpu();
  }
  return launch->accelerator().run_on_one(
      stage, {}, [&](kernels::Device& one) { return on_device(one); }, on_cpu);
}

}  // namespace rayreplay::scheduler
