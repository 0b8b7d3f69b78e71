#include "capture/trace/writer.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "capture/trace/file/envelope.hpp"
#include "capture/trace/file/hdf5_sink.hpp"
#include "capture/trace/file/hdf5_write.hpp"
#include "capture/trace/rules/rules.hpp"
#include "capture/trace/writing/column_writer.hpp"
#include "capture/trace/writing/extras_writer.hpp"
#include "capture/trace/writing/scene_writer.hpp"

namespace rayreplay::trace {
namespace {

using hdf5::Handle;
using hdf5::written;

[[noreturn]] void misuse(const std::string& what, const std::string& where) {
  throw Error(ErrorKind::Internal, {what, where, "", "", ""});
}

/// Whether a column of rays or events, which have no optional names in common, is part of the launch.
bool is_written(const LaunchColumns& columns, const std::string& name) {
  return name == "geometry"                      ? columns.geometry
         : name == "ray"                         ? columns.ray
         : name == "group"                       ? columns.group
         : name == "path"                        ? columns.paths != 0
         : name == "site"                        ? columns.site
         : name == "hint" || name == "hint_bits" ? columns.hint
                                                 : true;
}

/// Throws Internal unless offsets and columns of a batch fit together.
void require_consistent(const ThreadData& batch, LaunchColumns columns, const std::string& where) {
  const auto offsets_fit = [](const Column<std::uint64_t>& offsets, std::size_t threads, std::size_t rows) {
    return offsets.size() == threads + 1 && offsets.front() == 0 && offsets.back() == rows &&
           std::is_sorted(offsets.begin(), offsets.end());
  };
  const std::size_t threads = batch.threads();
  if (!offsets_fit(batch.ray_offset, threads, batch.rays.size()) ||
      !offsets_fit(batch.event_offset, threads, batch.events.size())) {
    misuse("a batch's offsets do not fit its rows", where);
  }
  const std::size_t accesses = batch.accesses.size();
  if (columns.access_sites != 0 ? !offsets_fit(batch.accesses.offset, threads, accesses)
                                : !batch.accesses.offset.empty() || accesses != 0) {
    misuse("a batch's accesses do not fit its threads, or were not announced", where);
  }
  visit_accesses(batch.accesses, [&](const std::string& name, const auto& column) {
    if (column.size() != accesses) {
      misuse("a batch's columns differ in length", where + "/accesses/" + name);
    }
  });
  visit_rays(batch.rays, [&](const std::string& name, const auto& column, bool) {
    if (column.size() != (is_written(columns, name) ? batch.rays.size() : 0)) {
      misuse("a batch's columns differ in length, or from those announced", where + "/rays/" + name);
    }
  });
  visit_events(batch.events, [&](const std::string& name, const auto& column, bool) {
    if (column.size() != (is_written(columns, name) ? batch.events.size() : 0)) {
      misuse("a batch's columns differ in length, or from those announced", where + "/events/" + name);
    }
  });
}

/// The launch being written.
class LaunchWriter {
 public:
  LaunchWriter(hid_t parent, std::uint64_t index, LaunchSize size, LaunchColumns columns, const IdBounds& bounds,
               ChunkPipeline& pipeline, std::uint64_t chunk_rows)
      : size_(size),
        columns_(columns),
        path_(fmt::format("/launch/{}", index)),
        group_(hdf5::create_group(parent, std::to_string(index).c_str(), path_)),
        threads_(hdf5::create_group(group_.get(), "threads", path_)),
        rays_(hdf5::create_group(group_.get(), "rays", path_)),
        events_(hdf5::create_group(group_.get(), "events", path_)),
        pipeline_(pipeline),
        chunk_rows_(chunk_rows) {
    hdf5::write_attribute(group_.get(), "width", size.width, path_);
    hdf5::write_attribute(group_.get(), "height", size.height, path_);
    hdf5::write_attribute(group_.get(), "depth", size.depth, path_);
    add_column(threads_, "threads", column_spec<std::uint64_t>("ray_offset"));
    add_column(threads_, "threads", column_spec<std::uint64_t>("event_offset", Elision::Forbidden));
    const Rays no_rays;
    visit_rays(no_rays, [&]<class T>(const char* name, const Column<T>&, bool) {
      if (is_written(columns_, name)) {
        add_column(rays_, "rays", column_spec<T>(name));
      }
    });
    const Events no_events;
    visit_events(no_events, [&]<class T>(const char* name, const Column<T>&, bool) {
      if (is_written(columns_, name)) {
        add_column(events_, "events", event_spec<T>(name, bounds, columns_.paths));
      }
    });
    if (columns_.access_sites != 0) {
      access_offset_ = writers_.size();
      add_column(threads_, "threads", column_spec<std::uint64_t>("access_offset"));
      accesses_ = hdf5::create_group(group_.get(), "accesses", path_);
      const Accesses no_accesses;
      visit_accesses(no_accesses, [&]<class T>(const char* name, const Column<T>&) {
        // Sites are always stored: they vouch for the rows.
        ColumnSpec spec = column_spec<T>(name);
        if (std::string_view(name) == "site") {
          spec = bounded_spec<T>("site", columns_.access_sites - 1);
          spec.elision = Elision::Forbidden;
        }
        add_column(accesses_, "accesses", spec);
      });
    }
    const std::uint64_t first = 0;
    add(0, &first, 1, [](std::uint64_t) { return std::uint64_t{0}; });
    add(1, &first, 1, [](std::uint64_t) { return std::uint64_t{0}; });
    if (columns_.access_sites != 0) {
      add(access_offset_, &first, 1, [](std::uint64_t) { return std::uint64_t{0}; });
    }
    pipeline_.flush();
  }

  void append(const ThreadData& batch) {
    require_consistent(batch, columns_, path_);
    const std::uint64_t first_thread = threads_done_;
    if (batch.threads() > size_.threads() - first_thread) {
      misuse("more threads appended than the launch has", path_);
    }
    const auto by_row = [&](const Column<std::uint64_t>& offsets) {
      return [&offsets, first_thread](std::uint64_t row) {
        const auto next = std::upper_bound(offsets.begin(), offsets.end(), row);
        return first_thread + static_cast<std::uint64_t>(next - offsets.begin()) - 1;
      };
    };
    const auto by_thread = [&](std::uint64_t row) { return first_thread + row; };
    const auto shifted = [](const Column<std::uint64_t>& offsets, std::uint64_t base) {
      Column<std::uint64_t> result(offsets.size() - 1);
      std::transform(offsets.begin() + 1, offsets.end(), result.begin(), [&](std::uint64_t o) { return o + base; });
      return result;
    };
    const Column<std::uint64_t> ray_offset = shifted(batch.ray_offset, rays_done_);
    const Column<std::uint64_t> event_offset = shifted(batch.event_offset, events_done_);
    std::size_t place = 0;
    add(place++, ray_offset.data(), ray_offset.size(), by_thread);
    add(place++, event_offset.data(), event_offset.size(), by_thread);
    visit_rays(batch.rays, [&](const char* name, const auto& column, bool) {
      if (is_written(columns_, name)) {
        add(place++, column.data(), column.size(), by_row(batch.ray_offset));
      }
    });
    visit_events(batch.events, [&](const char* name, const auto& column, bool) {
      if (is_written(columns_, name)) {
        add(place++, column.data(), column.size(), by_row(batch.event_offset));
      }
    });
    Column<std::uint64_t> access_offset;
    if (columns_.access_sites != 0) {
      access_offset = shifted(batch.accesses.offset, accesses_done_);
      add(place++, access_offset.data(), access_offset.size(), by_thread);
      visit_accesses(batch.accesses, [&](const char*, const auto& column) {
        add(place++, column.data(), column.size(), by_row(batch.accesses.offset));
      });
    }
    pipeline_.flush();
    threads_done_ += batch.threads();
    rays_done_ += batch.rays.size();
    events_done_ += batch.events.size();
    accesses_done_ += batch.accesses.size();
  }

  void finish(const Groups& groups, const Column<std::uint32_t>& thread_warp, const Column<std::uint8_t>& thread_lane,
              const LaunchExtras& extras) {
    if (threads_done_ != size_.threads()) {
      misuse(fmt::format("the launch ended after {} of {} threads", threads_done_, size_.threads()), path_);
    }
    if (thread_warp.size() != thread_lane.size() || (!thread_warp.empty() && thread_warp.size() != size_.threads())) {
      misuse("warps and lanes are not one for each thread", path_ + "/threads");
    }
    if (extras.thread_path.size() != (columns_.paths != 0 ? size_.threads() : 0)) {
      misuse("paths are not one for each thread", path_ + "/threads");
    }
    if (groups.sm.size() != groups.size() || groups.lane_mask.size() != groups.size() ||
        groups.clock.size() != groups.size()) {
      misuse("the columns of the groups differ in length", path_ + "/groups");
    }
    const auto at_the_end = [&](std::uint64_t) { return size_.threads(); };
    const auto add_last = [&]<class T>(const Handle& group, const char* folder, const ColumnSpec& spec,
                                       const Column<T>& column) {
      add_column(group, folder, spec);
      add(writers_.size() - 1, column.data(), column.size(), at_the_end);
    };
    if (!thread_warp.empty()) {
      add_last(threads_, "threads", bounded_spec<std::uint32_t>("warp", size_.threads() - 1), thread_warp);
      add_last(threads_, "threads", column_spec<std::uint8_t>("lane"), thread_lane);
    }
    if (columns_.paths != 0) {
      add_last(threads_, "threads", bounded_spec<std::uint32_t>("path", columns_.paths), extras.thread_path);
    }
    Handle group;
    if (groups.size() != 0) {
      group = hdf5::create_group(group_.get(), "groups", path_);
      add_last(group, "groups", column_spec<std::uint32_t>("warp", Elision::Forbidden), groups.warp);
      add_last(group, "groups", column_spec<std::uint16_t>("sm"), groups.sm);
      add_last(group, "groups", column_spec<std::uint64_t>("lane_mask"), groups.lane_mask);
      add_last(group, "groups", column_spec<std::uint64_t>("clock"), groups.clock);
    }
    std::vector<ColumnWriter*> columns;
    for (const auto& writer : writers_) {
      columns.push_back(writer.get());
    }
    pipeline_.finish(columns);
    write_launch_extras(group_.get(), path_, columns_.tlas, extras, pipeline_, chunk_rows_);
  }

 private:
  template <class T>
  [[nodiscard]] static ColumnSpec event_spec(const char* name, const IdBounds& bounds, std::uint64_t paths) {
    const std::string text = name;
    if (text == "kind") {
      ColumnSpec spec = column_spec<T>(name, Elision::Forbidden);
      spec.greatest = kEventKinds - 1;
      return spec;
    }
    if (text == "shader") {
      return bounded_spec<T>(name, bounds.shader);
    }
    if (text == "instance") {
      return bounded_spec<T>(name, bounds.instance);
    }
    if (text == "primitive") {
      return bounded_spec<T>(name, bounds.primitive);
    }
    if (text == "geometry") {
      return bounded_spec<T>(name, bounds.geometry);
    }
    if (text == "path") {
      return bounded_spec<T>(name, paths);
    }
    return column_spec<T>(name);
  }
  void add_column(const Handle& group, const char* folder, const ColumnSpec& spec) {
    writers_.push_back(std::make_unique<ColumnWriter>(group.get(), fmt::format("{}/{}/{}", path_, folder, spec.name),
                                                      spec, chunk_rows_));
  }
  template <class OrderOf>
  void add(std::size_t place, const void* data, std::uint64_t rows, OrderOf&& order_of) {
    pipeline_.add(*writers_[place], data, rows, std::forward<OrderOf>(order_of));
  }

  LaunchSize size_;
  LaunchColumns columns_;
  std::string path_;
  Handle group_, threads_, rays_, events_, accesses_;
  ChunkPipeline& pipeline_;
  std::uint64_t chunk_rows_;
  std::vector<std::unique_ptr<ColumnWriter>> writers_;
  std::uint64_t threads_done_ = 0, rays_done_ = 0, events_done_ = 0, accesses_done_ = 0;
  std::size_t access_offset_ = 0;  ///< its writer, if there are accesses
};

}  // namespace

class Writer::Impl {
 public:
  Impl(std::filesystem::path path, const Header& header, const std::vector<Shader>& shaders, const Scene& scene,
       WriteOptions options)
      : output_(std::move(path), options.overwrite),
        chunk_rows_(std::max<std::uint32_t>(options.chunk_rows, 1)),
        bounds_(id_bounds(shaders, scene)),
        shader_count_(shaders.size()),
        warp_size_(header.warp_size),
        shader_stages_(stages_of(shaders)) {
    FaultList faults(1, output_.path().string());
    check_header(header, faults);
    check_shaders(shaders, faults);
    check_scene(scene, faults);
    if (!faults.list().empty()) {
      throw Error(ErrorKind::Internal, faults.list().front());
    }
    guarded([&] {
      create_file();
      write_header(file_.get(), header);
      write_shaders(file_.get(), shaders, pipeline_, chunk_rows_);
      write_scene(file_.get(), scene, pipeline_, chunk_rows_);
      launches_ = hdf5::create_group(file_.get(), "launch", "/launch");
    });
  }
  ~Impl() {
    abandon();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void begin_launch(LaunchSize size, LaunchColumns columns) {
    require(!launch_, "begin_launch before the end of the launch before");
    if (const std::string fault = launch_size_fault(size); !fault.empty()) {
      misuse(fault, output_.path().string());
    }
    const IdBounds bounds = columns.tlas == kNone ? unknown_scene(bounds_) : bounds_;
    require(columns.paths == 0 || paths_ == 0 || columns.paths == paths_, "launches of different paths");
    paths_ = std::max(paths_, columns.paths);
    require(columns.access_sites == 0 || access_sites_ == 0 || columns.access_sites == access_sites_,
            "launches of different sites of accesses");
    access_sites_ = std::max(access_sites_, columns.access_sites);
    guarded([&] { launch_.emplace(launches_.get(), launch_count_, size, columns, bounds, pipeline_, chunk_rows_); });
    ++launch_count_;
  }
  void append(const ThreadData& batch) {
    require(launch_.has_value(), "append outside a launch");
    guarded([&] { launch_->append(batch); });
  }
  void end_launch(const Groups& groups, const Column<std::uint32_t>& thread_warp,
                  const Column<std::uint8_t>& thread_lane, const LaunchExtras& extras) {
    require(launch_.has_value(), "end_launch outside a launch");
    FaultList faults(1, output_.path().string());
    check_launch_images(extras.images, fmt::format("/launch/{}/images", launch_count_ - 1), faults);
    if (!faults.list().empty()) {
      throw Error(ErrorKind::Internal, faults.list().front());
    }
    guarded([&] { launch_->finish(groups, thread_warp, thread_lane, extras); });
    launch_.reset();
  }
  void add_block_counts(const BlockCounts& counts) {
    require(!launch_ && !has_block_counts_, "block counts inside a launch, or a second time");
    has_block_counts_ = true;
    FaultList faults(1, output_.path().string());
    check_block_counts(counts, shader_count_, warp_size_, faults);
    if (!faults.list().empty()) {
      throw Error(ErrorKind::Internal, faults.list().front());
    }
    guarded([&] { write_block_counts(file_.get(), counts, pipeline_, chunk_rows_); });
  }
  /// `kind`: "branches" or "loads".
  void add_instruction_counts(const InstructionCounts& counts, const char* kind, bool addresses, bool& done) {
    require(!launch_ && !done, "instruction counts inside a launch, or a second time");
    done = true;
    FaultList faults(1, output_.path().string());
    check_instruction_counts(counts, kind, addresses, shader_count_, warp_size_, faults);
    if (!faults.list().empty()) {
      throw Error(ErrorKind::Internal, faults.list().front());
    }
    guarded([&] { write_instruction_counts(file_.get(), kind, counts, pipeline_, chunk_rows_); });
  }
  void add_branch_counts(const InstructionCounts& counts) {
    add_instruction_counts(counts, "branches", false, has_branch_counts_);
  }
  void add_load_counts(const InstructionCounts& counts) {
    add_instruction_counts(counts, "loads", true, has_load_counts_);
  }
  void add_value_counts(const ValueCounts& counts) {
    require(!launch_ && !has_value_counts_, "counts of values inside a launch, or a second time");
    has_value_counts_ = true;
    FaultList faults(1, output_.path().string());
    check_value_counts(counts, shader_count_, warp_size_, faults);
    if (!faults.list().empty()) {
      throw Error(ErrorKind::Internal, faults.list().front());
    }
    guarded([&] { write_value_counts(file_.get(), counts, pipeline_, chunk_rows_); });
  }
  void add_paths(const Paths& paths) {
    require(!launch_ && !has_paths_, "paths inside a launch, or a second time");
    require(paths_ == 0 || paths.size() == paths_, "not the announced number of paths");
    has_paths_ = true;
    FaultList faults(1, output_.path().string());
    check_path_table(paths, shader_count_, faults);
    if (!faults.list().empty()) {
      throw Error(ErrorKind::Internal, faults.list().front());
    }
    guarded([&] { write_paths(file_.get(), paths, pipeline_, chunk_rows_); });
  }
  void add_access_sites(const AccessSites& sites) {
    require(!launch_ && !has_access_sites_, "sites of accesses inside a launch, or a second time");
    require(access_sites_ == 0 || sites.size() == access_sites_, "not the announced number of sites");
    has_access_sites_ = true;
    FaultList faults(1, output_.path().string());
    check_access_sites(sites, shader_count_, faults);
    if (!faults.list().empty()) {
      throw Error(ErrorKind::Internal, faults.list().front());
    }
    guarded([&] { write_access_sites(file_.get(), sites, pipeline_, chunk_rows_); });
  }
  void add_pipeline_facts(const std::vector<PipelineFacts>& facts) {
    require(!launch_ && !has_pipeline_facts_, "facts of pipelines inside a launch, or a second time");
    has_pipeline_facts_ = true;
    FaultList faults(1, output_.path().string());
    check_pipeline_facts(facts, shader_stages_, faults);
    if (!faults.list().empty()) {
      throw Error(ErrorKind::Internal, faults.list().front());
    }
    guarded([&] { write_pipeline_facts(file_.get(), facts, pipeline_, chunk_rows_); });
  }
  std::string finish() {
    require(!launch_, "finish before the end of a launch");
    require(access_sites_ == 0 || has_access_sites_, "finish before the announced sites of accesses");
    require(paths_ == 0 || has_paths_, "finish before the announced paths");
    ContentHash hash{};
    guarded([&] {
      launches_.close();
      if (!file_.close()) {
        hdf5::throw_not_written(output_.path().string());
      }
      require_written();
      hash = write_envelope(FileDescriptor(output_.descriptor(), output_.path()));
      output_.commit();
    });
    open_ = false;
    return to_hex(hash);
  }

 private:
  void create_file() {
    const std::string where = output_.path().string();
    const Handle create(written(H5Pcreate(H5P_FILE_CREATE), where));
    written(H5Pset_userblock(create.get(), kEnvelopeBytes), where);
    written(H5Pset_obj_track_times(create.get(), false), where);
    const Handle access(written(H5Pcreate(H5P_FILE_ACCESS), where));
    // One fixed version: checksummed metadata, and the same bytes from newer versions of libhdf5.
    written(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110), where);
    written(H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG), where);
    sink_.emplace(output_.descriptor());
    sink_->use_in(access.get());
    file_ = Handle(written(H5Fcreate("trace", H5F_ACC_TRUNC, create.get(), access.get()), where));
  }

  void require(bool condition, const char* what) const {
    if (!open_) {
      misuse("the writer was used after it had finished or failed", output_.path().string());
    }
    if (!condition) {
      misuse(what, output_.path().string());
    }
  }

  /// Runs one step with libhdf5 quiet. After a failure the writer is closed and names the file in the error.
  template <class Step>
  void guarded(Step&& step) {
    const hdf5::QuietScope quiet;
    try {
      step();
      require_written();
    } catch (const Error& error) {
      abandon();
      ErrorInfo info = error.info();
      if (error.kind() == ErrorKind::Output && sink_ && !sink_->failure().empty()) {
        info.found = sink_->failure();
        info.fix = sink_->fix();
      }
      const std::string file = output_.path().string();
      if (info.where.rfind(file, 0) != 0) {
        info.where = file + (info.where.empty() ? "" : ":" + info.where);
      }
      throw Error(error.kind(), info);
    } catch (...) {
      abandon();
      throw;
    }
  }

  /// libhdf5 does not know of failed writes; the sink does.
  void require_written() const {
    if (sink_ && !sink_->failure().empty()) {
      throw Error(ErrorKind::Output,
                  {"cannot write the trace", output_.path().string(), sink_->failure(), "", sink_->fix()});
    }
  }

  /// Closes the unfinished file.
  void abandon() noexcept {
    open_ = false;
    if (sink_) {
      const hdf5::QuietScope quiet;
      sink_->discard();
      launch_.reset();
      launches_.close();
      file_.close();
    }
  }

  OutputFile output_;
  std::uint64_t chunk_rows_;
  IdBounds bounds_;
  std::size_t shader_count_;
  std::uint32_t warp_size_;
  std::vector<ShaderStage> shader_stages_;
  bool has_block_counts_ = false, has_branch_counts_ = false, has_load_counts_ = false, has_value_counts_ = false;
  ChunkPipeline pipeline_;
  std::optional<hdf5::Sink> sink_;
  Handle file_;
  Handle launches_;
  std::optional<LaunchWriter> launch_;
  std::uint64_t launch_count_ = 0;
  std::uint64_t paths_ = 0;  ///< announced
  bool has_paths_ = false;
  std::uint64_t access_sites_ = 0;  ///< announced
  bool has_access_sites_ = false;
  bool has_pipeline_facts_ = false;
  bool open_ = true;
};

Writer::Writer(std::filesystem::path path, const Header& header, const std::vector<Shader>& shaders, const Scene& scene,
               WriteOptions options)
    : impl_(std::make_unique<Impl>(std::move(path), header, shaders, scene, options)) {}
Writer::~Writer() = default;

void Writer::begin_launch(LaunchSize size, LaunchColumns columns) {
  impl_->begin_launch(size, columns);
}

void Writer::append(const ThreadData& batch) {
  impl_->append(batch);
}

void Writer::end_launch(const Groups& groups, const Column<std::uint32_t>& thread_warp,
                        const Column<std::uint8_t>& thread_lane, const LaunchExtras& extras) {
  impl_->end_launch(groups, thread_warp, thread_lane, extras);
}

void Writer::add_block_counts(const BlockCounts& counts) {
  impl_->add_block_counts(counts);
}

void Writer::add_branch_counts(const InstructionCounts& counts) {
  impl_->add_branch_counts(counts);
}

void Writer::add_load_counts(const InstructionCounts& counts) {
  impl_->add_load_counts(counts);
}

void Writer::add_value_counts(const ValueCounts& counts) {
  impl_->add_value_counts(counts);
}

void Writer::add_paths(const Paths& paths) {
  impl_->add_paths(paths);
}

void Writer::add_access_sites(const AccessSites& sites) {
  impl_->add_access_sites(sites);
}

void Writer::add_pipeline_facts(const std::vector<PipelineFacts>& facts) {
  impl_->add_pipeline_facts(facts);
}

std::string Writer::finish() {
  return impl_->finish();
}

std::string write(const Trace& trace, const std::filesystem::path& path, WriteOptions options) {
  Writer writer(path, trace.header, trace.shaders, trace.scene, options);
  for (const Launch& launch : trace.launches) {
    const Events& events = launch.data.events;
    writer.begin_launch(launch.size, {!events.geometry.empty(), !events.ray.empty(), !events.group.empty(),
                                      !launch.data.rays.site.empty(), !launch.data.rays.hint.empty(), launch.tlas,
                                      launch.thread_path.empty() ? 0 : trace.paths.size(),
                                      launch.data.accesses.offset.empty() ? 0 : trace.access_sites.size()});
    writer.append(launch.data);
    writer.end_launch(launch.groups, launch.thread_warp, launch.thread_lane,
                      {launch.frame, launch.duration_ns, launch.dropped_events, launch.shader_table, launch.thread_path,
                       launch.pipeline, launch.images});
  }
  if (trace.block_counts.size() != 0) {
    writer.add_block_counts(trace.block_counts);
  }
  if (trace.branch_counts.size() != 0) {
    writer.add_branch_counts(trace.branch_counts);
  }
  if (trace.load_counts.size() != 0) {
    writer.add_load_counts(trace.load_counts);
  }
  if (trace.value_counts.size() != 0) {
    writer.add_value_counts(trace.value_counts);
  }
  if (trace.paths.size() != 0) {
    writer.add_paths(trace.paths);
  }
  if (trace.access_sites.size() != 0) {
    writer.add_access_sites(trace.access_sites);
  }
  if (!trace.pipeline_facts.empty()) {
    writer.add_pipeline_facts(trace.pipeline_facts);
  }
  return writer.finish();
}

}  // namespace rayreplay::trace
