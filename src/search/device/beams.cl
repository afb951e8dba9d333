// Power of beams. Work-items of a group have neighbouring beams and share the samples of one integration in local
// memory, STATIONS_AT_ONCE stations at a time. Beam number `beams` is the incoherent one.
KERNEL WORK_GROUP(ITEMS_IN_GROUP, 1, 1) void beam_power(GLOBAL const float2* RESTRICT in,
                                                        GLOBAL const float2* RESTRICT weights,
                                                        GLOBAL float* RESTRICT out, uint stations, uint beams,
                                                        uint rows, uint times, uint integrate, uint bins,
                                                        uint beam_groups) {
  LOCAL_ARRAY(float2, samples, STATIONS_AT_ONCE);
  const uint group = GROUP_ID(0), beam = group % beam_groups * ITEMS_IN_GROUP + LOCAL_ID(0);
  const uint bin = group / beam_groups % bins, channel = group / beam_groups / bins;
  GLOBAL const float2* from = in + ((ulong)channel * times + (ulong)bin * integrate) * stations;
  GLOBAL const float2* mine = weights + (ulong)channel * stations * beams + beam;
  float power = 0;
  for (uint t = 0; t < integrate; ++t) {
    float real = 0, imaginary = 0, own = 0;
    for (uint first = 0; first < stations; first += STATIONS_AT_ONCE) {
      const uint some = stations - first < STATIONS_AT_ONCE ? stations - first : STATIONS_AT_ONCE;
      BARRIER();
      for (uint s = LOCAL_ID(0); s < some; s += ITEMS_IN_GROUP) samples[s] = from[(ulong)t * stations + first + s];
      BARRIER();
      for (uint s = 0; s < some; ++s) {
        const float2 x = samples[s];
        if (beam < beams) {
          const float2 w = mine[(ulong)(first + s) * beams];
          real = FMA(w.x, x.x, FMA(-w.y, x.y, real));
          imaginary = FMA(w.x, x.y, FMA(w.y, x.x, imaginary));
        } else {
          own = FMA(x.x, x.x, FMA(x.y, x.y, own));
        }
      }
    }
    power += FMA(real, real, imaginary * imaginary) + own;
  }
  if (beam < rows) out[((ulong)channel * rows + beam) * bins + bin] = power;
}
