// Made-up captures with a known answer: random shader programs run by random warps, as the words a device would leave
// and as the trace that must come of them.
//
//   const SyntheticCapture capture = synthesize({.seed = 3, .warp_size = 32});
//   capture.write(path);  // the spool; ingested, it must be capture.expected
//
// Every thread is a program of records, written down together with the events they stand for; a scheduler then lets
// random lanes of random warps execute equal records together. The two sides share nothing but the programs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "capture/spool/format.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::test {

struct CaptureOptions {
  std::uint64_t seed = 1;
  trace::LaunchSize size{13, 7, 1};
  std::uint32_t launches = 1;
  std::uint32_t warp_size = 8;
  std::uint32_t actions = 4;  ///< of a shader call at most
  bool recursion = false;     ///< hit and miss shaders trace
  bool hit_objects = false;   ///< SER
  bool markers = false;       ///< hints of a developer
  bool window = false;        ///< some threads are not recorded
  bool first_whole = false;   ///< ... but all threads of the first launch are
  bool clock = true;
  bool repack = false;            ///< groups of lanes that did not start together
  bool paths = false;             ///< of calls; every shader is test::branching_shader
  bool accesses = false;          ///< to buffers
  bool facts = false;             ///< of the pipeline, by the driver
  bool images = false;            ///< in descriptors
  std::uint64_t block_words = 0;  ///< cut events into blocks of this size; 0: the writer's
};

struct SyntheticLaunch {
  spool::Launch launch;
  std::vector<std::uint32_t> words;
};

struct SyntheticCapture {
  spool::Process process;
  spool::Device device;
  std::vector<spool::Shader> shaders;
  spool::Pipeline pipeline;
  std::vector<spool::Structure> structures;
  std::vector<SyntheticLaunch> launches;
  std::uint64_t block_words = 0;
  std::vector<spool::Counters> counters;
  std::vector<spool::Counts> counts;
  std::vector<spool::Paths> paths;
  std::vector<spool::Accesses> accesses;
  std::vector<spool::PipelineFacts> pipeline_facts;
  std::vector<spool::Images> images;

  trace::Trace expected;  ///< header: only what the options say

  void write(const std::filesystem::path& path, bool end = true) const;
};

[[nodiscard]] SyntheticCapture synthesize(const CaptureOptions& options);

}  // namespace rayreplay::test
