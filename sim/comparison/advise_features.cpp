#include "sim/comparison/advise_features.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

namespace rayreplay::experiment {
namespace {

using scheduler::formula::Field;
using scheduler::formula::FieldReader;
using scheduler::formula::FieldSet;
using scheduler::formula::PendingCall;

constexpr std::size_t kThreadsAPiece = 4096;
constexpr std::size_t kReadAtOnce = 256;

/// Whole numbers of at least 0.
constexpr Field kWhole[] = {Field::Material,     Field::Object,  Field::Instance,  Field::CustomIndex,
                            Field::CapturedHint, Field::Bounce,  Field::Primitive, Field::Site,
                            Field::FrontFace,    Field::HitKind, Field::Geometry,  Field::Flags};

struct Axis {
  std::string name;
  double low = 0, high = 0;
};

const char* name_of(Field field) {
  return scheduler::formula::kFields[static_cast<std::size_t>(field)].name;
}

std::string number(double value) {
  return fmt::format("{:.5g}", value);
}

/// "(px + 3.2) * 80, kept in 0 … 2^bits − 1".
std::string quantised(const Axis& axis, std::uint32_t bits) {
  const double cells = std::ldexp(1.0, static_cast<int>(bits));
  const double scale = cells / (axis.high - axis.low);
  const std::string shifted = axis.low == 0  ? axis.name
                              : axis.low < 0 ? fmt::format("({} + {})", axis.name, number(-axis.low))
                                             : fmt::format("({} - {})", axis.name, number(axis.low));
  return fmt::format("clamp({} * {}, 0, {})", shifted, number(scale), cells - 1);
}

bool varies(const Axis& axis) {
  return std::isfinite(axis.low) && std::isfinite(axis.high) && axis.low < axis.high;
}

class Survey {
 public:
  explicit Survey(const FieldReader& fields) : fields_(fields) {
    const auto& launch = fields.launch();
    std::vector<PendingCall> hits;
    std::size_t step = 1;
    std::size_t seen = 0;
    scheduler::formula::for_each_pending(
        launch, fields.segments(), 0, launch.data.threads(), [&](const PendingCall& call) {
          if (launch.data.events.kind[call.event] != trace::EventKind::ClosestHit || seen++ % step != 0) {
            return;
          }
          hits.push_back(call);
          if (hits.size() == kSample) {  // the sample is full: doubles its distance
            for (std::size_t i = 0; i < kSample / 2; ++i) {
              hits[i] = hits[2 * i];
            }
            hits.resize(kSample / 2);
            step *= 2;
          }
        });
    sample_ = std::move(hits);
  }

  [[nodiscard]] Axis axis(Field field) const {
    std::vector<double> values(sample_.size());
    fields_.read(field, sample_, values.data());
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    if (values.empty()) {
      return {name_of(field)};
    }
    const auto percentile = [&](std::size_t percent) {
      const auto place = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * percent / 100);
      std::nth_element(values.begin(), place, values.end());
      return *place;
    };
    return {name_of(field), percentile(1), percentile(99)};
  }

 private:
  const FieldReader& fields_;
  std::vector<PendingCall> sample_;
};

void add_whole(const std::string& name, double largest, std::vector<Feature>& features) {
  const auto needed = static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(largest)));
  if (needed == 0) {
    return;
  }
  features.push_back({name, needed, [name, needed](std::uint32_t bits) {
                        return bits >= needed ? name : fmt::format("{} % {}", name, std::uint64_t{1} << bits);
                      }});
  if (needed == 1) {
    return;
  }
  features.push_back({name + " high", needed, [name, needed](std::uint32_t bits) {
                        return bits >= needed ? std::string() : fmt::format("{} >> {}", name, needed - bits);
                      }});
  features.push_back({name + " hashed", 32, [name, needed](std::uint32_t bits) {
                        return bits >= needed ? std::string()
                                              : fmt::format("hash({}) % {}", name, std::uint64_t{1} << bits);
                      }});
}

/// Cells of a grid over all varying axes; the first axes get the remaining bits.
void add_grid(const std::string& name, std::vector<Axis> axes, std::vector<Feature>& features) {
  std::erase_if(axes, [](const Axis& axis) { return !varies(axis); });
  if (axes.empty()) {
    return;
  }
  features.push_back({name, 32,
                      [axes](std::uint32_t bits) {
                        std::vector<std::pair<std::string, std::uint32_t>> parts;
                        for (std::size_t i = 0; i < axes.size(); ++i) {
                          const auto count = static_cast<std::uint32_t>((bits + axes.size() - 1 - i) / axes.size());
                          if (count > 0) {
                            parts.emplace_back(quantised(axes[i], count), count);
                          }
                        }
                        return combine(parts);
                      },
                      true});
}

void add_distance(const Axis& distance, std::vector<Feature>& features) {
  if (!varies(distance) || distance.high <= 0) {
    return;
  }
  const int low = std::ilogb(std::max(distance.low, distance.high * 1e-6));
  const int high = std::ilogb(distance.high);
  const auto classes = static_cast<std::uint32_t>(std::max(high - low + 1, 1));
  const auto needed = static_cast<std::uint32_t>(std::bit_width(classes));
  features.push_back({"distance, logarithmic", needed, [low](std::uint32_t bits) {
                        return fmt::format("clamp(log2(max(distance, {})) {} {}, 0, {})",
                                           number(std::ldexp(1.0, low - 1)), low > 1 ? "-" : "+", std::abs(1 - low),
                                           (std::uint64_t{1} << bits) - 1);
                      }});
  features.push_back({"distance", 32, [distance](std::uint32_t bits) { return quantised(distance, bits); }, true});
}

/// True if an operator is outside all brackets.
bool is_compound(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth == 0 && std::string_view(" +-*/%&|^<>=!").find(c) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::span<const Field> whole_fields() {
  return kWhole;
}

double largest_value(const FieldReader& fields, Field field) {
  const auto& launch = fields.launch();
  return oneapi::tbb::parallel_reduce(
      oneapi::tbb::blocked_range<std::size_t>(0, launch.data.threads(), kThreadsAPiece), 0.0,
      [&](const auto& range, double most) {
        std::vector<PendingCall> calls;
        std::vector<double> values(kReadAtOnce);
        const auto flush = [&] {
          fields.read(field, calls, values.data());
          for (std::size_t i = 0; i < calls.size(); ++i) {
            most = std::max(most, values[i]);
          }
          calls.clear();
        };
        scheduler::formula::for_each_pending(launch, fields.segments(), range.begin(), range.end(),
                                             [&](const PendingCall& call) {
                                               calls.push_back(call);
                                               if (calls.size() == kReadAtOnce) {
                                                 flush();
                                               }
                                             });
        flush();
        return most;
      },
      [](double a, double b) { return std::max(a, b); });
}

std::string combine(const std::vector<std::pair<std::string, std::uint32_t>>& parts) {
  std::string result;
  std::uint32_t below = 0;
  for (const auto& [text, bits] : parts) {
    below += bits;
  }
  for (const auto& [text, bits] : parts) {
    below -= bits;
    const std::string part = parts.size() > 1 && is_compound(text) ? "(" + text + ")" : text;
    result += (result.empty() ? "" : " | ") + part + (below > 0 ? fmt::format(" << {}", below) : "");
  }
  return result;
}

std::vector<Feature> make_features(const FieldReader& fields, const FieldSet& available) {
  const Survey survey(fields);
  std::vector<Feature> features;
  for (const Field field : kWhole) {
    if (available[static_cast<std::size_t>(field)]) {
      add_whole(name_of(field), largest_value(fields, field), features);
    }
  }
  add_distance(survey.axis(Field::Distance), features);
  const Axis point[] = {survey.axis(Field::PointX), survey.axis(Field::PointY), survey.axis(Field::PointZ)};
  const Axis direction[] = {survey.axis(Field::DirectionX), survey.axis(Field::DirectionY),
                            survey.axis(Field::DirectionZ)};
  add_grid("hit point", {std::begin(point), std::end(point)}, features);
  features.push_back({"octant", 3, [](std::uint32_t bits) {
                        return bits < 3 ? std::string() : std::string("(dx > 0) << 2 | (dy > 0) << 1 | (dz > 0)");
                      }});
  add_grid("direction", {std::begin(direction), std::end(direction)}, features);
  const auto& size = fields.launch().size;
  add_grid("thread",
           {{"x", 0, size.width > 1 ? static_cast<double>(size.width) : 0},
            {"y", 0, size.height > 1 ? static_cast<double>(size.height) : 0}},
           features);
  add_grid("origin", {survey.axis(Field::OriginX), survey.axis(Field::OriginY), survey.axis(Field::OriginZ)}, features);
  for (const Axis& axis : point) {
    add_grid(axis.name, {axis}, features);
  }
  for (const Axis& axis : direction) {
    add_grid(axis.name, {axis}, features);
  }
  return features;
}

}  // namespace rayreplay::experiment
