// --store and --store-size: where stages of experiments are kept between runs. The same for every command that has
// experiments.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "sim/engine/store/store.hpp"

namespace rayreplay::app {

class StoreOption {
 public:
  void add_to(CLI::App& command);
  /// Null: nothing is kept. Usage for a size that is not understood. A folder that cannot be made is done without, and
  /// told.
  [[nodiscard]] std::unique_ptr<experiment::Store> open() const;
  /// The same, but makes no folder: null where there is none yet.
  [[nodiscard]] std::unique_ptr<experiment::Store> open_existing() const;

 private:
  [[nodiscard]] experiment::StoreOptions options() const;

  std::string folder_;
  std::string size_ = "10GiB";
};

}  // namespace rayreplay::app
