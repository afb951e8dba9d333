// Coherent dedispersion of GROUPS_EACH * POINTS samples by a cluster of GROUPS_EACH work-groups: as dedisperse_block(),
// with one more pass over the groups. Group g computes the frequencies k with k % GROUPS_EACH == g. Points are
// exchanged between the groups twice, by stores into each other's local memory.
#define OWN (POINTS / GROUPS_EACH)  // points of a group's part of each pass over the groups
#define CLUSTER_BARRIER() CLUSTER_ARRIVE(); CLUSTER_WAIT();

KERNEL WORK_GROUP_RESIDENT(THREADS, 1, 1, RESIDENT) CLUSTER(GROUPS_EACH) void dedisperse_cluster(
    GLOBAL const SAMPLE* RESTRICT in, GLOBAL float2* RESTRICT out, GLOBAL const float2* RESTRICT filter,
    GLOBAL const float2* RESTRICT turns, ulong samples, ulong outputs, ulong offset, uint before, uint hop) {
  LOCAL_BLOCK(float2, line, PADDED(POINTS));
  const int item = LOCAL_ID(0), rank = (int)(GROUP_ID(0) % GROUPS_EACH);
  const long start = (long)(GROUP_ID(0) / GROUPS_EACH) * hop, from = start + (long)offset - (long)before;
  float2 v[EACH];
  UNROLL for (int i = 0; i < EACH; ++i) {
    const int within = rank * OWN + item + i / GROUPS_EACH * THREADS + POINTS * (i % GROUPS_EACH);
    const long at = from + within;
    const SAMPLE x = at >= 0 && at < (long)samples ? in[at] : NO_SAMPLE;
    v[i] = POINT_OF(x);
  }
  CLUSTER_BARRIER()  // every group has begun: its local memory may be written
  UNROLL for (int q = 0; q < EACH / GROUPS_EACH; ++q) {
    butterfly(v + q * GROUPS_EACH, GROUPS_EACH, 0, turns, 1, 0);
    SUBTRACT_CONSTANT(v[q * GROUPS_EACH], GROUPS_EACH)
    const int at = rank * OWN + item + q * THREADS;
    UNROLL for (int k = 0; k < GROUPS_EACH; ++k) STORE_PEER(PEER(k), line + PADDED(at), v[q * GROUPS_EACH + k]);
  }
  CLUSTER_BARRIER()
  LOAD_POINTS(R0, POINTS)
  TRANSFORM(R0, 1, FORWARD_0, GROUPS_EACH, rank, 0)
  STORE_POINTS(R0, POINTS)
  BARRIER();
  LOAD_POINTS(R1, SUB_BLOCK)
  TRANSFORM(R1, 1, FORWARD_1, R0 * GROUPS_EACH, rank * R0 + b / R2, 0)
  STORE_POINTS(R1, SUB_BLOCK)
  SUB_BLOCK_BARRIER();
  LOAD_POINTS(R2, R2)
  TRANSFORM(R2, 1, FORWARD_2, R0 * R1 * GROUPS_EACH, rank * R0 * R1 + b, 0)
  UNROLL for (int i = 0; i < EACH; ++i)
    v[i] = product(v[i], LOAD_CACHED(filter + rank * POINTS + THREADS * i + item));
  TRANSFORM(R2, 0, 0, 1, 0, 1)
  STORE_POINTS(R2, R2)
  SUB_BLOCK_BARRIER();
  LOAD_POINTS(R1, SUB_BLOCK)
  TRANSFORM(R1, 1, INVERSE_1, R2, b % R2, 1)
  STORE_POINTS(R1, SUB_BLOCK)
  BARRIER();
  LOAD_POINTS(R0, POINTS)
  TRANSFORM(R0, 1, INVERSE_0, R1 * R2, b, 1)
  CLUSTER_BARRIER()  // every group has read its points
  UNROLL for (int i = 0; i < EACH; ++i) {
    const int n = item + THREADS * i, at = rank * OWN + n % OWN;  // one butterfly per work-item: EACH == R0
    STORE_PEER(PEER(THREADS * i / OWN), line + PADDED(at), v[i]);
  }
  CLUSTER_BARRIER()
  const uint count = outputs - (ulong)start < hop ? (uint)(outputs - (ulong)start) : hop;
  UNROLL for (int q = 0; q < EACH / GROUPS_EACH; ++q) {
    const int at = item + q * THREADS, n = rank * OWN + at;
    float2* const part = v + q * GROUPS_EACH;
    UNROLL for (int k = 0; k < GROUPS_EACH; ++k) part[k] = line[PADDED(at) + STRIDE(OWN) * k];
    butterfly(part, GROUPS_EACH, 1, turns + INVERSE_GROUPS + n, POINTS, 1);
    UNROLL for (int j = 0; j < GROUPS_EACH; ++j) {
      const uint within = (uint)(n + POINTS * j) - before;  // wraps to a large number before the first output
      if (within < count) out[start + within] = part[j];
    }
  }
}
