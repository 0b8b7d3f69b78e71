/* A trace written with the C header, by a C program and by the test in C++: every kind of data, loads and stores, all
 * lanes and few, allocations told after their records. */
#ifndef RAYREPLAY_TESTS_SOME_TRACE_H
#define RAYREPLAY_TESTS_SOME_TRACE_H

#include "capture/import/rayreplay_memory_trace.h"

#define SOME_RECORDS 5000u

/* Lane i of record r. */
static inline uint64_t some_address(uint32_t r, uint32_t i) {
  return 0x10000u + RR_TRACE_CAST(uint64_t, r) % 11u * 0x10000u + RR_TRACE_CAST(uint64_t, r) * 16u % 4096u +
         RR_TRACE_CAST(uint64_t, i) * 4u;
}
static inline uint64_t some_mask(uint32_t r) {
  return r % 3u == 0 ? 0xFFFFFFFFu : 1u + RR_TRACE_CAST(uint64_t, r) * 2654435761u % 0xFFFFFFFFu;
}
static inline uint32_t some_bytes(uint32_t r) {
  return r % 7u == 0 ? 4096u : 1u + r % 16u;
}

static inline int write_some_trace(const char* path, const char** error) {
  static const char* const names[] = {"nodes",     "indices", "vertices", "boxes",   "instances",
                                      " records ", "pay",     "  ",       "picture", "line\nfeed\x7f",
                                      "état",      "read",    "kept",     "counted", "queued"};
  const rr_trace_header header = {"a tool", "", "viewer --scene \"dragon # 3\"", 32, 4, 16, 8};
  rr_trace trace;
  uint32_t r, i, kind;
  rr_trace_open(&trace, path, &header);
  for (r = 0; r < SOME_RECORDS; ++r) {
    uint64_t addresses[32];
    uint64_t left;
    uint32_t lanes = 0;
    for (left = some_mask(r), i = 0; left != 0; left >>= 1u, ++i) {
      if ((left & 1u) != 0) {
        addresses[lanes++] = some_address(r, i);
      }
    }
    rr_trace_record(&trace, r % 4u, r % 100u, r % 5u == 0, some_bytes(r), some_mask(r), addresses);
  }
  for (kind = 0; kind < RR_KINDS; ++kind) {
    rr_trace_allocation(&trace, RR_TRACE_CAST(rr_kind, kind), 0x10000u + RR_TRACE_CAST(uint64_t, kind) * 0x10000u,
                        0x10000u, 4u + kind, names[kind]);
  }
  rr_trace_close(&trace);
  *error = trace.error;
  return trace.error == RR_TRACE_NULL ? 0 : 1;
}

#endif
