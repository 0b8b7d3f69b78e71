// Sums by key and per pixel, for keys as the engine has them: runs (pixels in order), few keys, many keys at random, a
// few keys that nearly all items have.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "bench/gpu/gpu_case.hpp"
#include "kernels/reduction/pixel_sums.hpp"
#include "kernels/reduction/sum_by_key.hpp"

namespace rayreplay::bench {
namespace {

using kernels::ValueWidth;

constexpr double kItems = 100e6;
constexpr std::size_t kGrain = 16384;

std::uint64_t mix(std::uint64_t z) {
  z = (z + 0x9E37'79B9'7F4A'7C15U) * 0xBF58'476D'1CE4'E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D0'49BB'1331'11EBU;
  return z ^ (z >> 31U);
}

enum class Keys { Runs, Random, Hot };

std::uint32_t key_of(Keys keys, std::uint64_t item, std::uint64_t items, std::uint32_t key_count) {
  const std::uint64_t draw = mix(item);
  switch (keys) {
    case Keys::Runs:
      return static_cast<std::uint32_t>(static_cast<double>(item) / static_cast<double>(items) * key_count);
    case Keys::Hot: {
      // Of twelve items eleven have one of 16 keys.
      const std::uint64_t rank = draw % 12 != 0 ? (draw >> 32U) % 16 : draw >> 20U;
      return static_cast<std::uint32_t>(mix(rank) % key_count);
    }
    default:
      return static_cast<std::uint32_t>(draw % key_count);
  }
}

struct SumInput {
  std::vector<std::uint32_t> keys;
  std::vector<std::uint32_t> words;
  std::vector<std::uint64_t> longs;
  kernels::Buffer keys_there, values_there, sums_there;
  std::uint32_t key_count = 0;
  ValueWidth width = ValueWidth::One;
  std::vector<std::uint64_t> found, expected;

  [[nodiscard]] std::uint64_t value(std::size_t item) const {
    return width == ValueWidth::One ? 1 : width == ValueWidth::Word ? words[item] : longs[item];
  }
};

void sum_on_processor(SumInput& input) {
  constexpr std::uint32_t kOwnTables = 4096;
  const auto items = tbb::blocked_range<std::size_t>(0, input.keys.size(), kGrain);
  input.expected.assign(input.key_count, 0);
  if (input.key_count <= kOwnTables) {
    tbb::enumerable_thread_specific<std::vector<std::uint64_t>> tables(
        [&] { return std::vector<std::uint64_t>(input.key_count); });
    tbb::parallel_for(items, [&](const auto& range) {
      std::vector<std::uint64_t>& table = tables.local();
      for (std::size_t i = range.begin(); i < range.end(); ++i) {
        table[input.keys[i]] += input.value(i);
      }
    });
    for (const auto& table : tables) {
      for (std::size_t key = 0; key < table.size(); ++key) {
        input.expected[key] += table[key];
      }
    }
    return;
  }
  tbb::parallel_for(items, [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end();) {
      const std::uint32_t key = input.keys[i];
      std::uint64_t sum = 0;
      for (; i < range.end() && input.keys[i] == key; ++i) {
        sum += input.value(i);
      }
      std::atomic_ref(input.expected[key]).fetch_add(sum, std::memory_order_relaxed);
    }
  });
}

PreparedCase prepare_sum(kernels::Device& device, double scale, Keys keys, double key_share, std::uint32_t fixed_keys,
                         ValueWidth width) {
  auto input = std::make_shared<SumInput>();
  const auto count = static_cast<std::size_t>(std::max(1000.0, kItems * scale));
  input->key_count =
      fixed_keys != 0 ? fixed_keys : static_cast<std::uint32_t>(std::max(16.0, static_cast<double>(count) * key_share));
  input->width = width;
  input->keys.resize(count);
  input->words.resize(width == ValueWidth::Word ? count : 0);
  input->longs.resize(width == ValueWidth::Long ? count : 0);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, kGrain), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      input->keys[i] = key_of(keys, i, count, input->key_count);
      if (width == ValueWidth::Word) {
        input->words[i] = static_cast<std::uint32_t>(mix(~i) >> 40U);
      } else if (width == ValueWidth::Long) {
        input->longs[i] = mix(~i) >> 20U;
      }
    }
  });
  kernels::Stream stream(device);
  input->keys_there = device.allocate_array<std::uint32_t>(count, "keys");
  input->values_there = device.allocate(std::max(input->words.size() * 4, input->longs.size() * 8), "values");
  input->sums_there = device.allocate_array<std::uint64_t>(input->key_count, "sums");
  stream.upload_array(input->keys_there, input->keys);
  if (width == ValueWidth::Word) {
    stream.upload_array(input->values_there, input->words);
  } else if (width == ValueWidth::Long) {
    stream.upload_array(input->values_there, input->longs);
  }
  stream.wait();
  PreparedCase prepared;
  constexpr double kMega = 1e6;
  const double value_bytes = width == ValueWidth::One ? 0 : width == ValueWidth::Word ? 4 : 8;
  prepared.size = fmt::format("{:.1f} M items, {} keys", static_cast<double>(count) / kMega, input->key_count);
  prepared.unit = "items";
  prepared.items = static_cast<double>(count);
  prepared.least_bytes = static_cast<double>(count) * (4 + value_bytes) + input->key_count * 16.0;
  prepared.device = [input, &device] {
    kernels::Stream work(device);
    work.fill(input->sums_there, 0);
    kernels::sum_by_key(device, work,
                        {input->keys.size(), &input->keys_there,
                         input->width == ValueWidth::One ? nullptr : &input->values_there, input->width},
                        input->key_count, input->sums_there);
    work.wait();
  };
  prepared.cpu = [input] { sum_on_processor(*input); };
  prepared.check = [input, &device] {
    kernels::Stream work(device);
    input->found.resize(input->key_count);
    work.download_array(input->sums_there, input->found);
    work.wait();
    if (input->found != input->expected) {
      throw std::runtime_error("the sums differ");
    }
  };
  return prepared;
}

struct PixelInput {
  std::vector<std::uint8_t> kinds;
  std::vector<std::uint64_t> offsets{0};
  kernels::Buffer kinds_there, offsets_there, counts_there;
  std::vector<std::uint32_t> expected;
};

PreparedCase prepare_pixels(kernels::Device& device, double scale) {
  constexpr std::uint64_t kEvents = 50;  // of a pixel, about
  static constexpr std::array<std::uint32_t, 3> kColumns{0b11U, 1U << 2U, 1U << 4U};
  auto input = std::make_shared<PixelInput>();
  const auto pixels = static_cast<std::uint64_t>(std::max(64.0, kItems * scale / static_cast<double>(kEvents)));
  for (std::uint64_t pixel = 0; pixel < pixels; ++pixel) {
    input->offsets.push_back(input->offsets.back() + mix(pixel) % (2 * kEvents));
  }
  input->kinds.resize(input->offsets.back());
  for (std::size_t i = 0; i < input->kinds.size(); ++i) {
    input->kinds[i] = static_cast<std::uint8_t>(mix(i) % 11);
  }
  kernels::Stream stream(device);
  input->kinds_there = device.allocate(input->kinds.size(), "kinds");
  input->offsets_there = device.allocate_array<std::uint64_t>(input->offsets.size(), "offsets");
  stream.upload_array(input->kinds_there, input->kinds);
  stream.upload_array(input->offsets_there, input->offsets);
  stream.wait();
  PreparedCase prepared;
  constexpr double kMega = 1e6;
  prepared.size = fmt::format("{:.1f} M events, {:.2f} M pixels", static_cast<double>(input->kinds.size()) / kMega,
                              static_cast<double>(pixels) / kMega);
  prepared.unit = "events";
  prepared.items = static_cast<double>(input->kinds.size());
  prepared.least_bytes = prepared.items + static_cast<double>(pixels) * (8 + 4.0 * kColumns.size());
  prepared.device = [input, &device, pixels] {
    kernels::Stream work(device);
    input->counts_there = kernels::count_pixel_events(device, work, input->kinds_there, input->kinds.size(),
                                                      input->offsets_there, {pixels, 1}, kColumns);
    work.wait();
  };
  prepared.cpu = [input, pixels] {
    input->expected.assign(pixels * kColumns.size(), 0);
    tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, pixels, 1024), [&](const auto& range) {
      for (std::uint64_t pixel = range.begin(); pixel < range.end(); ++pixel) {
        std::array<std::uint32_t, kColumns.size()> counts{};
        for (std::uint64_t event = input->offsets[pixel]; event < input->offsets[pixel + 1]; ++event) {
          for (std::size_t column = 0; column < counts.size(); ++column) {
            counts[column] += (kColumns[column] >> input->kinds[event]) & 1U;
          }
        }
        for (std::size_t column = 0; column < counts.size(); ++column) {
          input->expected[column * pixels + pixel] = counts[column];
        }
      }
    });
  };
  prepared.check = [input, &device] {
    kernels::Stream work(device);
    std::vector<std::uint32_t> found(input->expected.size());
    work.download_array(input->counts_there, found);
    work.wait();
    if (found != input->expected) {
      throw std::runtime_error("the counts differ");
    }
  };
  return prepared;
}

const GpuCases::Registrar kRuns({"sums by key: pixels in order, 32-bit values",
                                 {},
                                 [](kernels::Device& device, double scale) {
                                   return prepare_sum(device, scale, Keys::Runs, 0.02, 0, ValueWidth::Word);
                                 }});
const GpuCases::Registrar kFew({"sums by key: 1000 keys at random, 32-bit values",
                                {},
                                [](kernels::Device& device, double scale) {
                                  return prepare_sum(device, scale, Keys::Random, 0, 1000, ValueWidth::Word);
                                }});
const GpuCases::Registrar kMany({"sums by key: many keys at random, counts",
                                 {},
                                 [](kernels::Device& device, double scale) {
                                   return prepare_sum(device, scale, Keys::Random, 0.05, 0, ValueWidth::One);
                                 }});
const GpuCases::Registrar kHot({"sums by key: 16 hot keys among many, 64-bit",
                                {},
                                [](kernels::Device& device, double scale) {
                                  return prepare_sum(device, scale, Keys::Hot, 0.05, 0, ValueWidth::Long);
                                }});
const GpuCases::Registrar kPixels({"events per pixel, 3 kinds", {}, prepare_pixels});

}  // namespace
}  // namespace rayreplay::bench
