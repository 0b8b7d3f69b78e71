// Writing a trace file, streaming: memory is a few chunks, whatever the length of the trace.
//
// Contract: construct with everything known before the first event; then for each launch `begin_launch`, `append`
// threads in order of thread id, `end_launch`; at last `finish`, which renames the finished file into place and returns
// its content hash. Until then nothing stands under the final name; a destructor without `finish` leaves no file. The
// bytes of the file depend on the data alone: not on how it was cut into appends, on the time or on the machine.
// Errors: Output (exists already, disk full, …); Internal if the caller breaks the order or the counts.
// Ids bound the width of columns on disk: an instance, primitive or shader id beyond scene and shaders is Internal
// (with an empty scene all of 32 bits are allowed).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "capture/trace/trace.hpp"

namespace rayreplay::trace {

struct WriteOptions {
  bool overwrite = false;
  std::uint32_t chunk_rows = 1U << 18;  ///< rows in a chunk; what is compressed and decoded at once
};

/// Which optional columns the launch's batches have: all of them must agree.
struct LaunchColumns {
  bool geometry = false;
  bool ray = false;
  bool group = false;
  bool site = false;
  bool hint = false;        ///< hint and hint_bits
  std::uint32_t tlas = 0;   ///< Launch::tlas; with kNone ids of instances, primitives and geometries may be anything
  std::uint64_t paths = 0;  ///< rows that add_paths will get; not 0: events and threads have paths
  std::uint64_t access_sites = 0;  ///< rows that add_access_sites will get; not 0: the launch has accesses
};

/// What is known of a launch besides its columns; as in Launch.
struct LaunchExtras {
  std::uint32_t frame = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t dropped_events = 0;
  std::vector<ShaderRecord> shader_table;
  Column<std::uint32_t> thread_path{};
  std::uint32_t pipeline = kNone;
  Images images{};
};

class Writer {
 public:
  Writer(std::filesystem::path path, const Header& header, const std::vector<Shader>& shaders, const Scene& scene,
         WriteOptions options = {});
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void begin_launch(LaunchSize size, LaunchColumns columns = {});
  /// The next threads of the current launch.
  void append(const ThreadData& batch);
  /// Groups and warps, when captured (else empty).
  void end_launch(const Groups& groups = {}, const Column<std::uint32_t>& thread_warp = {},
                  const Column<std::uint8_t>& thread_lane = {}, const LaunchExtras& extras = {});
  /// Behind the last launch, each at most once.
  void add_block_counts(const BlockCounts& counts);
  void add_branch_counts(const InstructionCounts& counts);
  void add_load_counts(const InstructionCounts& counts);
  void add_value_counts(const ValueCounts& counts);
  void add_paths(const Paths& paths);
  void add_access_sites(const AccessSites& sites);
  void add_pipeline_facts(const std::vector<PipelineFacts>& facts);
  std::string finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// The whole trace at once; returns the content hash.
std::string write(const Trace& trace, const std::filesystem::path& path, WriteOptions options = {});

}  // namespace rayreplay::trace
