// Block b has the outputs from b * hop on. Output 0 is at sample `offset` of the input; samples outside the input are
// 0.
KERNEL WORK_GROUP_RESIDENT(THREADS, 1, 1, RESIDENT) void dedisperse_block(
    GLOBAL const SAMPLE* RESTRICT in, GLOBAL float2* RESTRICT out, GLOBAL const float2* RESTRICT filter,
    GLOBAL const float2* RESTRICT turns, ulong samples, ulong outputs, ulong offset, uint before, uint hop) {
  LOCAL_BLOCK(float2, line, PADDED(POINTS));
  const int item = LOCAL_ID(0);
  const long start = (long)GROUP_ID(0) * hop, from = start + (long)offset - (long)before;
  float2 v[EACH];
  // Pass 0 reads samples: butterfly b has points b + POINTS / R0 * j.
#define POINT(i) (item + (i) / R0 * THREADS + POINTS / R0 * ((i) % R0))
  bool staged = false;
#if STAGED
  staged = from >= 0 && from + POINTS + 8 <= (long)samples && (ulong)in % 16 == 0;
  if (staged) {  // the same for all work-items; copies 8 samples of 2 bytes at a time
    for (int i = item; i <= POINTS / 8; i += THREADS)
      COPY_ASYNC_16((LOCAL uint4*)line + i, (GLOBAL const uint4*)in + from / 8 + i);
    COPY_ASYNC_COMMIT();
    COPY_ASYNC_WAIT(0);
  }
  BARRIER();  // outside of branches: PoCL 5 fails if values meet right after a barrier
  if (staged) {
    LOCAL const SAMPLE* const first = (LOCAL const SAMPLE*)line + from % 8;
    UNROLL for (int i = 0; i < EACH; ++i) {
      const SAMPLE x = first[POINT(i)];
      v[i] = make_float2((float)x.x, (float)x.y);
    }
  }
#endif
  if (!staged) {
    UNROLL for (int i = 0; i < EACH; ++i) {
      const long at = from + POINT(i);
      SAMPLE x;
      x.x = x.y = 0;
      if (at >= 0 && at < (long)samples) x = in[at];
      v[i] = make_float2((float)x.x, (float)x.y);
    }
  }
#if STAGED
  BARRIER();  // the samples are read
#endif
  TRANSFORM(R0, 0, 0, 1, 0, 0)
  STORE_POINTS(R0, POINTS)
#if R1 > 1
  LOAD_POINTS(R1, R1 * R2)
  TRANSFORM(R1, 1, FORWARD_1, R0, b / R2, 0)
  STORE_POINTS(R1, R1 * R2)
#endif
  LOAD_POINTS(R2, R2)
  TRANSFORM(R2, 1, FORWARD_2, R0 * R1, b, 0)
  UNROLL for (int i = 0; i < EACH; ++i) v[i] = product(v[i], LOAD_CACHED(filter + THREADS * i + item));
  TRANSFORM(R2, 0, 0, 1, 0, 1)
  STORE_POINTS(R2, R2)
#if R1 > 1
  LOAD_POINTS(R1, R1 * R2)
  TRANSFORM(R1, 1, INVERSE_1, R2, b % R2, 1)
  STORE_POINTS(R1, R1 * R2)
#endif
  LOAD_POINTS(R0, POINTS)
  TRANSFORM(R0, 1, INVERSE_0, R1 * R2, b, 1)
  const uint count = outputs - (ulong)start < hop ? (uint)(outputs - (ulong)start) : hop;
  UNROLL for (int i = 0; i < EACH; ++i) {
    const uint within = (uint)POINT(i) - before;  // wraps to a large number before the first output
    if (within < count) out[start + within] = v[i];
  }
}
