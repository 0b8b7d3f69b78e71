// Fuzzer of the reader of traces. Sound traces are changed as HDF5 files, written anew and sealed, so that the change
// gets past the content hash. `load` must refuse them as Input or Resource, naming the file, or give a trace that
// passes `check` and comes back when it is written; `read_info` must not do worse.
//
// Changes are of values, types, shapes, chunks, filters, links, attributes, texts, objects of another trace, bytes of
// the file. libFuzzer's own changes of the recipes are all that is needed.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <hdf5.h>

#include "capture/trace/file/envelope.hpp"
#include "capture/trace/file/file_descriptor.hpp"
#include "capture/trace/reader.hpp"
#include "capture/trace/validate.hpp"
#include "capture/trace/writer.hpp"
#include "tests/fuzz/support/fuzzer.hpp"
#include "tests/fuzz/support/recipe.hpp"
#include "tests/fuzz/support/scratch.hpp"
#include "tests/fuzz/support/trace_model.hpp"

namespace rayreplay::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKinds[] = {"traces"};
constexpr std::uint64_t kSoundTraces = 12;
constexpr std::uint64_t kChanges = 15;  ///< kinds of them
constexpr int kMaxChanges = 24;
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 20U;       ///< of one dataset's data
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{16} << 20U;  ///< larger files take too long to hash

/// Two paths of the first shader that an event enters; its calls have the second one.
void add_paths(trace::Trace& trace) {
  std::optional<std::uint16_t> shader;
  std::uint64_t calls = 0;
  for (trace::Launch& launch : trace.launches) {
    trace::Events& events = launch.data.events;
    launch.thread_path.assign(launch.size.threads(), 0);
    events.path.assign(events.size(), 0);
    for (std::size_t e = 0; e < events.size(); ++e) {
      if (trace::enters_shader(events.kind[e]) && shader.value_or(events.shader[e]) == events.shader[e]) {
        shader = events.shader[e];
        events.path[e] = 2;
        ++calls;
      }
    }
  }
  const std::uint16_t id = shader.value_or(0);
  trace.paths = {{id, id}, {0, calls}, {1, 0, 1, 9}, {id, id}, {0, 0}, {0, 1}};
}

/// Every thread loads and stores once, in groups of its own.
void add_accesses(trace::Trace& trace) {
  using enum trace::AccessKind;
  using enum trace::AccessSpace;
  trace.access_sites = {{0, 0}, {0, 0}, {0, 1}, {4, 8}, {Load, Store}, {Descriptor, Device},
                        {1, 0}, {2, 0}, {0, 0}, {4, 8}};
  for (trace::Launch& launch : trace.launches) {
    trace::Accesses& accesses = launch.data.accesses;
    accesses.offset.assign(1, 0);
    const auto threads = static_cast<std::uint32_t>(launch.size.threads());
    for (std::uint32_t t = 0; t < threads; ++t) {
      const auto events = static_cast<std::uint32_t>(launch.data.event_offset[t + 1] - launch.data.event_offset[t]);
      accesses.event.insert(accesses.event.end(), {0, events});
      accesses.site.insert(accesses.site.end(), {0, 1});
      accesses.address.insert(accesses.address.end(), {4 * t, std::uint64_t{t} << 33U});
      accesses.group.insert(accesses.group.end(), {2 * t, 2 * t + 1});
      accesses.offset.push_back(accesses.size());
    }
  }
}

/// Makes the trace a merged profile: sums of paths and accesses, without launches.
void merge_launches(trace::Trace& trace) {
  trace.launches.clear();
  trace::AccessSites& sites = trace.access_sites;
  for (auto* column :
       {&sites.lanes, &sites.groups, &sites.sectors, &sites.lines, &sites.group_sectors, &sites.group_lines}) {
    column->assign(sites.size(), 12);
  }
}

/// A group of each shader, and executables with statistics.
void add_pipeline_facts(trace::Trace& trace) {
  trace::PipelineFacts& facts = trace.pipeline_facts.emplace_back();
  facts.recursion_depth = 2;
  facts.dynamic_stack = true;
  facts.set_stack = 512;
  for (std::size_t s = 0; s < trace.shaders.size(); ++s) {
    const auto id = static_cast<std::uint16_t>(s);
    trace::GroupStack& group = facts.groups.emplace_back();
    switch (trace.shaders[s].stage) {
      case trace::ShaderStage::ClosestHit:
        group.closest_hit = id;
        group.closest_hit_bytes = 16 * s;
        break;
      case trace::ShaderStage::AnyHit:
        group.any_hit = id;
        group.any_hit_bytes = 16 * s;
        break;
      case trace::ShaderStage::Intersection:
        group.intersection = id;
        group.intersection_bytes = 16 * s;
        break;
      default:
        group.general = id;
        group.general_bytes = 16 * s;
        break;
    }
  }
  facts.executables = {
      {"main", "of a test", 0x100, 32, {{"Register Count", "of a thread", trace::StatisticFormat::Uint64, 64}}},
      {"hits", "", 0x600, 32, {{"spills", "", trace::StatisticFormat::Bool, 1}}}};
  trace.pipeline_facts.emplace_back().pipeline = 7;
}

const std::vector<TraceModel>& sound_models() {
  static const std::vector<TraceModel> kModels = [] {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    std::vector<TraceModel> models;
    const fs::path path = scratch() / "sound.rrt";
    for (std::uint64_t s = 0; s < kSoundTraces; ++s) {
      trace::Trace trace = test::random_trace({.seed = s,
                                               .size = {1 + static_cast<std::uint32_t>(s), 3, 1},
                                               .launches = 1 + static_cast<std::uint32_t>(s % 2),
                                               .scene = s % 3 != 0,
                                               .geometry = s % 2 == 0,
                                               .ray = s % 4 == 1,
                                               .group = s % 3 == 1,
                                               .warps = s % 5 < 3,
                                               .capture = s % 4 >= 2});
      if (s % 4 == 3) {
        add_paths(trace);
      }
      if (s % 3 == 2) {
        add_accesses(trace);
      }
      if (s % 4 < 2) {
        add_pipeline_facts(trace);
      }
      if (s + 1 == kSoundTraces) {
        merge_launches(trace);
      }
      trace::write(trace, path, {.overwrite = true, .chunk_rows = s % 2 == 0 ? 32U : 1U << 18});
      models.push_back(read_model(path));
    }
    return models;
  }();
  return kModels;
}

/// The same hid_t lives as long as the process: types are taken by value everywhere else.
std::shared_ptr<const hid_t> any_type(Choices& choices) {
  const hid_t types[] = {H5T_STD_U8LE, H5T_STD_U16LE,  H5T_STD_U32LE, H5T_STD_U64LE, H5T_IEEE_F32LE, H5T_STD_I32LE,
                         H5T_STD_I8LE, H5T_IEEE_F64LE, H5T_STD_U32BE, H5T_STD_B8LE,  H5T_STD_REF_OBJ};
  const std::uint64_t choice = choices.below(std::size(types) + 3);
  if (choice < std::size(types)) {
    return shared_type(H5Tcopy(types[choice]));
  }
  const hid_t type = H5Tcopy(H5T_C_S1);
  if (choice == std::size(types)) {
    H5Tset_size(type, H5T_VARIABLE);
  } else {
    H5Tset_size(type, 1 + choices.number() % (choice == std::size(types) + 1 ? 40U : 1U << 28U));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
  }
  return shared_type(type);
}

std::uint64_t bytes_of(const Object& object) {
  const std::uint64_t count = elements(object.extent);
  const std::size_t each = std::max<std::size_t>(type_bytes(object.type), 1);
  return count > kMaxBytes / each ? kMaxBytes + 1 : count * each;
}

/// After a change of type or extent: as many bytes as the dataset then has, or none where they are too many, and where
/// they would be addresses in this process.
void fit_data(Object& object, char filling) {
  const bool is_plain = H5Tis_variable_str(*object.type) == 0 && H5Tget_class(*object.type) != H5T_REFERENCE;
  const std::uint64_t bytes = bytes_of(object);
  object.data.resize(is_plain && bytes <= kMaxBytes ? bytes : 0, filling);
}

class Change {
 public:
  Change(TraceModel& model, Choices& choices) : model_(model), choices_(choices) {}

  void make(std::uint64_t kind) {
    switch (kind) {
      case 0:
      case 1:
      case 2:
        return values();
      case 3:
        return swap_values();
      case 4:
        return type();
      case 5:
        return extent();
      case 6:
        return rows_of_table();
      case 7:
        return chunks();
      case 8:
        return stored_chunk();
      case 9:
        return remove();
      case 10:
        return link();
      case 11:
        return attribute();
      case 12:
        return text();
      default:
        return transplant();
    }
  }

 private:
  Object& any_object() {
    return model_[choices_.below(model_.size())];
  }
  /// Null where the object that was chosen is none.
  Object* any_dataset() {
    const std::uint64_t start = choices_.below(model_.size());
    for (std::size_t i = 0; i < model_.size(); ++i) {
      Object& object = model_[(start + i) % model_.size()];
      if (object.kind == ObjectKind::Dataset) {
        return &object;
      }
    }
    return nullptr;
  }

  void put(std::string& data, std::size_t each) {
    if (each == 0 || data.size() < each) {
      return;
    }
    const std::size_t at = choices_.below(data.size() / each) * each;
    std::uint64_t value = 0;
    const std::size_t width = std::min<std::size_t>(each, sizeof value);
    std::memcpy(&value, data.data() + at, width);
    value = changed(value, choices_);
    const std::size_t until = choices_.below(8) == 0 ? data.size() : at + each;
    for (std::size_t place = at; place + each <= until; place += each) {
      std::memcpy(data.data() + place, &value, width);
    }
  }

  void values() {
    if (Object* dataset = any_dataset()) {
      put(dataset->data, type_bytes(dataset->type));
    }
  }
  void swap_values() {
    Object* dataset = any_dataset();
    if (dataset == nullptr || type_bytes(dataset->type) == 0) {
      return;
    }
    const std::size_t each = type_bytes(dataset->type);
    const std::size_t count = dataset->data.size() / each;
    const std::size_t from = choices_.below(count) * each;
    const std::size_t to = choices_.below(count) * each;
    if (count > 0 && from != to) {
      std::swap_ranges(dataset->data.begin() + static_cast<std::ptrdiff_t>(from),
                       dataset->data.begin() + static_cast<std::ptrdiff_t>(from + each),
                       dataset->data.begin() + static_cast<std::ptrdiff_t>(to));
    }
  }
  void type() {
    if (Object* dataset = any_dataset()) {
      dataset->type = any_type(choices_);
      fit_data(*dataset, static_cast<char>(choices_.byte()));
    }
  }
  void set_rows(Object& dataset, std::uint64_t rows) {
    if (!dataset.extent.empty()) {
      dataset.extent[0] = rows;
      fit_data(dataset, 0);
    }
  }
  std::uint64_t rows_near(const Object& dataset) {
    const std::uint64_t rows = dataset.extent.empty() ? 0 : dataset.extent[0];
    const std::uint64_t some = choices_.below(8);
    switch (choices_.below(3)) {
      case 0:
        return rows + some;
      case 1:
        return rows - std::min(rows, some);
      default:
        return choices_.number() % (std::uint64_t{1} << 50U);
    }
  }
  void extent() {
    Object* dataset = any_dataset();
    if (dataset == nullptr) {
      return;
    }
    switch (choices_.below(4)) {
      case 0:
        dataset->extent.push_back(1 + choices_.below(4));
        if (!dataset->chunk.empty()) {
          dataset->chunk.push_back(1 + choices_.below(4));
        }
        break;
      case 1:
        if (dataset->extent.size() > 1) {
          dataset->extent.back() = choices_.below(9);
        }
        break;
      default:
        return set_rows(*dataset, rows_near(*dataset));
    }
    dataset->extent.resize(std::min<std::size_t>(dataset->extent.size(), 4));
    dataset->chunk.resize(std::min(dataset->chunk.size(), dataset->extent.size()));
    fit_data(*dataset, 0);
  }
  /// Every column of a table, so that they agree.
  void rows_of_table() {
    const Object* dataset = any_dataset();
    if (dataset == nullptr || dataset->extent.empty()) {
      return;
    }
    const std::string folder = dataset->path.substr(0, dataset->path.rfind('/') + 1);
    const hsize_t before = dataset->extent[0];
    const std::uint64_t rows = rows_near(*dataset);
    for (Object& object : model_) {
      if (object.kind == ObjectKind::Dataset && object.path.starts_with(folder) && !object.extent.empty() &&
          object.extent[0] == before) {
        set_rows(object, rows);
      }
    }
  }
  void chunks() {
    Object* dataset = any_dataset();
    if (dataset == nullptr || dataset->extent.empty()) {
      return;
    }
    if (choices_.below(6) == 0) {
      dataset->chunk.clear();
    } else {
      dataset->chunk.assign(dataset->extent.size(), 1);
      for (std::size_t i = 0; i < dataset->chunk.size(); ++i) {
        dataset->chunk[i] = std::max<hsize_t>(1, i == 0 ? choices_.number() % (1U << 26U) : dataset->extent[i]);
      }
    }
    const std::uint64_t filters = choices_.below(8);
    dataset->shuffle = (filters & 1U) != 0;
    dataset->deflate = (filters & 2U) != 0;
    dataset->fletcher = (filters & 4U) != 0;
    // Each chunk that is written is filled: few large ones.
    const std::uint64_t each = elements(dataset->chunk) * type_bytes(dataset->type);
    if (each > kMaxBytes) {
      dataset->data.clear();
    }
  }
  void stored_chunk() {
    Object* dataset = any_dataset();
    if (dataset == nullptr || dataset->chunk.empty()) {
      return;
    }
    StoredChunk chunk;
    chunk.number = choices_.below(4);
    chunk.filter_mask = static_cast<std::uint32_t>(choices_.below(8));
    const std::size_t size = choices_.below(200);
    const char filling = static_cast<char>(choices_.byte());
    chunk.data.assign(size, filling);
    for (std::size_t n = std::min<std::size_t>(size, choices_.below(16)); n > 0; --n) {
      chunk.data[n - 1] = static_cast<char>(choices_.byte());
    }
    dataset->stored.push_back(std::move(chunk));
  }
  void remove() {
    const std::string path = any_object().path;
    if (path != "/") {
      std::erase_if(model_, [&](const Object& one) { return one.path == path || one.path.starts_with(path + "/"); });
    }
  }
  void link() {
    Object& object = any_object();
    const std::string target = any_object().path;
    if (object.path != "/" && object.path != target) {
      object.kind = choices_.below(2) == 0 ? ObjectKind::SoftLink : ObjectKind::HardLink;
      object.target = target;
      // A hard link needs its target to be there.
      std::rotate(model_.begin() + (&object - model_.data()), model_.begin() + (&object - model_.data()) + 1,
                  model_.end());
    }
  }
  void attribute() {
    const std::uint64_t start = choices_.below(model_.size());
    for (std::size_t i = 0; i < model_.size(); ++i) {
      Object& object = model_[(start + i) % model_.size()];
      if (!object.attributes.empty()) {
        return change_attribute(object.attributes);
      }
    }
  }
  void change_attribute(std::vector<Attribute>& attributes) {
    const std::size_t place = choices_.below(attributes.size());
    Attribute& attribute = attributes[place];
    switch (choices_.below(6)) {
      case 0:
        attributes.erase(attributes.begin() + static_cast<std::ptrdiff_t>(place));
        return;
      case 1:
        attribute.type = any_type(choices_);
        attribute.extent.assign(choices_.below(3), 1 + choices_.below(3));
        attribute.data.assign(0, '\0');
        return;
      case 2:
        put(attribute.data, 1);
        return;
      default:
        put(attribute.data, H5Tget_class(*attribute.type) == H5T_STRING ? 1 : type_bytes(attribute.type));
    }
  }
  /// Of a dataset of texts: bytes, an entry's length, their number.
  void text() {
    const std::uint64_t start = choices_.below(model_.size());
    for (std::size_t i = 0; i < model_.size(); ++i) {
      Object& object = model_[(start + i) % model_.size()];
      if (object.kind == ObjectKind::Dataset && H5Tget_class(*object.type) == H5T_STRING) {
        if (!object.data.empty() && choices_.below(3) != 0) {
          object.data[choices_.below(object.data.size())] = static_cast<char>(choices_.byte());
        } else {
          object.type = any_type(choices_);
          fit_data(object, static_cast<char>(choices_.byte()));
        }
        return;
      }
    }
  }
  /// An object of another sound trace, with all that it holds.
  void transplant() {
    const TraceModel& other = sound_models()[choices_.below(kSoundTraces)];
    const std::string path = other[choices_.below(other.size())].path;
    if (path == "/") {
      return;
    }
    std::erase_if(model_, [&](const Object& one) { return one.path == path || one.path.starts_with(path + "/"); });
    std::copy_if(other.begin(), other.end(), std::back_inserter(model_),
                 [&](const Object& one) { return one.path == path || one.path.starts_with(path + "/"); });
  }

  TraceModel& model_;
  Choices& choices_;
};

std::vector<std::string> seeds() {
  return recipes(kSoundTraces, kChanges);
}

void write_changed(std::string_view input, const fs::path& file) {
  Choices choices(input);
  TraceModel model = sound_models()[choices.below(kSoundTraces)];
  const bool bytes =
      follow(choices, kChanges, kMaxChanges, [&](std::uint64_t kind) { Change(model, choices).make(kind); });
  write_model(model, file);
  if (bytes) {
    change_file(file, trace::kEnvelopeBytes, choices);
  }
}

Verdict run(std::string_view input) {
  use_one_worker();
  static const fs::path kFile = scratch() / "t.rrt";
  static const fs::path kAgain = scratch() / "again.rrt";
  write_changed(input, kFile);
  const std::uintmax_t bytes = fs::file_size(kFile);
  if (bytes <= trace::kEnvelopeBytes || bytes > kMaxFileBytes) {
    return {0, false};
  }
  trace::write_envelope(trace::FileDescriptor(kFile, trace::FileDescriptor::Mode::ReadWrite));
  taken({ErrorKind::Input, ErrorKind::Resource}, [&] { static_cast<void>(trace::read_info(kFile)); });
  trace::Trace trace;
  const bool sound = taken({ErrorKind::Input, ErrorKind::Resource}, [&] {
    try {
      trace = trace::load(kFile, {.max_bytes = std::uint64_t{256} << 20U});
    } catch (const Error& error) {
      if (!error.info().where.starts_with(kFile.string())) {
        finding(std::string("the error does not name the file: ") + error.what());
      }
      throw;
    }
  });
  if (sound) {
    taken({}, [&] {
      trace::check(trace, kFile.string());
      trace::write(trace, kAgain, {.overwrite = true});
      static_cast<void>(trace::load(kAgain));
    });
  }
  return {0, sound};
}

}  // namespace

const Fuzzer kFuzzer{"trace", kKinds, &seeds, &run, nullptr, 250};

}  // namespace rayreplay::fuzz
