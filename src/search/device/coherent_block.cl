// Block b has the outputs from b * hop on. Output 0 is at sample `offset` of the input; samples outside the input are
// 0. STAGED: a work-group transforms every GROUPS(0)th block, and copies the samples of the next one at
// the same time.
#define POINT(i) (POINTS / R0 * (i))  // of this work-item in pass 0, from its first one
#define START(b) ((long)((b) * hop + offset) - (long)before)
#define INSIDE(from, more) ((from) >= 0 && (from) + POINTS + (more) <= (long)samples)
// Copies the samples of a block, 8 of 2 bytes at a time, if all of them are inside the input.
#define FETCH(b)                                                                             \
  if ((b) < blocks && INSIDE(START(b), 8)) {                                                 \
    GLOBAL const uint4* const vectors = (GLOBAL const uint4*)in + START(b) / 8;              \
    for (int i = item; i <= POINTS / 8; i += THREADS) COPY_ASYNC_16(stage + i, vectors + i); \
  }                                                                                          \
  COPY_ASYNC_COMMIT();

KERNEL WORK_GROUP_RESIDENT(THREADS, 1, 1, RESIDENT) void dedisperse_block(
    GLOBAL const SAMPLE* RESTRICT in, GLOBAL float2* RESTRICT out, GLOBAL const float2* RESTRICT filter,
    GLOBAL const float2* RESTRICT turns, ulong samples, ulong outputs, ulong offset, uint before, uint hop) {
  LOCAL_BLOCK(float2, line, PADDED(POINTS) + STAGED * (POINTS / 4 + 2));
  const int item = LOCAL_ID(0);
#if STAGED
  const ulong blocks = (outputs + hop - 1) / hop;
  LOCAL uint4* const stage = (LOCAL uint4*)(line + PADDED(POINTS));
  FETCH((ulong)GROUP_ID(0))
  COPY_ASYNC_WAIT(0);
  BARRIER();
  for (ulong block = GROUP_ID(0); block < blocks; block += GROUPS(0)) {
#else
  const ulong block = GROUP_ID(0);
  {
#endif
    const long start = (long)(block * hop), from = START(block);
    float2 v[EACH];
#if STAGED
    LOCAL const SAMPLE* const first = (LOCAL const SAMPLE*)stage + from % 8 + item;
#else
    GLOBAL const SAMPLE* const first = in + from + item;
#endif
    if (INSIDE(from, 8 * STAGED)) {
      UNROLL for (int i = 0; i < EACH; ++i) v[i] = POINT_OF(first[POINT(i)]);
    } else {
      UNROLL for (int i = 0; i < EACH; ++i) {
        const long at = from + item + POINT(i);
        const SAMPLE x = at >= 0 && at < (long)samples ? in[at] : NO_SAMPLE;
        v[i] = POINT_OF(x);
      }
    }
    TRANSFORM(R0, 0, 0, 1, 0, 0)
    SUBTRACT_CONSTANT(v[0], R0)
#if STAGED
    BARRIER();  // the points of the block before are read
#endif
    STORE_POINTS(R0, POINTS)
    BARRIER();
#if STAGED
    FETCH(block + GROUPS(0))
#endif
    LOAD_POINTS(R1, SUB_BLOCK)
    TRANSFORM(R1, 1, FORWARD_1, R0, b / R2, 0)
    STORE_POINTS(R1, SUB_BLOCK)
    SUB_BLOCK_BARRIER();
    LOAD_POINTS(R2, R2)
    TRANSFORM(R2, 1, FORWARD_2, R0 * R1, b, 0)
    UNROLL for (int i = 0; i < EACH; ++i) v[i] = product(v[i], LOAD_CACHED(filter + THREADS * i + item));
    TRANSFORM(R2, 0, 0, 1, 0, 1)
    STORE_POINTS(R2, R2)
    SUB_BLOCK_BARRIER();
    LOAD_POINTS(R1, SUB_BLOCK)
    TRANSFORM(R1, 1, INVERSE_1, R2, b % R2, 1)
    STORE_POINTS(R1, SUB_BLOCK)
#if STAGED
    COPY_ASYNC_WAIT(0);
#endif
    BARRIER();
    LOAD_POINTS(R0, POINTS)
    TRANSFORM(R0, 1, INVERSE_0, R1 * R2, b, 1)
    const uint count = outputs - (ulong)start < hop ? (uint)(outputs - (ulong)start) : hop;
    GLOBAL float2* const to = out + (start + item - (long)before);
    UNROLL for (int i = 0; i < EACH; ++i) {
      if ((uint)(item + POINT(i)) - before < count) to[POINT(i)] = v[i];
    }
  }
}
