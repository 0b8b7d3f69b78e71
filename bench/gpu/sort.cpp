// Sorts and prefix sums (kernels/sort).
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>

#include "base/split_mix.hpp"
#include "bench/gpu/gpu_case.hpp"
#include "kernels/sort/exclusive_sum.hpp"
#include "kernels/sort/radix_sort.hpp"

namespace rayreplay::bench {
namespace {

constexpr double kItems = 100e6;
constexpr double kMinItems = 10'000;
constexpr std::uint64_t kSeed = 3;

std::size_t items_for(double scale) {
  return static_cast<std::size_t>(std::max(kItems * scale, kMinItems));
}

struct Setting {
  std::uint32_t key_bytes;
  bool values;
  std::uint64_t key_mask = ~std::uint64_t{0};  ///< bits of the keys that are random
  kernels::SortShape shape{};
};

std::string name_of(const Setting& setting) {
  std::string name =
      fmt::format("radix sort, {}-bit keys{}", 8 * setting.key_bytes, setting.values ? ", 32-bit values" : "");
  if (setting.shape.items != 0) {
    name += fmt::format(", {}x{} a tile", setting.shape.threads, setting.shape.items);
  }
  return name;
}

struct Pair {
  std::uint64_t key;
  std::uint32_t value;
};

/// Values are numbered, so that the twin may sort by both and need not be stable.
struct Sorting {
  Sorting(const Setting& given, kernels::Device& on, std::size_t count)
      : setting(given), device(&on), keys(count), stream(on), sorter(on, given.shape) {
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) { keys[i] = split_mix(kSeed, i) & given.key_mask; });
    const std::uint64_t bytes = count * setting.key_bytes;
    original = on.allocate(bytes, "keys");
    for (kernels::Buffer* buffer : {&key, &other_key}) {
      *buffer = on.allocate(bytes, "keys");
    }
    for (kernels::Buffer* buffer : {&original_value, &value, &other_value}) {
      *buffer = on.allocate_array<std::uint32_t>(setting.values ? count : 0, "values");
    }
    if (setting.key_bytes == sizeof(std::uint64_t)) {
      stream.upload_array(original, keys);
    } else {
      std::vector<std::uint32_t> narrow(count);
      tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
        narrow[i] = static_cast<std::uint32_t>(keys[i]);
        keys[i] = narrow[i];
      });
      stream.upload_array(original, narrow);
    }
    if (setting.values) {
      std::vector<std::uint32_t> numbers(count);
      std::iota(numbers.begin(), numbers.end(), 0U);
      stream.upload_array(original_value, numbers);
    }
    stream.wait();
  }

  void on_device() {
    arrays = {&key, nullptr, &other_key, nullptr};
    stream.copy(original, 0, key, 0, keys.size() * setting.key_bytes);
    if (setting.values) {
      arrays.values = &value;
      arrays.other_values = &other_value;
      stream.copy(original_value, 0, value, 0, keys.size() * sizeof(std::uint32_t));
    }
    sorter.sort(stream, keys.size(), setting.key_bytes, 0, 8 * setting.key_bytes, arrays);
    stream.wait();
  }

  void on_cpu() {
    sorted.resize(keys.size());
    tbb::parallel_for(std::size_t{0}, keys.size(), [&](std::size_t i) {
      sorted[i] = {keys[i], static_cast<std::uint32_t>(i)};
    });
    tbb::parallel_sort(sorted.begin(), sorted.end(), [](const Pair& a, const Pair& b) {
      return std::pair(a.key, a.value) < std::pair(b.key, b.value);
    });
  }

  template <class Key>
  void check_keys() {
    std::vector<Key> found(keys.size());
    std::vector<std::uint32_t> found_values(setting.values ? keys.size() : 0);
    stream.download_array(*arrays.keys, found);
    if (setting.values) {
      stream.download_array(*arrays.values, found_values);
    }
    stream.wait();
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (found[i] != sorted[i].key || (setting.values && found_values[i] != sorted[i].value)) {
        throw Error(ErrorKind::Internal,
                    {"the device's order differs from the processor's", fmt::format("entry {}", i), "", "", ""});
      }
    }
  }
  void check() {
    if (setting.key_bytes == sizeof(std::uint64_t)) {
      check_keys<std::uint64_t>();
    } else {
      check_keys<std::uint32_t>();
    }
  }

  Setting setting;
  kernels::Device* device;
  std::vector<std::uint64_t> keys;
  std::vector<Pair> sorted;
  kernels::Buffer original, original_value, key, other_key, value, other_value;
  kernels::SortArrays arrays{};
  kernels::Stream stream;
  kernels::Sorter sorter;
};

PreparedCase prepare_sort(const Setting& setting, kernels::Device& device, double scale) {
  const std::size_t count = items_for(scale);
  auto sorting = std::make_shared<Sorting>(setting, device, count);
  PreparedCase result;
  const bool skewed = setting.key_mask != ~std::uint64_t{0};
  result.size = fmt::format("{:.3g} M keys, {}", static_cast<double>(count) / 1e6,
                            skewed ? "16 different digits a pass" : "random");
  result.unit = "keys";
  result.items = static_cast<double>(count);
  // Of each pass: keys are read twice and written once, values are read and written.
  const double pass_bytes = 3.0 * setting.key_bytes + (setting.values ? 8 : 0);
  result.least_bytes = setting.key_bytes * pass_bytes * result.items;
  result.device = [sorting] { sorting->on_device(); };
  if (setting.shape.items == 0) {
    result.cpu = [sorting] { sorting->on_cpu(); };
    result.check = [sorting] { sorting->check(); };
  }
  return result;
}

GpuCase sort_case(const Setting& setting) {
  return {name_of(setting), {}, [setting](kernels::Device& device, double scale) {
            return prepare_sort(setting, device, scale);
          }};
}

struct Summing {
  Summing(kernels::Device& on, std::size_t count) : items(count), sums(count + 1), stream(on), summer(on) {
    tbb::parallel_for(std::size_t{0}, count,
                      [&](std::size_t i) { items[i] = static_cast<std::uint32_t>(split_mix(kSeed, i)); });
    from = on.allocate_array<std::uint32_t>(count, "items");
    to = on.allocate_array<std::uint64_t>(count + 1, "sums");
    stream.upload_array(from, items);
    stream.wait();
  }
  void on_device() {
    summer.exclusive_sum(stream, from, to, items.size(), kernels::SumBits::Of64);
    stream.wait();
  }
  void on_cpu() {
    using Range = tbb::blocked_range<std::size_t>;
    sums.back() = tbb::parallel_scan(
        Range(0, items.size()), std::uint64_t{0},
        [&](const Range& range, std::uint64_t sum, bool is_final) {
          for (std::size_t i = range.begin(); i < range.end(); ++i) {
            if (is_final) {
              sums[i] = sum;
            }
            sum += items[i];
          }
          return sum;
        },
        std::plus<>());
  }
  void check() {
    std::vector<std::uint64_t> found(sums.size());
    stream.download_array(to, found);
    stream.wait();
    if (found != sums) {
      throw Error(ErrorKind::Internal, {"the device's sums differ from the processor's", "", "", "", ""});
    }
  }

  std::vector<std::uint32_t> items;
  std::vector<std::uint64_t> sums;
  kernels::Buffer from, to;
  kernels::Stream stream;
  kernels::Summer summer;
};

PreparedCase prepare_sum(kernels::Device& device, double scale) {
  const std::size_t count = items_for(scale);
  auto summing = std::make_shared<Summing>(device, count);
  PreparedCase result;
  result.size = fmt::format("{:.3g} M items", static_cast<double>(count) / 1e6);
  result.unit = "items";
  result.items = static_cast<double>(count);
  result.least_bytes = 16 * result.items;
  result.device = [summing] { summing->on_device(); };
  result.cpu = [summing] { summing->on_cpu(); };
  result.check = [summing] { summing->check(); };
  return result;
}

constexpr std::uint64_t kSkewed = 0x0F0F'0F0F'0F0F'0F0FU;
const std::array kRegistrars{
    GpuCases::Registrar(sort_case({8, true})),
    GpuCases::Registrar(sort_case({8, true, kSkewed})),
    GpuCases::Registrar(sort_case({8, false})),
    GpuCases::Registrar(sort_case({4, true})),
    GpuCases::Registrar(sort_case({4, false})),
    // What tile is best here.
    GpuCases::Registrar(sort_case({.key_bytes = 8, .values = true, .shape = {.items = 8, .threads = 256}})),
    GpuCases::Registrar(sort_case({.key_bytes = 8, .values = true, .shape = {.items = 12, .threads = 256}})),
    GpuCases::Registrar(sort_case({.key_bytes = 8, .values = true, .shape = {.items = 20, .threads = 256}})),
    GpuCases::Registrar(sort_case({.key_bytes = 8, .values = true, .shape = {.items = 8, .threads = 512}})),
    GpuCases::Registrar(sort_case({.key_bytes = 8, .values = true, .shape = {.items = 10, .threads = 512}})),
    GpuCases::Registrar(sort_case({.key_bytes = 8, .values = true, .shape = {.items = 5, .threads = 1024}})),
    GpuCases::Registrar(sort_case({.key_bytes = 8, .values = true, .shape = {.items = 14, .threads = 384}})),
    GpuCases::Registrar(sort_case({.key_bytes = 8, .values = false, .shape = {.items = 10, .threads = 512}})),
    GpuCases::Registrar(sort_case({.key_bytes = 8, .values = false, .shape = {.items = 20, .threads = 256}})),
    GpuCases::Registrar(sort_case({.key_bytes = 4, .values = true, .shape = {.items = 16, .threads = 512}})),
    GpuCases::Registrar(sort_case({.key_bytes = 4, .values = true, .shape = {.items = 20, .threads = 512}})),
    GpuCases::Registrar(sort_case({.key_bytes = 4, .values = true, .shape = {.items = 8, .threads = 1024}})),
    GpuCases::Registrar(sort_case({.key_bytes = 4, .values = false, .shape = {.items = 16, .threads = 512}})),
    GpuCases::Registrar(sort_case({.key_bytes = 4, .values = false, .shape = {.items = 24, .threads = 256}})),
    GpuCases::Registrar(sort_case({.key_bytes = 4, .values = true, .shape = {.items = 12, .threads = 256}})),
    GpuCases::Registrar(sort_case({.key_bytes = 4, .values = true, .shape = {.items = 24, .threads = 256}})),
    GpuCases::Registrar(sort_case({.key_bytes = 4, .values = true, .shape = {.items = 12, .threads = 512}})),
    GpuCases::Registrar({"exclusive sum, 32 to 64 bits", {}, prepare_sum}),
};

}  // namespace
}  // namespace rayreplay::bench
