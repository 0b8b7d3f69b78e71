# cmake -DINPUT=… -DOUTPUT=… -DNAME=… -P embed_spirv.cmake: a SPIR-V file as a C++ array kNAME of 32-bit words.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1U," words "${hex}")
file(WRITE ${OUTPUT}.tmp "#pragma once\n#include <cstdint>\n// clang-format off\ninline constexpr std::uint32_t k${NAME}[] = {${words}};\n")
file(RENAME ${OUTPUT}.tmp ${OUTPUT})
