#include "tests/layer-geometry/spool_file.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>

#include "capture/spool/payload.hpp"
#include "capture/spool/writer.hpp"

namespace rayreplay::layer::geometry {
namespace {

template <class Block>
Block decoded(std::span<const std::byte> payload) {
  Block block;
  if (!spool::decode(payload, block)) {
    throw std::runtime_error("a block of the spool cannot be decoded");
  }
  return block;
}

}  // namespace

SpoolFile SpoolFile::newest(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == spool::kFileExtension) {
      files.push_back(entry.path());
    }
  }
  if (files.empty()) {
    throw std::runtime_error("the layer wrote no spool into " + folder);
  }
  std::sort(files.begin(), files.end());
  std::ifstream file(files.back(), std::ios::binary);
  const std::vector<char> content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto bytes = std::as_bytes(std::span(content));
  SpoolFile made;
  for (std::size_t at = 16; at + sizeof(spool::BlockHeader) <= bytes.size();) {
    spool::BlockHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    at += sizeof header;
    if (header.magic != spool::kBlockMagic || header.bytes > bytes.size() - at) {
      throw std::runtime_error("the spool is damaged");
    }
    const auto payload = bytes.subspan(at, header.bytes);
    if (header.type == spool::BlockType::Structure) {
      auto structure = decoded<spool::Structure>(payload);
      const auto number = structure.structure;
      if (!made.structures.emplace(number, std::move(structure)).second) {
        throw std::runtime_error("a structure was spooled twice");
      }
    } else if (header.type == spool::BlockType::Launch) {
      made.launches.push_back(decoded<spool::Launch>(payload));
      for (const std::uint32_t number : made.launches.back().structures) {
        made.structures.at(number);  // a Structure comes before a Launch that names it
      }
    } else if (header.type == spool::BlockType::Images) {
      auto images = decoded<spool::Images>(payload);
      if (made.launches.empty() || made.launches.back().launch != images.launch) {
        throw std::runtime_error("images of a launch that is not before them");
      }
      made.images[images.launch] = std::move(images);
    } else if (header.type == spool::BlockType::Note) {
      made.notes.push_back(decoded<spool::Note>(payload).text);
    }
    at += (header.bytes + 7) / 8 * 8;
  }
  return made;
}

const spool::Structure& SpoolFile::used(const spool::Launch& launch, std::size_t index) const {
  return structures.at(launch.structures.at(index));
}

const spool::Structure& SpoolFile::bottom(const spool::Structure& top, std::size_t instance) const {
  return structures.at(top.instances.at(instance).structure);
}

}  // namespace rayreplay::layer::geometry
