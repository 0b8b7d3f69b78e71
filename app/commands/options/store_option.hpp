// --store and --store-size: the folder of stored results between runs, for every command with experiments.
//
// Contract: --store none opens no store; sim/engine/store/store.hpp has the rest.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "sim/engine/store/store.hpp"

namespace rayreplay::app {

class StoreOption {
 public:
  void add_to(CLI::App& command);
  /// Null: no store. Usage for an invalid size. If the folder cannot be made, the command warns and continues without a
  /// store.
  [[nodiscard]] std::unique_ptr<experiment::Store> open() const;
  /// The same without making the folder: null if there is none yet.
  [[nodiscard]] std::unique_ptr<experiment::Store> open_existing() const;

 private:
  [[nodiscard]] experiment::StoreOptions options() const;

  std::string folder_;
  std::string size_ = "10GiB";
};

}  // namespace rayreplay::app
