// A developer's marker for GLSL: rayreplayHint(id) before a trace call gives the call's ray the hint `id` in rayreplay's
// traces (docs/hints.md). It computes nothing: without rayreplay, drivers ignore it.
#extension GL_EXT_spirv_intrinsics : require
spirv_instruction(extensions = ["SPV_KHR_non_semantic_info"], set = "NonSemantic.rayreplay", id = 1)
void rayreplayHint(uint id);
