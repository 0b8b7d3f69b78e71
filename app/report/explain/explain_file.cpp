#include "app/report/explain/explain_file.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include <hdf5.h>

#include <nlohmann/json.hpp>

#include "app/report/context/experiment_table.hpp"
#include "app/report/export/hdf5_parts.hpp"
#include "base/json.hpp"

namespace rayreplay::report {
namespace {

using hdf5::checked;
using hdf5::make_group;
using hdf5::write_number;
using hdf5::write_text;
using hdf5::write_texts;
using trace::hdf5::Handle;
using traversal::kTestKinds;

constexpr hsize_t kChunkRows = 65536;
constexpr unsigned kDeflateLevel = 4;
constexpr std::size_t kMemoryStep = std::size_t{1} << 20;

/// A column of `rows` rows with `width` values each (1: one dimension).
void write_column(hid_t group, const char* name, hid_t stored, hid_t native, const void* values, hsize_t rows,
                  hsize_t width) {
  const std::array<hsize_t, 2> extent{rows, width};
  const std::array<hsize_t, 2> chunk{std::min(kChunkRows, std::max<hsize_t>(rows, 1)), width};
  const int rank = width == 1 ? 1 : 2;
  const Handle space(checked(H5Screate_simple(rank, extent.data(), nullptr)));
  const Handle properties(checked(H5Pcreate(H5P_DATASET_CREATE)));
  checked(H5Pset_obj_track_times(properties.get(), false));
  checked(H5Pset_chunk(properties.get(), rank, chunk.data()));
  checked(H5Pset_shuffle(properties.get()));
  checked(H5Pset_deflate(properties.get(), kDeflateLevel));
  const Handle dataset(
      checked(H5Dcreate2(group, name, stored, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT)));
  if (rows > 0) {
    checked(H5Dwrite(dataset.get(), native, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  }
}

template <class Row, class Field>
auto column_of(const std::vector<Row>& rows, Field field) {
  std::vector<decltype(field(rows.front()))> values;
  values.reserve(rows.size());
  std::transform(rows.begin(), rows.end(), std::back_inserter(values), field);
  return values;
}

void write_tests(hid_t root, const traversal::Classification& result) {
  using traversal::ClassifiedTest;
  const Handle group = make_group(root, "tests");
  const hsize_t rows = result.tests.size();
  const auto events = column_of(result.tests, [](const ClassifiedTest& test) { return test.event; });
  write_column(group.get(), "event", H5T_STD_U64LE, H5T_NATIVE_UINT64, events.data(), rows, 1);
  const auto rays = column_of(result.tests, [](const ClassifiedTest& test) { return test.ray; });
  write_column(group.get(), "ray", H5T_STD_U64LE, H5T_NATIVE_UINT64, rays.data(), rows, 1);
  const auto kinds =
      column_of(result.tests, [](const ClassifiedTest& test) { return static_cast<std::uint8_t>(test.kind); });
  write_column(group.get(), "kind", H5T_STD_U8LE, H5T_NATIVE_UINT8, kinds.data(), rows, 1);
  const auto entries = column_of(result.tests, [](const ClassifiedTest& test) { return test.t_enter; });
  write_column(group.get(), "t_enter", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, entries.data(), rows, 1);
}

void write_objects(hid_t root, const traversal::Classification& result) {
  using traversal::ObjectCounts;
  const Handle group = make_group(root, "objects");
  const hsize_t rows = result.by_object.size();
  const auto add = [&](const char* name, auto field) {
    const auto values = column_of(result.by_object, field);
    write_column(group.get(), name, H5T_STD_U32LE, H5T_NATIVE_UINT32, values.data(), rows, 1);
  };
  add("instance", [](const ObjectCounts& object) { return object.instance; });
  add("geometry", [](const ObjectCounts& object) { return object.geometry; });
  add("primitive", [](const ObjectCounts& object) { return object.primitive; });
  const auto counts = column_of(result.by_object, [](const ObjectCounts& object) { return object.counts; });
  write_column(group.get(), "counts", H5T_STD_U64LE, H5T_NATIVE_UINT64, counts.data(), rows, kTestKinds);
}

void write_all(hid_t root, const Explanation& explanation) {
  const traversal::Classification& result = explanation.result;
  write_text(root, "schema", kExplainSchema);
  write_text(root, "tool_version", RAYREPLAY_VERSION);
  write_text(root, "trace_hash", explanation.trace.hash);
  write_number(root, "launch", explanation.launch);
  std::vector<std::string> kinds;
  for (std::size_t kind = 0; kind < kTestKinds; ++kind) {
    kinds.emplace_back(to_key(static_cast<traversal::TestKind>(kind)));
  }
  write_texts(root, "kinds", kinds);
  write_text(root, "configuration", json_text(settings_json(explanation.configuration)));
  if (explanation.simulation == nullptr) {
    write_tests(root, result);
  }
  const Handle rays = make_group(root, "rays");
  write_column(rays.get(), "counts", H5T_STD_U32LE, H5T_NATIVE_UINT32, result.by_ray.data(), result.by_ray.size(),
               kTestKinds);
  write_column(rays.get(), "t_star", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, result.t_star.data(), result.t_star.size(), 1);
  const Handle threads = make_group(root, "threads");
  write_column(threads.get(), "counts", H5T_STD_U64LE, H5T_NATIVE_UINT64, result.by_thread.data(),
               result.by_thread.size(), kTestKinds);
  write_objects(root, result);
}

}  // namespace

std::string explain_file(const Explanation& explanation) {
  const trace::hdf5::QuietScope quiet;
  // The file is built in memory and written atomically (base/output_file.hpp).
  const Handle access(checked(H5Pcreate(H5P_FILE_ACCESS)));
  checked(H5Pset_fapl_core(access.get(), kMemoryStep, false));
  const Handle file(checked(H5Fcreate("result", H5F_ACC_TRUNC, H5P_DEFAULT, access.get())));
  write_all(file.get(), explanation);
  checked(H5Fflush(file.get(), H5F_SCOPE_GLOBAL));
  const ssize_t size = checked(H5Fget_file_image(file.get(), nullptr, 0));
  std::string bytes(static_cast<std::size_t>(size), '\0');
  checked(H5Fget_file_image(file.get(), bytes.data(), bytes.size()));
  return bytes;
}

}  // namespace rayreplay::report
