# cmake -DOUTPUT=… -DSYMBOL=… -DHEADER=… -DNAMESPACE=… -DTYPE=… "-DINPUTS=a;b" -P embed_texts.cmake: text files as a C++
# array of TYPE (stem, text), sorted by stem. Quotes, semicolons and backslashes of the files are kept as they are.
set(rows "")
list(SORT INPUTS)
foreach(input IN LISTS INPUTS)
  get_filename_component(stem ${input} NAME_WLE)
  file(READ ${input} hex HEX)
  string(REGEX REPLACE "(..)" "\\\\x\\1\"\"" escaped "${hex}")
  string(APPEND rows "    {\"${stem}\", \"${escaped}\"},\n")
endforeach()
list(LENGTH INPUTS count)
file(WRITE ${OUTPUT}.tmp "#include \"${HEADER}\"\n// clang-format off\nnamespace ${NAMESPACE} {\nconst std::array<${TYPE}, ${count}> kTexts = {{\n${rows}}};\nstd::span<const ${TYPE}> ${SYMBOL}() {\n  return kTexts;\n}\n}  // namespace ${NAMESPACE}\n")
file(RENAME ${OUTPUT}.tmp ${OUTPUT})
