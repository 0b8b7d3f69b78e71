// Shader modules: the application's words, and their instrumented twins.
//
// Contract: modules with entry points of ray tracing, or of other stages that are counted, are kept from creation to
// destruction. twin() rewrites a module once per content (assigning shader ids and spooling its Shader blocks) and
// returns the same result for the same words. With insert_ser a module first gets reorder calls, and is spooled with
// them. Thread-safe; several modules are rewritten in parallel. twin() is linear in the words the first time, a hash
// afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <vulkan/vulkan.h>

#include "capture/instrument/instrument.hpp"
#include "capture/instrument/ser/insert.hpp"

namespace rayreplay::layer {

struct Device;

using Words = std::vector<std::uint32_t>;

class Shaders {
 public:
  explicit Shaders(Device& device);

  void created(VkShaderModule module, const VkShaderModuleCreateInfo& info);
  void destroyed(VkShaderModule module);

  /// The application's words of a module with such entry points; null otherwise.
  [[nodiscard]] std::shared_ptr<const Words> words(VkShaderModule module);

  /// any_hits: the pipeline has any-hit shaders of the application's, or may be linked with some (for observe_all).
  /// Never null. Entry points have their process-wide ids also where the module is left alone, unless all ids are used.
  [[nodiscard]] std::shared_ptr<const instrument::Result> twin(std::span<const std::uint32_t> words,
                                                               const std::string& name, bool any_hits);

  /// The same for a vertex, fragment or compute shader, which only counts.
  [[nodiscard]] std::shared_ptr<const instrument::Result> counting_twin(std::span<const std::uint32_t> words,
                                                                        const std::string& name);

  /// The any-hit shader that only records; for observe_all. Never null.
  [[nodiscard]] std::shared_ptr<const instrument::Result> probe();

 private:
  /// WithAnyHits: any_hits, with observe_all.
  enum class TwinKind : std::uint8_t { Rays, WithAnyHits, Others };
  [[nodiscard]] std::shared_ptr<const instrument::Result> twin_of(std::span<const std::uint32_t> words,
                                                                  const std::string& name, TwinKind kind);
  [[nodiscard]] instrument::Options instrument_options(bool any_hits) const;
  [[nodiscard]] instrument::Options counting_options() const;
  /// With insert_ser: the module with reorder calls.
  [[nodiscard]] instrument::InsertResult reordered(std::span<const std::uint32_t> words) const;
  void spool(std::span<const std::uint32_t> words, const std::string& name, const instrument::Result& result,
             bool added);

  Device& device_;
  std::mutex mutex_;
  std::unordered_map<VkShaderModule, std::shared_ptr<const Words>> modules_;
  using Key = std::tuple<std::uint64_t, std::uint64_t, TwinKind>;  // with the hash of the content
  struct Twin {
    std::mutex mutex;  // held while it is made, and only then
    std::shared_ptr<const instrument::Result> result;
  };
  std::map<Key, std::shared_ptr<Twin>> twins_;
  std::shared_ptr<const instrument::Result> probe_;
};

}  // namespace rayreplay::layer
