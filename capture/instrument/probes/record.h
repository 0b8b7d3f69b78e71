// The records that instrumented shaders append, shared by GLSL and C++.
//
// The event buffer is an array of 32-bit words. The active lanes of one call ("group") append one chunk together: its
// first word's index comes from one 64-bit atomic add to the counter, so chunks never overlap and a thread's chunks lie in
// the order of its events. A chunk that does not fit is not written; its lanes are added to Control.dropped[kind].
//
// chunk = header words, then `fields` arrays of n words each (n: recorded lanes; field k of the r-th recorded lane, in
// order of lanes, is word header + k·n + r).
//
// header w0: bits 0–4 kind, 5 RR_WIDE, 6 RR_PARTIAL, 8–23 shader id, 24–31 trace-call site in the shader (paths, accesses: see below; else 0)
//        w1: lane mask, lanes 0–31: the lanes that execute the call together
//        w2: bits 0–11 SM, 12–19 warp slot on the SM (0 where the device tells neither), 20–26 n, 27–31 0 (accesses: see below)
//        w3: low 32 bits of the device clock in ns (0 where there is none)
//        [RR_WIDE: lane mask, lanes 32–63]
//        [RR_PARTIAL: mask of the recorded lanes, low word; with RR_WIDE also its high word]
//        Without RR_PARTIAL every lane of the mask is recorded: n = popcount(mask).
#ifndef RAYREPLAY_RECORD_H
#define RAYREPLAY_RECORD_H

// kind                      fields of each lane; "thread" is x + width·(y + height·z) of the launch
#define RR_RAY_GENERATION 0  // entry of a ray-generation shader: thread
#define RR_TRACE 1           // a trace call: thread, flags, sbt, miss, origin x y z, t_min, direction x y z, t_max
                             //   flags: ray flags as the application gave them
                             //   sbt: bits 0–7 cull mask, 8–11 offset, 12–15 stride; bit 16: the call only makes a hit object
#define RR_INTERSECTION 2    // entry: thread, t (current t_max), instance, primitive, geometry
#define RR_REPORT 3          // before the report call: thread, t, hit kind
#define RR_REPORT_REJECTED 4 // after a report call that returned false: thread
#define RR_ANY_HIT 5         // entry: thread, t, instance, primitive, geometry | hit kind << 24
#define RR_IGNORE 6          // before the ignore call: thread
#define RR_TERMINATE 7       // before the terminate call: thread
#define RR_MISS 8            // entry: thread
#define RR_CLOSEST_HIT 9     // entry: thread, t, instance, primitive, geometry | hit kind << 24
#define RR_CALLABLE 10       // entry: thread
#define RR_REORDER 11        // before a reorder call: thread, hint, bits of the hint | ray << 8
#define RR_EXECUTE 12        // before a hit object's execute call: thread, ray
                             //   ray: number of the trace call that made the hit object, counted from 0 in this shader
                             //   call; 0xFFFFFF where there is none
#define RR_PATH_BYTES 13     // the end of a shader call, or a place where it may end: thread, then the shader's path counters
                             //   (path_layout.hpp), four to a word, the first in the lowest byte
#define RR_PATH 14           // the same with a word for each counter
                             //   w0 bits 24–30: words behind the thread; 31: the call may go on, a later record replaces this one
#define RR_ACCESS_OFFSET 15  // before an access to a buffer (access_layout.hpp): thread, offset in its descriptor or shader record
#define RR_ACCESS_ADDRESS 16 // the same by device address: thread, low and high word of the address
                             //   site: w0 bits 24–31 its low 8 bits, w2 bits 27–31 its high 5 bits
#define RR_HINT 17           // a developer's marker: thread, hint of the next ray that this shader call begins
#define RR_ACCESS_IMAGE 18   // before an access to an image: thread, low and high word of the texel as trace/texel_address.hpp packs
                             //   it; both RR_NO_TEXEL: it has none that fits there (no image has that texel)
#define RR_KINDS 19

#define RR_WIDE 0x20u
#define RR_PARTIAL 0x40u
#define RR_HEADER_WORDS 4
#define RR_MAX_PATH_COUNTERS 120
#define RR_MAX_FIELDS 121
#define RR_NO_RAY 0xFFFFFFu
#define RR_NO_TEXEL 0xFFFFFFFFu
#define RR_SITE_SHIFT 27
#define RR_MAX_ACCESS_SITES 8192

// The control block, in bytes from its address; each part in cache lines of its own.
#define RR_CONTROL_COUNTER 0     // u64: words appended, also those that did not fit
#define RR_CONTROL_DROPPED 256   // u32[RR_KINDS]: lanes whose record did not fit
#define RR_CONTROL_GATE 512      // u32: 0: record nothing (read only by shaders instrumented with a gate)
#define RR_CONTROL_OPACITY 516   // u32, one of the three below (read only with observe_all and an opacity table)
#define RR_CONTROL_CULLING 768   // u32: rays traced with CullNoOpaque, whose opaque candidates are not observed
#define RR_CONTROL_BYTES 1024

#define RR_OPACITY_AS_GIVEN 0u // rays keep their flags: an any-hit shader of the pipeline does not look at what follows
#define RR_OPACITY_TABLE 1u    // the opacity table holds for this launch
#define RR_OPACITY_RAYS 2u     // no table: only rays that are themselves opaque can be changed

#endif
