#include "capture/profile/path_profile.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/profile/shader_profile.hpp"

namespace rayreplay::profile {
namespace {

/// Sums that may be of a made-up file.
class Sum {
 public:
  Sum(const std::string& file, std::size_t path) : file_(file), path_(path) {}
  void add(std::uint64_t& to, std::uint64_t count, std::uint64_t times) const {
    std::uint64_t product = 0;
    if (__builtin_mul_overflow(count, times, &product) || __builtin_add_overflow(to, product, &to)) {
      throw Error(ErrorKind::Input, {"the calls of a path execute more instructions than 64 bits can count",
                                     fmt::format("{}:/profile/paths/calls[{}]", file_, path_), "", "",
                                     "capture the application again; if your own program wrote this, mend it there"});
    }
  }

 private:
  const std::string& file_;
  std::size_t path_;
};

}  // namespace

PathProfile path_profile(const std::vector<trace::Shader>& shaders, const trace::Paths& paths,
                         const std::string& file) {
  trace::BlockCounts blocks;
  blocks.pipeline.assign(paths.block_shader.size(), 0);
  blocks.lanes.assign(paths.block_shader.size(), 0);
  blocks.shader = paths.block_shader;
  blocks.function = paths.function;
  blocks.block = paths.block;
  PathProfile result;
  result.first_count.resize(paths.size());
  result.instructions.resize(paths.size());
  std::size_t path = 0;
  std::uint64_t first_count = 0;
  for (const ShaderProfile& known : shader_profiles({shaders, blocks, 0, "/profile/path_blocks"}, file)) {
    ShaderPaths of;
    of.shader = known.shader;
    for (const BlockProfile& block : known.blocks) {
      of.instructions.push_back(block.instructions);
      of.issue_slots.push_back(block.issue_slots);
    }
    of.first = path;
    of.least = std::numeric_limits<std::uint64_t>::max();
    for (; path < paths.size() && paths.shader[path] == of.shader; ++path) {
      const Sum sum(file, path);
      std::uint64_t executed = 0;
      for (std::size_t b = 0; b < of.instructions.size(); ++b) {
        sum.add(executed, paths.counts[first_count + b], of.instructions[b]);
      }
      result.first_count[path] = first_count;
      result.instructions[path] = executed;
      first_count += of.instructions.size();
      const std::uint64_t calls = paths.calls[path];
      sum.add(of.executed, executed, calls);
      sum.add(of.calls, calls, 1);
      if (calls != 0) {
        ++of.taken;
        of.least = std::min(of.least, executed);
        of.most = std::max(of.most, executed);
        of.most_calls = std::max(of.most_calls, calls);
      }
    }
    of.end = path;
    of.least = std::min(of.least, of.most);
    if (of.end != of.first) {
      result.shaders.push_back(std::move(of));
    }
  }
  return result;
}

}  // namespace rayreplay::profile
