#include "tests/layer-faults/spool_books.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <fstream>
#include <utility>

#include "capture/layer/options/module_list.hpp"
#include "capture/spool/payload.hpp"
#include "capture/spool/reader.hpp"

namespace rayreplay::test {
namespace {

/// Null: a type that says nothing of what was captured.
const char* name_of(spool::BlockType type) {
  switch (type) {
    case spool::BlockType::Shader:
      return "shaders";
    case spool::BlockType::Pipeline:
      return "pipelines";
    case spool::BlockType::Structure:
      return "structures";
    case spool::BlockType::Launch:
      return "launches";
    case spool::BlockType::Counters:
      return "places of counters";
    case spool::BlockType::Counts:
      return "counts";
    case spool::BlockType::Paths:
      return "shaders with paths";
    case spool::BlockType::Accesses:
      return "shaders with accesses";
    case spool::BlockType::PipelineFacts:
      return "facts of pipelines";
    case spool::BlockType::Images:
      return "tables of images";
    default:
      return nullptr;
  }
}

}  // namespace

SpoolBooks::SpoolBooks(const std::filesystem::path& folder) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (entry.path().extension() != ".rrspool") {
      has_marker_ = has_marker_ || entry.path().extension() == ".failed";
      continue;
    }
    std::set<std::pair<std::uint32_t, std::string>> said;
    try {
      const spool::SpoolReader reader(entry.path());
      if (reader.lost_bytes() != 0 || reader.damaged_places() != 0) {
        fault_ = "its spool is damaged";
      }
      for (const spool::Block& block : reader.blocks()) {
        spool::Note note;
        spool::Shader shader;
        if (const char* name = name_of(block.type); name != nullptr) {
          ++amounts_[name];
        }
        if (block.type == spool::BlockType::Events) {
          const auto view = spool::view_events(block.payload);
          amounts_["words of events"] += view ? view->words.size() : 0;
        } else if (block.type == spool::BlockType::Shader && spool::decode(block.payload, shader)) {
          modules_.push_back(std::move(shader.spirv));
        } else if (block.type == spool::BlockType::Note && spool::decode(block.payload, note)) {
          notes_.insert(note.text);
          if (!said.emplace(note.launch, note.text).second) {
            fault_ = "its spool says twice: " + note.text;
          }
        }
      }
    } catch (const std::exception& error) {
      // A file that was never written to has a marker beside it.
      if (!std::filesystem::exists(entry.path().string() + ".failed")) {
        fault_ = std::string("its spool cannot be read: ") + error.what();
      }
    }
  }
}

std::string SpoolBooks::lacks_unsaid(const SpoolBooks& sound) const {
  const bool says_more = std::ranges::any_of(notes_, [&](const std::string& note) {
    return !sound.notes_.contains(note) && !note.starts_with(layer::kReplacedNote);
  });
  if (has_marker_ || says_more) {
    return {};
  }
  for (const auto& [name, amount] : sound.amounts_) {
    const auto found = amounts_.find(name);
    const std::uint64_t here = found == amounts_.end() ? 0 : found->second;
    if (here < amount) {
      return "its spool has " + std::to_string(here) + " " + name + " of " + std::to_string(amount) +
             ", and no note tells of it";
    }
  }
  return {};
}

bool SpoolBooks::has_note(const std::string& beginning) const {
  return std::ranges::any_of(notes_, [&](const std::string& note) { return note.starts_with(beginning); });
}

bool SpoolBooks::has_hit_objects() const {
  constexpr std::array<std::uint32_t, 2> kCapability{2U << 16U | 17U, 5383};  // OpCapability ShaderInvocationReorderNV
  return std::ranges::any_of(modules_, [&](const std::vector<std::uint32_t>& words) {
    return !std::ranges::search(words, kCapability).empty();
  });
}

void SpoolBooks::write_rewritten(const std::filesystem::path& folder) const {
  constexpr std::size_t kHeader = 5, kGenerator = 2;
  std::filesystem::create_directories(folder);
  std::vector<layer::ListedModule> list;
  std::set<std::string> written;
  for (std::vector<std::uint32_t> words : modules_) {
    const std::string module = layer::module_hash(words);
    if (words.size() <= kHeader || !written.insert(module).second) {
      continue;
    }
    words[kGenerator] ^= 1U;
    list.push_back({module, layer::module_hash(words), module + ".spv"});
    std::ofstream(folder / list.back().file, std::ios::binary)
        .write(reinterpret_cast<const char*>(words.data()),
               static_cast<std::streamsize>(words.size() * sizeof(std::uint32_t)));
  }
  std::ofstream(folder / layer::kModuleList) << layer::module_list_text(list);
}

}  // namespace rayreplay::test
