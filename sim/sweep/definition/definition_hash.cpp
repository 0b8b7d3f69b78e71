#include <fmt/format.h>

#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/definition/paths.hpp"

namespace rayreplay::sweep {
namespace {

/// Version of the hash; to be raised when the hashed data or their form change.
constexpr int kVersion = 2;

/// Every part is preceded by its length, so different lists of parts never give the same text.
class Description {
 public:
  explicit Description(const Definition& definition) : definition_(&definition) {}

  void add(std::string_view part) {
    text_ += fmt::format("{}:{};", part.size(), part);
  }
  void add(double number) {
    add(fmt::format("{:a}", number));
  }
  void add(const std::string& key, const ParameterValue& value) {
    add(key);
    add(fmt::format("{}", value.index()));
    add(to_text(written_value(*definition_, key, value)));
  }

  [[nodiscard]] std::string hash() const {
    return text_hash(text_);
  }

 private:
  const Definition* definition_;
  std::string text_;
};

}  // namespace

std::string definition_hash(const Definition& definition) {
  Description description(definition);
  description.add(fmt::format("rayreplay sweep {}", kVersion));
  description.add(fmt::format("base {}", definition.base.all().size()));
  for (const auto& [key, setting] : definition.base.all()) {
    description.add(key, setting.value);
  }
  for (const Factor& factor : definition.factors) {
    description.add(fmt::format("factor {}", factor.axes.size()));
    for (const Axis& axis : factor.axes) {
      description.add(axis.key);
      description.add(fmt::format("axis {}", axis.values.size()));
      for (const ParameterValue& value : axis.values) {
        description.add(axis.key, value);
      }
      if (axis.range) {
        description.add(axis.range->low);
        description.add(axis.range->high);
        description.add(fmt::format("{} {}", axis.range->logarithmic, axis.range->whole));
      }
    }
  }
  for (const auto& exclude : definition.excludes) {
    description.add(fmt::format("exclude {}", exclude.size()));
    for (const auto& [key, value] : exclude) {
      description.add(key, value);
    }
  }
  for (const Condition& condition : definition.conditions) {
    description.add("where");
    description.add(condition.text());
  }
  description.add("sampler");
  description.add(definition.sampler);
  return description.hash();
}

}  // namespace rayreplay::sweep
