// Compiled pipelines, kept on disk between runs.
//
// Contract: one file per device and driver, named after both. A damaged or unreadable file, or one of another driver,
// is ignored; failed writes are ignored: the cache only saves time. The checksum is verified before the driver sees the
// data, since drivers trust it.
#include <array>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/output_file.hpp"
#include "kernels/device/device_state.hpp"

namespace rayreplay::kernels::detail {
namespace {

struct Header {
  std::array<char, 8> magic{'r', 'r', 'p', 'i', 'p', 'e', '0', '1'};
  std::uint64_t bytes = 0;
  std::uint64_t sum = 0;
};

constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20U;

std::string read_cache(const std::string& path) {
  std::string bytes;
  try {
    bytes = read_text_file(path, kMaxBytes + sizeof(Header), "pipeline cache");
  } catch (const Error&) {
    return {};
  }
  Header header;
  if (bytes.size() < sizeof(header)) {
    return {};
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  bytes.erase(0, sizeof(header));
  if (header.magic != Header{}.magic || header.bytes != bytes.size() ||
      XXH3_64bits(bytes.data(), bytes.size()) != header.sum) {
    return {};
  }
  return bytes;
}

}  // namespace

std::string DeviceState::cache_file() const {
  std::string uuid;
  for (const std::uint8_t byte : facts.cache_uuid) {
    uuid += fmt::format("{:02x}", byte);
  }
  return fmt::format("{}/{}-{}.pipelines", options.cache_folder, facts.info.uuid, uuid);
}

void DeviceState::load_pipeline_cache() {
  const std::string data = options.cache_folder.empty() ? std::string() : read_cache(cache_file());
  vk::PipelineCacheCreateInfo info;
  info.initialDataSize = data.size();
  info.pInitialData = data.data();
  cache = vk::raii::PipelineCache(device, info);
}

void DeviceState::save_pipeline_cache() const noexcept {
  if (options.cache_folder.empty() || lost || programs.empty()) {
    return;
  }
  try {
    const std::vector<std::uint8_t> data = cache.getData();
    Header header;
    header.bytes = data.size();
    header.sum = XXH3_64bits(data.data(), data.size());
    std::string bytes(sizeof(header) + data.size(), '\0');
    std::memcpy(bytes.data(), &header, sizeof(header));
    std::memcpy(bytes.data() + sizeof(header), data.data(), data.size());
    if (read_cache(cache_file()).size() == data.size()) {
      return;  // no new pipelines
    }
    std::filesystem::create_directories(options.cache_folder);
    write_file(cache_file(), bytes, true);
  } catch (const std::exception&) {
    return;  // contract: not written
  }
}

}  // namespace rayreplay::kernels::detail
