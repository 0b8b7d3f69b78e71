#include "capture/ingest/spool_contents.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "capture/spool/payload.hpp"

namespace rayreplay::ingest {
namespace {

class Contents {
 public:
  void add(const spool::Block& block) {
    switch (block.type) {
      case spool::BlockType::Process:
        return take<spool::Process>(block, [&](auto& x) { result_.process = std::move(x); });
      case spool::BlockType::Device:
        return take<spool::Device>(block, [&](auto& x) { result_.devices[x.device] = std::move(x); });
      case spool::BlockType::Shader:
        return take<spool::Shader>(block, [&](auto& x) { result_.shaders[x.shader] = std::move(x); });
      case spool::BlockType::Pipeline:
        return take<spool::Pipeline>(block, [&](auto& x) { result_.pipelines[x.pipeline] = std::move(x); });
      case spool::BlockType::Structure:
        return add_structure(block);
      case spool::BlockType::Launch:
        return take<spool::Launch>(block, [&](auto& x) { result_.launches[x.launch].launch = std::move(x); });
      case spool::BlockType::Events:
        return add_events(block);
      case spool::BlockType::Note:
        return take<spool::Note>(block, [&](auto& x) { result_.notes.push_back(std::move(x)); });
      case spool::BlockType::End:
        return take<spool::End>(block, [&](auto& x) { result_.end = x; });
      case spool::BlockType::Seen:
        return take<spool::Seen>(block, [&](auto& x) { result_.seen.insert(x.sight); });
      case spool::BlockType::Counters:
        return take<spool::Counters>(block, [&](auto& x) { result_.counters[x.module] = std::move(x); });
      case spool::BlockType::Counts:
        return take<spool::Counts>(block, [&](auto& x) { result_.counts.push_back(std::move(x)); });
      case spool::BlockType::Paths:
        return take<spool::Paths>(block, [&](auto& x) { result_.paths[x.module] = std::move(x); });
      case spool::BlockType::Accesses:
        return take<spool::Accesses>(block, [&](auto& x) { result_.accesses[x.module] = std::move(x); });
      case spool::BlockType::PipelineFacts:
        return take<spool::PipelineFacts>(block, [&](auto& x) { result_.pipeline_facts[x.pipeline] = std::move(x); });
      case spool::BlockType::Images:
        return take<spool::Images>(block, [&](auto& x) { result_.images[x.launch] = std::move(x); });
    }
  }
  SpoolContents finish() {
    for (auto& [number, launch] : result_.launches) {
      std::stable_sort(launch.events.begin(), launch.events.end(),
                       [](const auto& a, const auto& b) { return a.first_word < b.first_word; });
    }
    return std::move(result_);
  }

 private:
  template <class T, class Take>
  void take(const spool::Block& block, Take&& give) {
    T x;
    if (spool::decode(block.payload, x)) {
      give(x);
    } else {
      ++result_.unreadable_blocks;
    }
  }
  void add_structure(const spool::Block& block) {
    // device, structure: the first two fields
    std::uint32_t numbers[2] = {};
    if (block.payload.size() < sizeof numbers) {
      ++result_.unreadable_blocks;
      return;
    }
    std::memcpy(numbers, block.payload.data(), sizeof numbers);
    result_.structures[numbers[1]] = block.payload;
  }
  void add_events(const spool::Block& block) {
    const auto view = spool::view_events(block.payload);
    if (!view) {
      ++result_.unreadable_blocks;
    } else if (const auto launch = result_.launches.find(view->launch); launch == result_.launches.end()) {
      result_.stray_words += view->words.size();
    } else {
      launch->second.events.push_back(*view);
    }
  }

  SpoolContents result_;
};

}  // namespace

SpoolContents read_contents(const spool::SpoolReader& reader) {
  Contents contents;
  for (const spool::Block& block : reader.blocks()) {
    contents.add(block);
  }
  return contents.finish();
}

}  // namespace rayreplay::ingest
