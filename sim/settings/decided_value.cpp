#include "sim/settings/decided_value.hpp"

#include <algorithm>

namespace rayreplay::experiment {
namespace {

constexpr std::string_view kAlsoIn = "; also in ";

/// The place of the file that sets the same value; "" without one.
std::string place_in_file(const std::string& where) {
  const auto also = where.find(kAlsoIn);
  return also == std::string::npos ? std::string() : where.substr(also + kAlsoIn.size());
}

}  // namespace

bool is_decided(const Settings& settings, const std::string& key, std::string_view mark) {
  return settings.where(key).starts_with(mark);
}

std::string reason_of(const Settings& settings, const std::string& key, std::string_view mark) {
  const std::string& where = settings.where(key);
  const std::size_t end = std::min(where.find(kAlsoIn), where.size());
  return where.substr(mark.size(), end - mark.size());
}

void decide(Settings& settings, const std::string& key, std::string_view mark,
            const std::optional<DecidedValue>& by_trace) {
  const bool was_decided = is_decided(settings, key, mark);
  const std::string by_hand = was_decided ? place_in_file(settings.where(key)) : settings.where(key);
  if (!by_hand.empty()) {
    const ParameterValue value = settings.at(key);
    if (by_hand.starts_with("--") || !by_trace || value != by_trace->value) {
      settings.set(key, value, by_hand);
      return;
    }
  }
  if (by_trace) {
    std::string where = std::string(mark) + by_trace->reason;
    if (!by_hand.empty()) {
      where.append(kAlsoIn).append(by_hand);
    }
    settings.set(key, by_trace->value, where);
  } else if (was_decided) {
    settings.set(key, find_parameter(key)->declared.default_value, "");
  }
}

}  // namespace rayreplay::experiment
