#include "viewer/content/slice.hpp"

#include <bit>

#include "base/json.hpp"

namespace rayreplay::viewer {
namespace {

constexpr std::string_view kMagic = "RRS1";
constexpr std::size_t kAlignment = 8;
static_assert(std::endian::native == std::endian::little);

void pad(std::string& bytes) {
  bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
}

}  // namespace

void Slice::add(std::string_view name, const char* type, const void* data, std::size_t count, std::size_t bytes) {
  columns_.push_back({{"name", name}, {"type", type}, {"count", count}, {"offset", data_.size()}});
  data_.append(static_cast<const char*>(data), bytes);
  pad(data_);
}

void Slice::add(std::string_view name, std::span<const float> values) {
  add(name, "f32", values.data(), values.size(), values.size_bytes());
}
void Slice::add(std::string_view name, std::span<const std::uint32_t> values) {
  add(name, "u32", values.data(), values.size(), values.size_bytes());
}
void Slice::add(std::string_view name, std::span<const std::uint8_t> values) {
  add(name, "u8", values.data(), values.size(), values.size_bytes());
}

std::string Slice::bytes() const {
  nlohmann::ordered_json all = facts;
  all["columns"] = columns_;
  const std::string text = json_text(all, -1);
  const auto length = static_cast<std::uint32_t>(text.size());
  std::string result(kMagic);
  result.append(reinterpret_cast<const char*>(&length), sizeof length);  // NOLINT: bytes of a number
  result += text;
  pad(result);
  return result + data_;
}

}  // namespace rayreplay::viewer
