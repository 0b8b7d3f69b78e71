#include "app/report/cache/cache_file.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include <hdf5.h>

#include "app/report/cache/cache_boxes.hpp"
#include "app/report/cache/cache_datasets.hpp"
#include "app/report/cache/cache_time.hpp"
#include "app/report/export/hdf5_columns.hpp"
#include "capture/trace/file/hdf5_output.hpp"

namespace rayreplay::report {
namespace {

using experiment::CacheResult;
using hdf5::checked;
using hdf5::column;
using hdf5::gather;
using hdf5::GrowingColumn;
using hdf5::make_group;
using hdf5::Place;
using hdf5::write_number;
using hdf5::write_text;
using hdf5::write_texts;
using hdf5::written;
using memory::LevelSums;
using memory::RequestSums;
using trace::hdf5::Handle;

constexpr const char* kSchema = "rayreplay.cache-elements/4";
constexpr hsize_t kRowsAtOnce = 65536;

void write_number64(hid_t object, const char* name, std::uint64_t value) {
  const Handle space(checked(H5Screate(H5S_SCALAR)));
  const Handle attribute(checked(H5Acreate2(object, name, H5T_STD_U64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT)));
  checked(H5Awrite(attribute.get(), H5T_NATIVE_UINT64, &value));
}

void write_real(hid_t object, const char* name, double value) {
  const Handle space(checked(H5Screate(H5S_SCALAR)));
  const Handle attribute(checked(H5Acreate2(object, name, H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT)));
  checked(H5Awrite(attribute.get(), H5T_NATIVE_DOUBLE, &value));
}

/// Texts as a dataset, because attributes have a size limit.
void write_names(hid_t group, const char* name, const std::vector<std::string>& names, const Place& place) {
  std::size_t longest = 1;
  for (const std::string& text : names) {
    longest = std::max(longest, text.size());
  }
  const Handle type(checked(H5Tcopy(H5T_C_S1)));
  checked(H5Tset_size(type.get(), longest));
  checked(H5Tset_strpad(type.get(), H5T_STR_NULLPAD));
  checked(H5Tset_cset(type.get(), H5T_CSET_UTF8));
  std::string bytes;
  for (const std::string& text : names) {
    bytes += text;
    bytes.append(longest - text.size(), '\0');
  }
  GrowingColumn(group, name, type.get(), type.get()).append(bytes.data(), names.size(), place);
}

void write_allocations(hid_t root, const memory::Allocations& allocations, const Place& place) {
  using memory::Allocation;
  const Handle group = make_group(root, "allocations");
  const auto rows = allocations.rows();
  write_names(group.get(), "name", gather(rows, &Allocation::name), place);
  column(group.get(), "kind", gather(rows, [](const Allocation& row) { return static_cast<std::uint8_t>(row.kind); }),
         place);
  column(group.get(), "start", gather(rows, &Allocation::start), place);
  column(group.get(), "bytes", gather(rows, &Allocation::bytes), place);
  column(group.get(), "element_bytes", gather(rows, &Allocation::element_bytes), place);
  column(group.get(), "first_element", gather(rows, &Allocation::first_element), place);
  column(group.get(), "elements", gather(rows, [](const Allocation& row) { return row.elements(); }), place);
  column(group.get(), "subject", gather(rows, &Allocation::subject), place);
}

void write_requests(hid_t group, const std::vector<RequestSums>& sums, const Place& place) {
  column(group, "requests", gather(sums, &RequestSums::requests), place);
  column(group, "l1_hits", gather(sums, &RequestSums::l1_hits), place);
  column(group, "l2_requests", gather(sums, &RequestSums::l2_requests), place);
  column(group, "l2_hits", gather(sums, &RequestSums::l2_hits), place);
  column(group, "first", gather(sums, &RequestSums::first), place);
  column(group, "last", gather(sums, &RequestSums::last), place);
}

void write_pixels(hid_t root, const CacheResult& result, const Place& place) {
  using memory::PixelSums;
  const Handle group = make_group(root, "pixels");
  const std::vector<PixelSums>& pixels = result.analysis.pixels;
  write_number(group.get(), "width", result.size.width);
  write_number(group.get(), "height", result.size.height);
  write_number(group.get(), "depth", result.size.depth);
  write_requests(group.get(), gather(pixels, &PixelSums::requests), place);
  column(group.get(), "dram_bytes", gather(pixels, &PixelSums::bytes), place);
  column(group.get(), "written", gather(pixels, &PixelSums::written), place);
}

void write_distances(hid_t root, const std::vector<memory::ElementDistances>& rows, const Place& place) {
  using memory::ElementDistances;
  const Handle group = make_group(root, "distances");
  column(group.get(), "element", gather(rows, &ElementDistances::element), place);
  column(group.get(), "level", gather(rows, &ElementDistances::level), place);
  column(group.get(), "octave", gather(rows, &ElementDistances::slot), place);
  column(group.get(), "requests", gather(rows, &ElementDistances::requests), place);
}

/// Sums of one window and level, for each kind of data or each SM.
struct LevelRow {
  std::uint32_t window, level, which;
  LevelSums sums;
};

void write_levels(hid_t root, const char* name, const char* which, const std::vector<LevelRow>& rows,
                  const Place& place) {
  const Handle group = make_group(root, name);
  column(group.get(), "window", gather(rows, &LevelRow::window), place);
  column(group.get(), "level", gather(rows, &LevelRow::level), place);
  column(group.get(), which, gather(rows, &LevelRow::which), place);
  using Member = std::uint64_t LevelSums::*;
  for (const auto& [title, member] : {std::pair<const char*, Member>{"accesses", &LevelSums::accesses},
                                      {"hits", &LevelSums::hits},
                                      {"stores", &LevelSums::stores},
                                      {"sectors", &LevelSums::sectors},
                                      {"cold", &LevelSums::cold},
                                      {"stored_only", &LevelSums::stored_only},
                                      {"new_sectors", &LevelSums::new_sectors},
                                      {"capacity", &LevelSums::capacity},
                                      {"conflict", &LevelSums::conflict},
                                      {"beyond", &LevelSums::beyond},
                                      {"sector_misses", &LevelSums::sector_misses},
                                      {"load_sectors", &LevelSums::load_sectors},
                                      {"filled", &LevelSums::filled},
                                      {"written", &LevelSums::written}}) {
    column(group.get(), title, gather(rows, [member = member](const LevelRow& row) { return row.sums.*member; }),
           place);
  }
}

void write_windows(hid_t root, const CacheResult& result, const Place& place) {
  using memory::WindowSums;
  const std::vector<WindowSums>& windows = result.analysis.windows;
  {
    const Handle group = make_group(root, "windows");
    column(group.get(), "first_request", gather(windows, &WindowSums::first_request), place);
    column(group.get(), "requests", gather(windows, &WindowSums::requests), place);
    column(group.get(), "first_cycle", gather(windows, &WindowSums::first_cycle), place);
    column(group.get(), "last_cycle", gather(windows, &WindowSums::last_cycle), place);
    column(group.get(), "dram_read_bytes", gather(windows, &WindowSums::dram_read_bytes), place);
    column(group.get(), "dram_write_bytes", gather(windows, &WindowSums::dram_write_bytes), place);
  }
  std::vector<LevelRow> kinds, sms;
  for (std::uint32_t w = 0; w < windows.size(); ++w) {
    for (std::uint32_t level = 0; level < memory::kLevels; ++level) {
      for (std::uint32_t kind = 0; kind < memory::kDataKinds; ++kind) {
        kinds.push_back({w, level, kind, windows[w].levels[level][kind]});
      }
      for (std::uint32_t sm = 0; sm < windows[w].sms.size(); ++sm) {
        sms.push_back({w, level, sm, windows[w].sms[sm][level]});
      }
    }
  }
  write_levels(root, "kinds", "kind", kinds, place);
  write_levels(root, "sms", "sm", sms, place);
}

/// Warp-cycles by state; `waits` gives those of a row.
template <class Rows, class Waits>
void write_states(hid_t group, const Rows& rows, Waits waits, const Place& place) {
  constexpr std::array kNames = {"reorder", "issue", "traversal", "load_unit", "l1", "merged", "l2", "dram"};
  static_assert(kNames.size() == machine::kWarpWaits);
  for (std::size_t state = 0; state < kNames.size(); ++state) {
    column(group, kNames[state], gather(rows, [&](const auto& row) { return waits(row)[state]; }), place);
  }
}

void write_time(hid_t root, const machine::MemoryTime& time, const Place& place) {
  using machine::SmTime;
  {
    const Handle group = make_group(root, "time_sms");
    std::vector<std::uint32_t> numbers(time.sms.size());
    std::iota(numbers.begin(), numbers.end(), 0U);
    column(group.get(), "sm", numbers, place);
    column(group.get(), "busy", gather(time.sms, &SmTime::busy), place);
    column(group.get(), "barrier", gather(time.sms, &SmTime::barrier), place);
    column(group.get(), "idle", gather(time.sms, &SmTime::idle), place);
    write_states(
        group.get(), time.sms, [](const SmTime& sm) { return sm.waits; }, place);
  }
  const Handle group = make_group(root, "time_stages");
  std::vector<std::uint32_t> numbers(memory::kWorkStages);
  std::iota(numbers.begin(), numbers.end(), 0U);
  column(group.get(), "stage", numbers, place);
  write_states(
      group.get(), time.stages, [](const auto& stage) { return stage; }, place);
}

/// The columns that grow during the experiment.
struct ElementColumns {
  explicit ElementColumns(hid_t group)
      : window(group, "window", H5T_STD_U32LE, H5T_NATIVE_UINT32),
        element(group, "element", H5T_STD_U32LE, H5T_NATIVE_UINT32),
        requests(group, "requests", H5T_STD_U64LE, H5T_NATIVE_UINT64),
        l1_hits(group, "l1_hits", H5T_STD_U64LE, H5T_NATIVE_UINT64),
        l2_requests(group, "l2_requests", H5T_STD_U64LE, H5T_NATIVE_UINT64),
        l2_hits(group, "l2_hits", H5T_STD_U64LE, H5T_NATIVE_UINT64),
        first(group, "first", H5T_STD_U64LE, H5T_NATIVE_UINT64),
        last(group, "last", H5T_STD_U64LE, H5T_NATIVE_UINT64) {}

  GrowingColumn window, element, requests, l1_hits, l2_requests, l2_hits, first, last;
};

/// Reads a written column back in pieces.
class Reader {
 public:
  Reader(hid_t group, const char* name)
      : dataset_(checked(H5Dopen2(group, name, H5P_DEFAULT))), space_(checked(H5Dget_space(dataset_.get()))) {}

  [[nodiscard]] hsize_t rows() const {
    return static_cast<hsize_t>(H5Sget_simple_extent_npoints(space_.get()));
  }
  void read(hsize_t first, std::vector<std::uint64_t>& values) const {
    const hsize_t count = values.size();
    checked(H5Sselect_hyperslab(space_.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr));
    const Handle memory(checked(H5Screate_simple(1, &count, nullptr)));
    checked(H5Dread(dataset_.get(), H5T_NATIVE_UINT64, memory.get(), space_.get(), H5P_DEFAULT, values.data()));
  }

 private:
  Handle dataset_, space_;
};

/// Columns derived from others once windows and allocations are known: `allocation`, `access_rate`, `access_order` (von
/// Buelow et al. 2023, section 5.4).
void derive_columns(hid_t group, const CacheResult& result, const Place& place) {
  const Reader window(group, "window"), element(group, "element"), requests(group, "requests"), first(group, "first");
  GrowingColumn allocation(group, "allocation", H5T_STD_U32LE, H5T_NATIVE_UINT32);
  GrowingColumn rate(group, "access_rate", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT);
  GrowingColumn order(group, "access_order", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT);
  std::vector<std::uint64_t> windows, elements, counts, firsts;
  std::vector<std::uint32_t> allocations;
  std::vector<float> rates, orders;
  for (hsize_t begin = 0; begin < window.rows(); begin += windows.size()) {
    const auto count = static_cast<std::size_t>(std::min<hsize_t>(window.rows() - begin, kRowsAtOnce));
    for (const auto& [reader, values] :
         {std::pair{&window, &windows}, {&element, &elements}, {&requests, &counts}, {&first, &firsts}}) {
      values->resize(count);
      reader->read(begin, *values);
    }
    allocations.resize(count);
    rates.resize(count);
    orders.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const memory::WindowSums& sums = result.analysis.windows[windows[i]];
      const auto all = static_cast<double>(sums.requests);
      allocations[i] = result.allocations.allocation_of(static_cast<std::uint32_t>(elements[i]));
      rates[i] = static_cast<float>(static_cast<double>(counts[i]) / all);
      orders[i] = static_cast<float>(static_cast<double>(firsts[i] - sums.first_request) / all);
    }
    allocation.append(allocations.data(), count, place);
    rate.append(rates.data(), count, place);
    order.append(orders.data(), count, place);
  }
}

}  // namespace

struct CacheFile::State {
  State(const std::string& given, bool force)
      : file(given, force, "the file of elements"), place{"the file of elements", given} {}

  trace::hdf5::OutputHdf5 file;
  Place place;
  Handle group;
  std::unique_ptr<ElementColumns> columns;
  std::vector<PlacedBox> boxes;
  std::vector<memory::ElementDistances> distances;
};

CacheFile::CacheFile(const std::string& path, bool force) : state_(std::make_unique<State>(path, force)) {
  const trace::hdf5::QuietScope quiet;
  state_->group = make_group(state_->file.root(), "elements");
  state_->columns = std::make_unique<ElementColumns>(state_->group.get());
}

CacheFile::~CacheFile() = default;

void CacheFile::take(const bvh::Bvh& structure) {
  state_->boxes = place_boxes(structure);
}

void CacheFile::take(const std::vector<memory::ElementDistances>& rows) {
  state_->distances = rows;
}

void CacheFile::append(const std::vector<memory::ElementRow>& rows) {
  using memory::ElementRow;
  const trace::hdf5::QuietScope quiet;
  const Place& place = state_->place;
  ElementColumns& columns = *state_->columns;
  const auto add = [&](GrowingColumn& target, const auto& values) {
    target.append(values.data(), values.size(), place);
  };
  const auto sum = [&rows](std::uint64_t RequestSums::*member) {
    return gather(rows, [member](const ElementRow& row) { return row.sums.*member; });
  };
  add(columns.window, gather(rows, &ElementRow::window));
  add(columns.element, gather(rows, &ElementRow::element));
  add(columns.requests, sum(&RequestSums::requests));
  add(columns.l1_hits, sum(&RequestSums::l1_hits));
  add(columns.l2_requests, sum(&RequestSums::l2_requests));
  add(columns.l2_hits, sum(&RequestSums::l2_hits));
  add(columns.first, sum(&RequestSums::first));
  add(columns.last, sum(&RequestSums::last));
  state_->file.require_written();
}

void CacheFile::commit(const CacheContext& context) {
  const trace::hdf5::QuietScope quiet;
  const CacheResult& result = context.result;
  const Place& place = state_->place;
  const hid_t root = state_->file.root();
  state_->columns.reset();
  state_->file.flush();  // the columns are read back from the file below
  derive_columns(state_->group.get(), result, place);
  state_->group = Handle();
  write_text(root, "schema", kSchema);
  write_text(root, "tool_version", RAYREPLAY_VERSION);
  write_text(root, "trace_hash", result.trace_hash);
  write_text(root, "application", result.application);
  write_text(root, "device", result.device);
  write_text(root, "configuration", cache_configuration(context));
  write_text(root, "machine", machine::to_toml(result.machine));
  write_number64(root, "hit_unit", memory::kOne);
  write_number64(root, "fill_unit", memory::kOneSector);
  write_number64(root, "requests", result.analysis.requests);
  write_number64(root, "rays", result.tally.rays);
  write_real(root, "reuse_weight", result.analysis.reuse_weight);
  write_texts(root, "kind_names", {memory::kDataKindNames.begin(), memory::kDataKindNames.end()});
  write_texts(root, "level_names", {"L1", "L2"});
  write_allocations(root, result.allocations, place);
  write_windows(root, result, place);
  if (!result.analysis.pixels.empty()) {
    write_pixels(root, result, place);
  }
  if (has_time(result)) {
    write_texts(root, "stage_names", {memory::kWorkStageNames.begin(), memory::kWorkStageNames.end()});
    write_time(root, result.interleaved.time, place);
  }
  if (!state_->distances.empty()) {
    write_distances(root, state_->distances, place);
  }
  if (!state_->boxes.empty()) {
    write_boxes(root, state_->boxes, result.allocations, place);
  }
  describe_datasets(root);
  state_->file.commit();
}

}  // namespace rayreplay::report
