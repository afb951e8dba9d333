// Reads a channel of a pixel, or the pixel's gray value if GRAY_FIRST is defined.
#ifdef GRAY_FIRST
FUNCTION float fetch(GLOBAL const ELEMENT* pixel, int channel) {
  const float v = FMA(RED, (float)pixel[0], FMA(GREEN, (float)pixel[1], BLUE * (float)pixel[2]));
#if DEPTH == 4
  return v;
#else
  return whole_number(v, MOST);
#endif
}
#else
FUNCTION float fetch(GLOBAL const ELEMENT* pixel, int channel) { return (float)pixel[channel]; }
#endif
