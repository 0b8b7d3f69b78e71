// What goes wrong with a device while it works, told apart so that callers can go on elsewhere.
//
// Contract: thrown by everything in kernels/. `Memory`: the device has too little of it for this call; the device goes
// on to work, and a caller may ask for less at a time. `Lost`: the driver gave the device up; nothing more can be asked
// of it. `Unsupported`: it lacks a feature that this call needs; the message names it. Results of a call that threw are
// undefined and not to be used.
#pragma once

#include <utility>

#include "base/error.hpp"

namespace rayreplay::kernels {

enum class Fault { Memory, Lost, Unsupported };

class DeviceError : public Error {
 public:
  DeviceError(Fault fault, ErrorInfo info)
      : Error(fault == Fault::Unsupported ? ErrorKind::Missing : ErrorKind::Resource, std::move(info)), fault_(fault) {}

  [[nodiscard]] Fault fault() const noexcept {
    return fault_;
  }

 private:
  Fault fault_;
};

}  // namespace rayreplay::kernels
