/* Writes a labelled memory trace (docs/memory-traces.md) from any program: one file, C99 or C++, the standard library
 * alone.
 *
 *   rr_trace trace;
 *   const rr_trace_header header = {"my tracer 0.3", "some GPU", "viewer dragon.ply", 32, 68, 512, 512};
 *   rr_trace_open(&trace, "viewer.rrm.txt", &header);
 *   rr_trace_allocation(&trace, RR_NODE, 0x7f2000000000, 8388608, 64, "the BVH's nodes");
 *   rr_trace_record(&trace, sm, warp, 0, 16, 0xf, addresses);     (for every memory instruction of a warp, in order)
 *   if (rr_trace_close(&trace) != 0) puts(trace.error);
 *
 * Contract: the text form of a memory trace. Allocations may be told at any time before rr_trace_close, also after
 * records that touch them: records go to the file PATH.records, which rr_trace_close copies behind the header. Every
 * function returns 0, or 1 after an error. The first error stays in `error`; later calls do nothing but return 1, and
 * rr_trace_close then leaves no file. The rules are those of the reader: a header, an allocation or a record that it
 * would refuse is an error here. Texts are UTF-8; control characters become '?', blanks at their ends are cut, and
 * texts beyond RR_MAX_TEXT bytes are cut. Not thread-safe: calls for one trace come from one thread at a time. Memory:
 * 64 KiB and 32 bytes and the name of an allocation. A record takes O(addresses).
 *
 * License: that of rayreplay (LICENSE).
 */
#ifndef RAYREPLAY_MEMORY_TRACE_H
#define RAYREPLAY_MEMORY_TRACE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
#define RR_TRACE_CAST(type, value) static_cast<type>(value)
#define RR_TRACE_NULL nullptr
#else
#define RR_TRACE_CAST(type, value) ((type)(value))
#define RR_TRACE_NULL NULL
#endif

#define RR_MAX_TEXT 4096
#define RR_MAX_ALLOCATIONS (1u << 20)
#define RR_TRACE_BUFFER 65536

/* Kinds of data, in the order of the format. */
typedef enum rr_kind {
  RR_NODE,
  RR_INDEX,
  RR_VERTEX,
  RR_BOX,
  RR_INSTANCE,
  RR_SHADER_RECORD,
  RR_PAYLOAD,
  RR_STACK,
  RR_FRAME_BUFFER,
  RR_OTHER, /* not known: rayreplay cache --guess-labels suggests a kind */
  RR_STATE,
  RR_SHADER_LOAD,
  RR_SHADER_STORE,
  RR_SHADER_ATOMIC,
  RR_IMAGE_LOAD,
  RR_IMAGE_STORE,
  RR_IMAGE_ATOMIC,
  RR_IMAGE_SAMPLE,
  RR_QUEUE,
  RR_KINDS
} rr_kind;

typedef struct rr_trace_header {
  const char* tool; /* for people; may be null */
  const char* device;
  const char* application;
  uint32_t warp_size; /* 1 to 64 */
  uint32_t sms;       /* SM numbers are below it; 1 to 4096 */
  uint32_t width;     /* of the frame buffer, in elements; 0: not known */
  uint32_t height;
} rr_trace_header;

typedef struct rr_trace_row {
  uint64_t start, bytes;
  uint32_t element_bytes;
  rr_kind kind;
  char* name;
} rr_trace_row;

typedef struct rr_trace {
  const char* error; /* null: none */
  FILE* records_file;
  char* path;         /* of the trace */
  char* records_path; /* PATH.records */
  char* head;         /* text of the header without allocations */
  rr_trace_row* rows;
  uint32_t allocations, room;
  uint32_t warp_size, sms;
  uint64_t records;
  size_t used; /* bytes of `buffer` */
  char buffer[RR_TRACE_BUFFER];
} rr_trace;

static inline int rr_trace_fail(rr_trace* trace, const char* error) {
  if (trace->error == RR_TRACE_NULL) {
    trace->error = error;
  }
  return 1;
}

/* A copy of at most RR_MAX_TEXT bytes without control characters and blanks at the ends; null if memory is short. */
static inline char* rr_trace_text(const char* text) {
  const char* const from = text == RR_TRACE_NULL ? "" : text;
  const size_t blanks = strspn(from, " ");
  size_t size = strlen(from + blanks);
  size_t i;
  char* copy;
  if (size > RR_MAX_TEXT) {
    size = RR_MAX_TEXT;
    while (size > 0 && (RR_TRACE_CAST(unsigned char, from[blanks + size]) & 0xC0u) == 0x80u) {
      --size; /* no cut inside a character */
    }
  }
  while (size > 0 && from[blanks + size - 1] == ' ') {
    --size;
  }
  copy = RR_TRACE_CAST(char*, malloc(size + 1));
  if (copy == RR_TRACE_NULL) {
    return RR_TRACE_NULL;
  }
  for (i = 0; i < size; ++i) {
    const unsigned char byte = RR_TRACE_CAST(unsigned char, from[blanks + i]);
    copy[i] = from[blanks + i];
    if (byte < 0x20 || byte == 0x7F) {
      copy[i] = '?';
    }
  }
  copy[size] = '\0';
  return copy;
}

static inline char* rr_trace_join(const char* first, const char* second) {
  const size_t size = strlen(first) + strlen(second) + 1;
  char* const text = RR_TRACE_CAST(char*, malloc(size));
  if (text != RR_TRACE_NULL) {
    snprintf(text, size, "%s%s", first, second);
  }
  return text;
}

static inline void rr_trace_flush(rr_trace* trace) {
  if (trace->used > 0 && fwrite(trace->buffer, 1, trace->used, trace->records_file) != trace->used) {
    rr_trace_fail(trace, "the records of the memory trace cannot be written");
  }
  trace->used = 0;
}

/* Digits of a number, at most 20, behind `used`. */
static inline void rr_trace_number(rr_trace* trace, uint64_t value) {
  char digits[20];
  size_t count = 0;
  do {
    digits[count++] = RR_TRACE_CAST(char, '0' + RR_TRACE_CAST(int, value % 10));
    value /= 10;
  } while (value != 0);
  while (count > 0) {
    trace->buffer[trace->used++] = digits[--count];
  }
  trace->buffer[trace->used++] = ' ';
}

static inline void rr_trace_hexadecimal(rr_trace* trace, uint64_t value) {
  static const char names[] = "0123456789abcdef";
  int shift = 60;
  trace->buffer[trace->used++] = '0';
  trace->buffer[trace->used++] = 'x';
  while (shift > 0 && value >> shift == 0) {
    shift -= 4;
  }
  for (; shift >= 0; shift -= 4) {
    trace->buffer[trace->used++] = names[value >> shift & 15u];
  }
  trace->buffer[trace->used++] = ' ';
}

/* Begins a trace: PATH is written at rr_trace_close; an existing file is replaced then. */
static inline int rr_trace_open(rr_trace* trace, const char* path, const rr_trace_header* header) {
  char* tool = rr_trace_text(header->tool);
  char* device = rr_trace_text(header->device);
  char* application = rr_trace_text(header->application);
  trace->error = RR_TRACE_NULL;
  trace->records_file = RR_TRACE_NULL;
  trace->rows = RR_TRACE_NULL;
  trace->allocations = 0;
  trace->room = 0;
  trace->warp_size = header->warp_size;
  trace->sms = header->sms;
  trace->records = 0;
  trace->used = 0;
  trace->path = rr_trace_join(path, "");
  trace->records_path = rr_trace_join(path, ".records");
  trace->head = RR_TRACE_CAST(char*, malloc(3 * RR_MAX_TEXT + 256));
  if (tool == RR_TRACE_NULL || device == RR_TRACE_NULL || application == RR_TRACE_NULL ||
      trace->path == RR_TRACE_NULL || trace->records_path == RR_TRACE_NULL || trace->head == RR_TRACE_NULL) {
    rr_trace_fail(trace, "no memory for the memory trace");
  } else if (header->warp_size < 1 || header->warp_size > 64) {
    rr_trace_fail(trace, "the warp size is not 1 to 64");
  } else if (header->sms < 1 || header->sms > 4096) {
    rr_trace_fail(trace, "the number of SMs is not 1 to 4096");
  } else if ((header->width == 0) != (header->height == 0)) {
    rr_trace_fail(trace, "one of the frame's width and height is 0");
  } else {
    int size =
        snprintf(trace->head, 3 * RR_MAX_TEXT + 256,
                 "rayreplay-memory-trace 1\n%s%s%s%s%s%s%s%s%swarp-size %lu\nsms %lu\n", *tool != '\0' ? "tool " : "",
                 tool, *tool != '\0' ? "\n" : "", *device != '\0' ? "device " : "", device, *device != '\0' ? "\n" : "",
                 *application != '\0' ? "application " : "", application, *application != '\0' ? "\n" : "",
                 RR_TRACE_CAST(unsigned long, header->warp_size), RR_TRACE_CAST(unsigned long, header->sms));
    if (header->width != 0) {
      snprintf(trace->head + size, 64, "frame %lu %lu\n", RR_TRACE_CAST(unsigned long, header->width),
               RR_TRACE_CAST(unsigned long, header->height));
    }
    trace->records_file = fopen(trace->records_path, "wb+");
    if (trace->records_file == RR_TRACE_NULL) {
      rr_trace_fail(trace, "the file PATH.records cannot be made");
    }
  }
  free(tool);
  free(device);
  free(application);
  return trace->error != RR_TRACE_NULL;
}

/* Tells an allocation. An error where it is empty, ends behind 2^64 - 1, has elements of no size, or overlaps an
 * earlier one: a program that frees memory and gets it again tells it once. O(allocations). */
static inline int rr_trace_allocation(rr_trace* trace, rr_kind kind, uint64_t start, uint64_t bytes,
                                      uint32_t element_bytes, const char* name) {
  uint32_t i;
  rr_trace_row row;
  if (trace->error != RR_TRACE_NULL) {
    return 1;
  }
  if (bytes == 0 || bytes > UINT64_MAX - start) {
    return rr_trace_fail(trace, "an allocation is empty, or ends at 2^64 or behind");
  }
  if (element_bytes == 0 || kind >= RR_KINDS) {
    return rr_trace_fail(trace, "an allocation has elements of no size, or an unknown kind");
  }
  for (i = 0; i < trace->allocations; ++i) {
    if (start < trace->rows[i].start + trace->rows[i].bytes && trace->rows[i].start < start + bytes) {
      return rr_trace_fail(trace, "two allocations overlap");
    }
  }
  if (trace->allocations == RR_MAX_ALLOCATIONS) {
    return rr_trace_fail(trace, "too many allocations");
  }
  if (trace->allocations == trace->room) {
    const uint32_t room = trace->room == 0 ? 16 : 2 * trace->room;
    rr_trace_row* const rows = RR_TRACE_CAST(rr_trace_row*, realloc(trace->rows, room * sizeof(rr_trace_row)));
    if (rows == RR_TRACE_NULL) {
      return rr_trace_fail(trace, "no memory for the memory trace");
    }
    trace->rows = rows;
    trace->room = room;
  }
  row.start = start;
  row.bytes = bytes;
  row.element_bytes = element_bytes;
  row.kind = kind;
  row.name = rr_trace_text(name);
  if (row.name == RR_TRACE_NULL) {
    return rr_trace_fail(trace, "no memory for the memory trace");
  }
  trace->rows[trace->allocations++] = row;
  return 0;
}

/* Tells a load (is_store 0) or store of a warp: `bytes` of each lane (1 to 4096); bit i of `mask` is lane i, at least
 * one; one address for each bit, lowest lane first. `warp` tells apart the warps of an SM that are active at a time. */
static inline int rr_trace_record(rr_trace* trace, uint32_t sm, uint32_t warp, int is_store, uint32_t bytes,
                                  uint64_t mask, const uint64_t* addresses) {
  uint64_t left;
  size_t i = 0;
  if (trace->error != RR_TRACE_NULL) {
    return 1;
  }
  if (sm >= trace->sms || bytes < 1 || bytes > 4096 || mask == 0 ||
      (trace->warp_size < 64 && mask >> trace->warp_size != 0)) {
    return rr_trace_fail(trace, "a record has an SM, a size or a mask that is out of range");
  }
  if (trace->used + 128 + 64 * 19 > RR_TRACE_BUFFER) {
    rr_trace_flush(trace);
  }
  rr_trace_number(trace, sm);
  rr_trace_number(trace, warp);
  memcpy(trace->buffer + trace->used, is_store != 0 ? "store " : "load ", 6);
  trace->used += is_store != 0 ? 6 : 5;
  rr_trace_number(trace, bytes);
  rr_trace_hexadecimal(trace, mask);
  for (left = mask; left != 0; left &= left - 1, ++i) {
    if (addresses[i] > UINT64_MAX - (bytes - 1)) {
      return rr_trace_fail(trace, "an access ends behind 2^64 - 1");
    }
    rr_trace_hexadecimal(trace, addresses[i]);
  }
  trace->buffer[trace->used - 1] = '\n';
  ++trace->records;
  return trace->error != RR_TRACE_NULL;
}

static inline void rr_trace_write(rr_trace* trace, FILE* file) {
  static const char* const kinds[] = {"node",          "index",        "vertex",       "box",           "instance",
                                      "shader-record", "payload",      "stack",        "frame-buffer",  "other",
                                      "state",         "shader-load",  "shader-store", "shader-atomic", "image-load",
                                      "image-store",   "image-atomic", "image-sample", "queue"};
  uint32_t i;
  size_t size;
  fputs(trace->head, file);
  for (i = 0; i < trace->allocations; ++i) {
    const rr_trace_row* const row = &trace->rows[i];
    fprintf(file, "allocation %s 0x%llx %llu %lu%s%s\n", kinds[row->kind],
            RR_TRACE_CAST(unsigned long long, row->start), RR_TRACE_CAST(unsigned long long, row->bytes),
            RR_TRACE_CAST(unsigned long, row->element_bytes), *row->name != '\0' ? " " : "", row->name);
  }
  rewind(trace->records_file);
  while ((size = fread(trace->buffer, 1, RR_TRACE_BUFFER, trace->records_file)) > 0) {
    fwrite(trace->buffer, 1, size, file);
  }
  fprintf(file, "end %llu\n", RR_TRACE_CAST(unsigned long long, trace->records));
  if (ferror(trace->records_file) != 0 || ferror(file) != 0) {
    rr_trace_fail(trace, "the memory trace cannot be written");
  }
}

/* Completes the file and frees everything; also after an error, which removes the files. */
static inline int rr_trace_close(rr_trace* trace) {
  uint32_t i;
  if (trace->records_file != RR_TRACE_NULL) {
    rr_trace_flush(trace);
    if (trace->error == RR_TRACE_NULL) {
      FILE* const file = fopen(trace->path, "wb");
      if (file == RR_TRACE_NULL) {
        rr_trace_fail(trace, "the memory trace cannot be made");
      } else {
        rr_trace_write(trace, file);
        if (fclose(file) != 0) {
          rr_trace_fail(trace, "the memory trace cannot be written");
        }
        if (trace->error != RR_TRACE_NULL) {
          remove(trace->path);
        }
      }
    }
    fclose(trace->records_file);
    remove(trace->records_path);
  }
  for (i = 0; i < trace->allocations; ++i) {
    free(trace->rows[i].name);
  }
  free(trace->rows);
  free(trace->head);
  free(trace->path);
  free(trace->records_path);
  return trace->error != RR_TRACE_NULL;
}

#endif
