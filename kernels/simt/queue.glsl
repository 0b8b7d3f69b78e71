// The queues of the lanes: ranges of the column of codes, in the trace's order, with entries that are no calls.
//
// A lane keeps the current 16 bytes of its queue in registers, with a bit for each remaining call: the next one is
// found without reading other entries, and memory is read once for 8 or 16 rows.

const uint kRows = 16 / kCodeBytes;       ///< of a chunk
const uint kRowsOfWord = 4 / kCodeBytes;

uvec4 chunk[kLanesEach];
uint to_come[kLanesEach];      ///< rows of the chunk whose calls are still to be made
uint64_t row[kLanesEach];      ///< of the chunk's first code
uint64_t end_row[kLanesEach];
uint head[kLanesEach];         ///< the next call's code, RR_SIMT_NO_CALL at the end

/// A bit for each code of the word that is a call.
uint calls_in(uint word) {
  const uint clear = ~word;
  if (kCodeBytes == 2) {
    return uint((clear & 0xFFFF) != 0) | uint((clear >> 16) != 0) << 1;
  }
  const uint bytes = ((clear & 0x7F7F7F7F) + 0x7F7F7F7F | clear) & 0x80808080;
  return (bytes >> 7) * 0x10204080 >> 28;
}

/// Loads the chunk at `row`, without what lies before row `begin` or after the end.
void load_chunk(uint k, uint64_t begin) {
  const uvec4 codes = Quads(push.codes + row[k] * kCodeBytes).at[0];
  uint calls = calls_in(codes.x) | calls_in(codes.y) << kRowsOfWord | calls_in(codes.z) << 2 * kRowsOfWord |
               calls_in(codes.w) << 3 * kRowsOfWord;
  calls &= ~0u << uint(begin - row[k]);
  const uint64_t left = end_row[k] - row[k];
  to_come[k] = left < kRows ? calls & (1u << uint(left)) - 1 : calls;
  chunk[k] = codes;
}

/// Loads the next chunk with calls for lanes whose chunk has none left; then sets the heads.
void find_heads() {
  for (uint k = 0; k < kLanesEach; ++k) {
    bool empty = to_come[k] == 0 && row[k] + kRows < end_row[k];
    while (subgroupAny(empty)) {
      if (empty) {
        row[k] += kRows;
        load_chunk(k, row[k]);
        empty = to_come[k] == 0 && row[k] + kRows < end_row[k];
      }
    }
    const uint place = findLSB(to_come[k]) & kRows - 1;
    const uint word = place / kRowsOfWord;
    // Selected, not indexed: registers have no addresses.
    const uint codes = word < 2 ? (word == 0 ? chunk[k].x : chunk[k].y) : (word == 2 ? chunk[k].z : chunk[k].w);
    const uint code = codes >> place % kRowsOfWord * 8 * kCodeBytes & (kCodeBytes == 1 ? 0xFF : 0xFFFF);
    head[k] = to_come[k] != 0 ? code : RR_SIMT_NO_CALL;
  }
}

/// The queue of an empty lane.
void start_empty(uint k) {
  to_come[k] = 0;
  row[k] = 0;
  end_row[k] = 0;
}

/// The queue of rows [begin, end).
void start_queue(uint k, uint64_t begin, uint64_t end) {
  start_empty(k);
  if (begin < end) {
    row[k] = begin - begin % kRows;
    end_row[k] = end;
    load_chunk(k, begin);
  }
}

/// The lanes execute the call at their head.
void pop(Lanes lanes) {
  for (uint k = 0; k < kLanesEach; ++k) {
    to_come[k] = holds(lanes, k) ? to_come[k] & to_come[k] - 1 : to_come[k];
  }
  find_heads();
}
