// Words of a row of bytes that may be beyond its ends. Each is assembled from words of the row when it is used, so that no
// load has to wait for another. FILLED is defined for a constant border.
#if CHANNELS == 3
#define PARTS 3
#else
#define PARTS 2
#endif
#define BEYOND_WORD ((uint)BEYOND * 0x01010101u)

struct place {  // words of the row that a word is assembled from, with byte selectors
  int from[PARTS];
  uint first, second, fill;
  int scattered;  // needs more than PARTS words: loaded byte by byte
};

FUNCTION int place_of(int value, int columns) {
  const int pixel = value >= 0 ? value / CHANNELS : -((CHANNELS - 1 - value) / CHANNELS), there = BORDERED(pixel, columns);
  return there < 0 ? -1 : there * CHANNELS + value - pixel * CHANNELS;
}

FUNCTION struct place find_place(int value, int columns, int aligned) {
  struct place found;
  found.fill = 0u;
  found.scattered = !aligned;
  if (value >= 0 && value + 4 <= columns * CHANNELS) {
    UNROLL
    for (int i = 0; i < PARTS; ++i) found.from[i] = value;
    found.first = found.second = 0x3210u;
    return found;
  }
  int a = -1, b = -1, c = -1;
  found.first = found.second = 0u;
  UNROLL
  for (int e = 0; e < 4; ++e) {
    const int at = place_of(value + e, columns), word = at & ~3;
    uint first = 0u, second = (uint)e;
    if (at < 0) {
      found.fill |= 255u << 8 * e;
    } else if (a < 0 || a == word) {
      a = word;
      first = (uint)(at & 3);
    } else if (b < 0 || b == word) {
      b = word;
      first = 4u + (uint)(at & 3);
    } else if (PARTS == 3 && (c < 0 || c == word)) {
      c = word;
      second = 4u + (uint)(at & 3);
    } else {
      found.scattered = 1;
    }
    found.first |= first << 4 * e;
    found.second |= second << 4 * e;
  }
  found.from[0] = a < 0 ? 0 : a;
  found.from[1] = b < 0 ? found.from[0] : b;
#if PARTS == 3
  found.from[2] = c < 0 ? found.from[0] : c;
#endif
  if (found.from[0] + 4 > columns * CHANNELS || found.from[PARTS - 1] + 4 > columns * CHANNELS ||
      found.from[1] + 4 > columns * CHANNELS)
    found.scattered = 1;  // the last word of a row may be incomplete
  return found;
}

FUNCTION uint scattered_word(GLOBAL const uchar* row, int value, int columns) {
  uint word = 0u;
  for (int e = 3; e >= 0; --e) {
    const int at = place_of(value + e, columns);
    word = word << 8 | (at < 0 ? (uint)BEYOND : (uint)row[at]);
  }
  return word;
}

FUNCTION void load_parts(GLOBAL const uchar* row, int value, int columns, const struct place* place, uint* parts) {
  if (place->scattered) {
    parts[0] = scattered_word(row, value, columns);
  } else {
    UNROLL
    for (int p = 0; p < PARTS; ++p) parts[p] = LOAD_CACHED((GLOBAL const uint*)(row + place->from[p]));
  }
}

FUNCTION uint put_together(const uint* parts, const struct place* place, int row_is_there) {
  uint word = BYTE_PERMUTE(parts[0], parts[1], place->first);
#if PARTS == 3
  word = BYTE_PERMUTE(word, parts[2], place->second);
#endif
  if (place->scattered) word = parts[0];
#ifdef FILLED
  const uint fill = row_is_there ? place->fill : 0xffffffffu;
  word = (word & ~fill) | (BEYOND_WORD & fill);
#endif
  return word;
}
