#include "capture/trace/reading/column_plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "capture/trace/file/hdf5_type.hpp"

namespace rayreplay::trace {
namespace {

using hdf5::Handle;

constexpr std::uint64_t kGreatestChunkBytes = std::uint64_t{64} << 20;
// libhdf5 finds the i-th chunk by walking over those before it. 2^16 chunks of the usual size are 17 billion rows.
constexpr std::uint64_t kGreatestChunks = std::uint64_t{1} << 16;

std::optional<Storage> storage_of_type(hid_t type) {
  const std::array<std::pair<hid_t, Storage>, 5> known{{{H5T_STD_U8LE, Storage::U8},
                                                        {H5T_STD_U16LE, Storage::U16},
                                                        {H5T_STD_U32LE, Storage::U32},
                                                        {H5T_STD_U64LE, Storage::U64},
                                                        {H5T_IEEE_F32LE, Storage::F32}}};
  for (const auto& [id, storage] : known) {
    if (H5Tequal(type, id) > 0) {
      return storage;
    }
  }
  return std::nullopt;
}

std::string expected_types(Storage memory) {
  if (memory == Storage::F32) {
    return "f32, little-endian";
  }
  std::string text;
  for (const Storage storage : {Storage::U8, Storage::U16, Storage::U32, Storage::U64}) {
    if (bytes_of(storage) <= bytes_of(memory)) {
      text += (text.empty() ? "" : ", ") + std::string(name_of(storage));
    }
  }
  return text + ", little-endian";
}

bool may_become(Storage disk, Storage memory) {
  return disk == memory || (disk != Storage::F32 && memory != Storage::F32 && bytes_of(disk) <= bytes_of(memory));
}

}  // namespace

ColumnPlan Planner::plan_column(hid_t group, const std::string& path, const ColumnSpec& spec,
                                std::optional<std::uint64_t> rows) {
  ColumnPlan plan;
  plan.dataset = path + "/" + spec.name;
  plan.memory = spec.memory;
  plan.width = spec.width;
  const Handle dataset = file_.dataset(group, spec.name, plan.dataset);
  const Handle type(H5Dget_type(dataset.get()));
  const std::optional<Storage> disk = storage_of_type(type.get());
  if (!disk || !may_become(*disk, spec.memory)) {
    file_.fail(plan.dataset, "the dataset has another type", disk ? name_of(*disk) : hdf5::type_text(type.get()),
               expected_types(spec.memory));
  }
  plan.disk = *disk;
  plan_shape(dataset.get(), plan);
  if (rows && plan.rows != *rows) {
    file_.fail(plan.dataset, "the dataset has another number of rows than its table", std::to_string(plan.rows),
               std::to_string(*rows));
  }
  const Handle properties(H5Dget_create_plist(dataset.get()));
  const std::vector<H5Z_filter_t> filters = plan_filters(properties.get(), plan);
  H5D_fill_value_t fill{};
  if (H5Pfill_value_defined(properties.get(), &fill) < 0 ||
      (fill != H5D_FILL_VALUE_UNDEFINED && H5Pget_fill_value(properties.get(), type.get(), plan.fill.data()) < 0)) {
    file_.fail(plan.dataset, "the dataset's fill value cannot be read", hdf5::last_message());
  }
  plan_chunks(dataset.get(), filters, plan);
  const std::uint64_t chunks = (plan.rows + plan.chunk_rows - 1) / plan.chunk_rows;
  if (spec.elision == Elision::Forbidden && plan.chunks.size() != chunks) {
    file_.fail(plan.dataset, fmt::format("the dataset claims {} rows, but chunks of it are missing", plan.rows),
               fmt::format("{} chunks", plan.chunks.size()), std::to_string(chunks));
  }
  return plan;
}

void Planner::plan_shape(hid_t dataset, ColumnPlan& plan) const {
  const Handle space(H5Dget_space(dataset));
  const Handle properties(H5Dget_create_plist(dataset));
  const int rank = plan.width == 1 ? 1 : 2;
  std::array<hsize_t, 2> extent{0, 1};
  if (H5Sget_simple_extent_type(space.get()) != H5S_SIMPLE || H5Sget_simple_extent_ndims(space.get()) != rank ||
      H5Sget_simple_extent_dims(space.get(), extent.data(), nullptr) != rank || extent[1] != plan.width) {
    file_.fail(plan.dataset, "the dataset has another shape", "",
               plan.width == 1 ? "one dimension" : fmt::format("rows of {} numbers", plan.width));
  }
  std::array<hsize_t, 2> chunk{0, 1};
  if (H5Pget_layout(properties.get()) != H5D_CHUNKED || H5Pget_chunk(properties.get(), rank, chunk.data()) != rank) {
    file_.fail(plan.dataset, "the dataset is not stored in chunks");
  }
  const std::uint64_t row_bytes = bytes_of(plan.disk) * plan.width;
  if (chunk[0] == 0 || chunk[1] != plan.width || chunk[0] > kGreatestChunkBytes / row_bytes) {
    file_.fail(plan.dataset, "the dataset's chunks have an unusable size", fmt::format("{} x {}", chunk[0], chunk[1]),
               fmt::format("at most {} bytes, whole rows", kGreatestChunkBytes));
  }
  // Keeps all products of rows below 2^64.
  if (extent[0] > (std::uint64_t{1} << 48)) {
    file_.fail(plan.dataset, "the dataset claims more rows than any file holds", std::to_string(extent[0]));
  }
  plan.rows = extent[0];
  plan.chunk_rows = chunk[0];
}

std::vector<H5Z_filter_t> Planner::plan_filters(hid_t properties, const ColumnPlan& plan) const {
  std::vector<H5Z_filter_t> filters;
  const int count = H5Pget_nfilters(properties);
  for (int i = 0; i < count && i < 3; ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    unsigned configuration = 0;
    filters.push_back(
        H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &values, nullptr, 0, nullptr, &configuration));
  }
  const std::vector<H5Z_filter_t> both{H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE};
  const bool known = count >= 0 && (filters.empty() || filters == both ||
                                    (filters.size() == 1 && (filters[0] == both[0] || filters[0] == both[1])));
  if (!known) {
    file_.fail(plan.dataset, "the dataset has a filter that the format does not know", "", "shuffle, then deflate");
  }
  return filters;
}

void Planner::plan_chunks(hid_t dataset, const std::vector<H5Z_filter_t>& filters, ColumnPlan& plan) {
  const Handle space(H5Dget_space(dataset));
  hsize_t count = 0;
  if (H5Dget_num_chunks(dataset, space.get(), &count) < 0) {
    file_.fail(plan.dataset, "the dataset's chunks cannot be listed", hdf5::last_message());
  }
  const std::uint64_t greatest = std::min((plan.rows + plan.chunk_rows - 1) / plan.chunk_rows, kGreatestChunks);
  if (count > greatest) {
    file_.fail(plan.dataset, "the dataset has too many chunks", std::to_string(count),
               fmt::format("at most {}", greatest));
  }
  const std::uint64_t bias = hdf5::chunk_address_bias(file_.user_block());
  const std::uint64_t chunk_bytes = plan.chunk_rows * plan.width * bytes_of(plan.disk);
  plan.chunks.reserve(count);
  for (hsize_t i = 0; i < count; ++i) {
    std::array<hsize_t, 3> offset{};
    unsigned mask = 0;
    haddr_t address = 0;
    hsize_t bytes = 0;
    if (H5Dget_chunk_info(dataset, space.get(), i, offset.data(), &mask, &address, &bytes) < 0) {
      file_.fail(plan.dataset, "the dataset's chunks cannot be listed", hdf5::last_message());
    }
    StoredChunk chunk;
    chunk.index = offset[0] / plan.chunk_rows;
    chunk.bytes = bytes;
    for (std::size_t f = 0; f < filters.size(); ++f) {
      if ((mask >> f & 1U) == 0) {
        (filters[f] == H5Z_FILTER_SHUFFLE ? chunk.filters.shuffle : chunk.filters.deflate) = true;
      }
    }
    const std::uint64_t end = file_.bytes().size();
    if (offset[0] % plan.chunk_rows != 0 || offset[0] >= plan.rows || address == HADDR_UNDEF || address > end ||
        address + bias < file_.user_block() || bytes > end || address + bias + bytes > end) {
      file_.fail(plan.dataset, fmt::format("chunk {} lies outside the dataset or the file", i));
    }
    chunk.position = address + bias;
    if (chunk.filters.deflate ? bytes < chunk_bytes / kGreatestDeflateRatio : bytes != chunk_bytes) {
      file_.fail(plan.dataset, fmt::format("chunk {} cannot hold what the dataset claims", i),
                 fmt::format("{} bytes", bytes), fmt::format("{} bytes of data", chunk_bytes));
    }
    plan.stored_bytes += bytes;
    plan.chunks.push_back(chunk);
  }
  std::sort(plan.chunks.begin(), plan.chunks.end(),
            [](const StoredChunk& a, const StoredChunk& b) { return a.index < b.index; });
  const auto same = std::adjacent_find(plan.chunks.begin(), plan.chunks.end(),
                                       [](const auto& a, const auto& b) { return a.index == b.index; });
  stored_bytes_ += plan.stored_bytes;
  if (same != plan.chunks.end() || stored_bytes_ > file_.bytes().size()) {
    file_.fail(plan.dataset, "the dataset's chunks overlap");
  }
}

}  // namespace rayreplay::trace
