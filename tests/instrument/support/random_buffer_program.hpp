// Random ray-generation shaders that load from buffers of random layout: structures, arrays, vectors, and matrices by
// columns or rows, by constant and other indices of several types. A buffer's words hold their own numbers, so that
// each loaded word tells its address without a second computation of offsets.
//
// Thread t stores the first word of its k-th load at seen[t · kLoads + k] (set 0, binding 0). Data is binding 1, the
// buffer at `far` is known by its address, and the shader record is `record_bytes` long.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <spirv-tools/libspirv.hpp>

#include "capture/instrument/access_layout.hpp"

namespace rayreplay::test {

/// The word at a place of a buffer. As a float it is a normal number.
[[nodiscard]] constexpr std::uint32_t word_at(std::uint32_t byte) {
  return 0x4000'0000U + byte / 4;
}

class RandomBufferProgram {
 public:
  static constexpr std::uint32_t kLoads = 8;
  struct Load {
    instrument::AccessKind kind = instrument::AccessKind::Load;
    instrument::AccessSpace space = instrument::AccessSpace::Descriptor;
    std::uint32_t bytes = 4;
  };

  RandomBufferProgram(std::uint32_t seed, std::uint64_t far, std::uint32_t most_bytes) : random_(seed) {
    const std::uint32_t data = block(4, most_bytes), device = block(4, most_bytes), record = block(2, 1024);
    record_bytes = (types_[record].bytes + 15) / 16 * 16;
    pointer_types("StorageBuffer", data, "data");
    pointer_types("ShaderRecordBufferKHR", record, "record");
    globals_ += "%p_far = OpTypePointer PhysicalStorageBuffer %t" + std::to_string(device) +
                "\n%far_address = OpConstant %ulong " + std::to_string(far) + "\n";
    body_ += "%far = OpConvertUToPtr %p_far %far_address\n";
    for (std::uint32_t k = 0; k < kLoads; ++k) {
      const auto space = static_cast<instrument::AccessSpace>(k < 3 ? k : below(3));
      load(space, space == instrument::AccessSpace::Descriptor ? data
                  : space == instrument::AccessSpace::Device   ? device
                                                               : record);
    }
    text = kHead + annotations_ + kTypes + globals_ + kMain + body_ + "OpReturn\nOpFunctionEnd\n";
  }

  /// Empty if it is not assembled.
  [[nodiscard]] std::vector<std::uint32_t> assemble() const {
    std::vector<std::uint32_t> words;
    return spvtools::SpirvTools(SPV_ENV_VULKAN_1_2).Assemble(text, &words) ? words : std::vector<std::uint32_t>{};
  }

  std::string text;
  std::vector<Load> loads;
  std::uint32_t record_bytes = 0;

 private:
  enum class Form : std::uint8_t { Uint, Float, Vector, Matrix, Array, Struct };
  struct Type {
    Form form = Form::Uint;
    std::uint32_t bytes = 4, align = 4;
    std::uint32_t count = 0;               ///< components, columns, elements
    std::uint32_t rows = 0;                ///< Matrix
    bool by_rows = false;                  ///< of a matrix, or an array of it
    std::uint32_t stride = 0;              ///< of a matrix
    std::uint32_t inner = 0;               ///< component, column, element
    std::vector<std::uint32_t> members{};  ///< Struct
  };

  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(random_() % n);
  }
  static std::string number(std::uint32_t n) {
    return std::to_string(n);
  }
  static std::uint32_t round_up(std::uint32_t n, std::uint32_t to) {
    return (n + to - 1) / to * to;
  }
  std::uint32_t add(const Type& type, const std::string& definition) {
    const auto id = static_cast<std::uint32_t>(types_.size());
    types_.push_back(type);
    globals_ += "%t" + number(id) + " = " + definition + "\n";
    return id;
  }
  std::uint32_t scalar(bool real) {
    std::uint32_t& known = real ? float_ : uint_;
    if (known == kNone) {
      known = static_cast<std::uint32_t>(types_.size());
      types_.push_back({real ? Form::Float : Form::Uint});
    }
    return known;
  }
  [[nodiscard]] std::string name(std::uint32_t type) const {
    return type == uint_            ? "%uint"
           : type == float_         ? "%float"
           : type == vectors_[0][3] ? "%uvec3"
                                    : "%t" + number(type);
  }
  std::uint32_t vector(bool real, std::uint32_t count) {
    std::uint32_t& known = vectors_[real ? 1 : 0][count];
    if (known == kNone) {
      Type type{Form::Vector, 4 * count, count == 2 ? 8U : 16U, count};
      type.inner = scalar(real);
      if (!real && count == 3) {  // there already
        known = static_cast<std::uint32_t>(types_.size());
        types_.push_back(type);
      } else {
        known = add(type, "OpTypeVector " + name(type.inner) + " " + number(count));
      }
    }
    return known;
  }
  std::uint32_t matrix() {
    const std::uint32_t columns = 2 + below(3), rows = 2 + below(3);
    std::uint32_t& shape = matrices_[columns][rows];
    const std::uint32_t column = vector(true, rows);
    if (shape == kNone) {
      Type type{Form::Matrix, 0, 16, columns, rows};
      type.inner = column;
      shape = add(type, "OpTypeMatrix " + name(column) + " " + number(columns));
    }
    // The layout belongs to the struct member: a row of its own with the same name.
    Type type = types_[shape];
    type.by_rows = below(2) == 0;
    type.stride = 16 + 16 * below(2);
    type.bytes = (type.by_rows ? rows : columns) * type.stride;
    types_.push_back(type);
    names_.emplace_back(types_.size() - 1, shape);
    return static_cast<std::uint32_t>(types_.size()) - 1;
  }
  [[nodiscard]] std::string shown(std::uint32_t type) const {
    for (const auto& [alias, of] : names_) {
      if (alias == type) {
        return name(of);
      }
    }
    return name(type);
  }
  std::uint32_t value(std::uint32_t depth) {
    switch (depth == 0 ? below(3) : below(6)) {
      case 0:
        return scalar(below(2) == 0);
      case 1:
        return vector(below(2) == 0, 2 + below(3));
      case 2:
        return matrix();
      case 3:
        return structure(depth - 1, 2 + below(3));
      default: {
        constexpr std::uint32_t kLengths[] = {2, 3, 4, 8};
        Type type{Form::Array};
        type.count = kLengths[below(4)];
        type.inner = value(depth - 1);
        const Type inner = types_[type.inner];
        type.align = inner.align;
        const std::uint32_t stride = round_up(inner.bytes, inner.align) + inner.align * below(3);
        type.bytes = stride * type.count;
        type.by_rows = inner.by_rows;
        type.stride = inner.stride;
        const std::uint32_t id = add(type, "OpTypeArray " + shown(type.inner) + " %n" + number(type.count));
        annotations_ += "OpDecorate %t" + number(id) + " ArrayStride " + number(stride) + "\n";
        return id;
      }
    }
  }
  std::uint32_t structure(std::uint32_t depth, std::uint32_t count) {
    Type type{Form::Struct, 0};
    std::string definition = "OpTypeStruct";
    std::vector<std::uint32_t> offsets;
    for (std::uint32_t m = 0; m < count; ++m) {
      const std::uint32_t member = value(depth);
      const Type of = types_[member];
      type.members.push_back(member);
      offsets.push_back(round_up(type.bytes, of.align) + of.align * below(2));
      type.bytes = offsets.back() + of.bytes;
      type.align = std::max(type.align, of.align);
      definition += " " + shown(member);
    }
    type.bytes = round_up(type.bytes, type.align);
    const std::uint32_t id = add(type, definition);
    for (std::uint32_t m = 0; m < count; ++m) {
      const std::string at = "OpMemberDecorate %t" + number(id) + " " + number(m) + " ";
      annotations_ += at + "Offset " + number(offsets[m]) + "\n";
      if (const Type& of = types_[type.members[m]]; of.stride != 0) {
        annotations_ +=
            at + "MatrixStride " + number(of.stride) + "\n" + at + (of.by_rows ? "RowMajor\n" : "ColMajor\n");
      }
    }
    return id;
  }
  std::uint32_t block(std::uint32_t depth, std::uint32_t most_bytes) {
    std::uint32_t id = 0;
    do {
      id = structure(depth, 3);
    } while (types_[id].bytes > most_bytes);
    annotations_ += "OpDecorate %t" + number(id) + " Block\n";
    return id;
  }
  void pointer_types(const std::string& storage, std::uint32_t type, const std::string& variable) {
    globals_ += "%p_" + variable + " = OpTypePointer " + storage + " %t" + number(type) + "\n%" + variable +
                " = OpVariable %p_" + variable + " " + storage + "\n";
  }
  std::string pointer_to(const std::string& storage, std::uint32_t type) {
    const std::string key = "%p_" + storage + "_" + shown(type).substr(1);
    if (pointers_.find(key + ";") == std::string::npos) {
      pointers_ += key + ";";
      globals_ += key + " = OpTypePointer " + storage + " " + shown(type) + "\n";
    }
    return key;
  }
  std::string index(std::uint32_t count) {
    static constexpr const char* kOfType[] = {"", "_int", "_long"};
    if (below(3) == 0) {
      return "%c" + number(below(count)) + (below(2) == 0 ? "" : "_int");
    }
    return "%i" + number(count) + kOfType[below(3)];
  }
  void load(instrument::AccessSpace space, std::uint32_t type) {
    using instrument::AccessKind, instrument::AccessSpace;
    const std::string storage = space == AccessSpace::Descriptor ? "StorageBuffer"
                                : space == AccessSpace::Device   ? "PhysicalStorageBuffer"
                                                                 : "ShaderRecordBufferKHR";
    const std::string k = number(static_cast<std::uint32_t>(loads.size()));
    std::string base = space == AccessSpace::Descriptor ? "%data" : space == AccessSpace::Device ? "%far" : "%record";
    std::string indices;
    std::uint32_t cuts = 0;
    bool column_of_rows = false;
    const auto cut = [&] {
      const std::string next = "%chain" + k + "_" + number(cuts++);
      body_ += next + " = OpAccessChain " + pointer_to(storage, type) + " " + base + indices + "\n";
      base = next;
      indices.clear();
      if (below(3) == 0) {
        const std::string copy = next + "c";
        body_ += copy + " = OpCopyObject " + pointer_to(storage, type) + " " + next + "\n";
        base = copy;
      }
    };
    bool whole = false;
    while (!whole && types_[type].form != Form::Uint && types_[type].form != Form::Float) {
      const Type of = types_[type];
      if (of.form == Form::Struct) {
        const std::uint32_t m = below(static_cast<std::uint32_t>(of.members.size()));
        indices += " %c" + number(m);
        type = of.members[m];
      } else if (of.form == Form::Vector && !column_of_rows && below(2) == 0) {
        whole = true;
      } else {
        indices += " " + index(of.count);
        column_of_rows = of.form == Form::Matrix && of.by_rows;
        type = of.inner;
      }
      // Not within a matrix: how it lies is known to the whole chain alone.
      if (!whole && (types_[type].form == Form::Struct || below(4) == 0) && !column_of_rows && cuttable(type)) {
        cut();
      }
    }
    if (!indices.empty() || cuts == 0) {
      cut();
    }
    const Type of = types_[type];
    const bool is_vector = of.form == Form::Vector;
    const bool real = is_vector ? types_[of.inner].form == Form::Float : of.form == Form::Float;
    const bool atomic = of.form == Form::Uint && space != AccessSpace::ShaderRecord && below(2) == 0;
    if (atomic) {
      body_ += "%v" + k + " = OpAtomicIAdd %uint " + base + " %c1 %c0 %c0\n";
    } else {
      body_ +=
          "%v" + k + " = OpLoad " + shown(type) + " " + base + (space == AccessSpace::Device ? " Aligned 4\n" : "\n");
    }
    std::string word = "%v" + k;
    if (is_vector) {
      body_ += "%x" + k + " = OpCompositeExtract " + (real ? "%float" : "%uint") + " " + word + " 0\n";
      word = "%x" + k;
    }
    if (real) {
      body_ += "%b" + k + " = OpBitcast %uint " + word + "\n";
      word = "%b" + k;
    }
    body_ += "%at" + k + " = OpIAdd %uint %first %k" + k + "\n%see" + k +
             " = OpAccessChain %p_StorageBuffer_uint %seen %c0 %at" + k + "\nOpStore %see" + k + " " + word + "\n";
    loads.push_back({atomic ? AccessKind::Atomic : AccessKind::Load, space, is_vector ? of.bytes : 4});
  }
  /// Whether a pointer to the type may stand between two chains: its own type says how it lies.
  [[nodiscard]] bool cuttable(std::uint32_t type) const {
    return types_[type].stride == 0 || types_[type].form == Form::Struct;
  }

  static constexpr std::uint32_t kNone = 0xFFFF'FFFFU;
  static constexpr const char* kHead = R"(
    OpCapability RayTracingKHR
    OpCapability Shader
    OpCapability Int64
    OpCapability PhysicalStorageBufferAddresses
    OpExtension "SPV_KHR_ray_tracing"
    OpMemoryModel PhysicalStorageBuffer64 GLSL450
    OpEntryPoint RayGenerationKHR %main "main" %id %seen %data %record
    OpDecorate %id BuiltIn LaunchIdKHR
    OpDecorate %words ArrayStride 4
    OpDecorate %seen_block Block
    OpMemberDecorate %seen_block 0 Offset 0
    OpDecorate %seen DescriptorSet 0
    OpDecorate %seen Binding 0
    OpDecorate %data DescriptorSet 0
    OpDecorate %data Binding 1
  )";
  static constexpr const char* kTypes = R"(
    %void = OpTypeVoid
    %function = OpTypeFunction %void
    %uint = OpTypeInt 32 0
    %int = OpTypeInt 32 1
    %ulong = OpTypeInt 64 0
    %float = OpTypeFloat 32
    %uvec3 = OpTypeVector %uint 3
    %p_id = OpTypePointer Input %uvec3
    %id = OpVariable %p_id Input
    %words = OpTypeRuntimeArray %uint
    %seen_block = OpTypeStruct %words
    %p_seen = OpTypePointer StorageBuffer %seen_block
    %p_StorageBuffer_uint = OpTypePointer StorageBuffer %uint
    %seen = OpVariable %p_seen StorageBuffer
    %n2 = OpConstant %uint 2
    %n3 = OpConstant %uint 3
    %n4 = OpConstant %uint 4
    %n8 = OpConstant %uint 8
    %n16 = OpConstant %uint 16
    %c0 = OpConstant %uint 0
    %c1 = OpConstant %uint 1
    %c2 = OpConstant %uint 2
    %c3 = OpConstant %uint 3
    %c4 = OpConstant %uint 4
    %c5 = OpConstant %uint 5
    %c6 = OpConstant %uint 6
    %c7 = OpConstant %uint 7
    %k0 = OpConstant %uint 0
    %k1 = OpConstant %uint 1
    %k2 = OpConstant %uint 2
    %k3 = OpConstant %uint 3
    %k4 = OpConstant %uint 4
    %k5 = OpConstant %uint 5
    %k6 = OpConstant %uint 6
    %k7 = OpConstant %uint 7
    %c0_int = OpConstant %int 0
    %c1_int = OpConstant %int 1
    %c2_int = OpConstant %int 2
    %c3_int = OpConstant %int 3
    %c4_int = OpConstant %int 4
    %c5_int = OpConstant %int 5
    %c6_int = OpConstant %int 6
    %c7_int = OpConstant %int 7
  )";
  static constexpr const char* kMain = R"(
    %main = OpFunction %void None %function
    %entry = OpLabel
    %launch = OpLoad %uvec3 %id
    %x = OpCompositeExtract %uint %launch 0
    %y = OpCompositeExtract %uint %launch 1
    %row = OpIMul %uint %y %n16
    %thread = OpIAdd %uint %row %x
    %first = OpIMul %uint %thread %n8
    %sum = OpIAdd %uint %x %y
    %i2 = OpUMod %uint %thread %n2
    %i3 = OpUMod %uint %sum %n3
    %i4 = OpUMod %uint %thread %n4
    %i8 = OpUMod %uint %sum %n8
    %i2_int = OpBitcast %int %i2
    %i3_int = OpBitcast %int %i3
    %i4_int = OpBitcast %int %i4
    %i8_int = OpBitcast %int %i8
    %i2_long = OpUConvert %ulong %i2
    %i3_long = OpUConvert %ulong %i3
    %i4_long = OpUConvert %ulong %i4
    %i8_long = OpUConvert %ulong %i8
  )";

  std::mt19937 random_;
  std::vector<Type> types_;
  std::vector<std::pair<std::size_t, std::uint32_t>> names_;  ///< matrices: the type that has the name
  std::uint32_t uint_ = kNone, float_ = kNone;
  std::uint32_t vectors_[2][5] = {{kNone, kNone, kNone, kNone, kNone}, {kNone, kNone, kNone, kNone, kNone}};
  std::uint32_t matrices_[5][5] = {{kNone, kNone, kNone, kNone, kNone},
                                   {kNone, kNone, kNone, kNone, kNone},
                                   {kNone, kNone, kNone, kNone, kNone},
                                   {kNone, kNone, kNone, kNone, kNone},
                                   {kNone, kNone, kNone, kNone, kNone}};
  std::string annotations_, globals_, body_;
  std::string pointers_ = "%p_StorageBuffer_uint;";  ///< names of types that are there
};

}  // namespace rayreplay::test
