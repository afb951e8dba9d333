// Blocks of overlap-save for transforms in device memory: `points` samples per block, one work-item per sample.
#if SAMPLE_BYTES
#define SAMPLE char2
#else
#define SAMPLE float2
#endif

// Sample i of block b is input sample (first + b) * hop + offset - before + i, or 0 outside the input.
KERNEL WORK_GROUP(256, 1, 1)
void gather_blocks(GLOBAL const SAMPLE* RESTRICT in, GLOBAL float2* RESTRICT blocks, ulong samples, ulong offset,
                   ulong first, uint before, uint hop, uint points) {
  const ulong i = GLOBAL_ID(0);
  if (i >= points) return;
  const long at = (long)((first + GROUP_ID(1)) * hop + i + offset) - (long)before;
  float2 value = make_float2(0.0f, 0.0f);
  if (at >= 0 && at < (long)samples) {
    const SAMPLE x = in[at];
    value = make_float2((float)x.x, (float)x.y);
  }
  blocks[(ulong)GROUP_ID(1) * points + i] = value;
}

KERNEL WORK_GROUP(256, 1, 1)
void scatter_blocks(GLOBAL const float2* RESTRICT blocks, GLOBAL float2* RESTRICT out, ulong outputs, ulong first,
                    uint before, uint hop, uint points) {
  const ulong i = GLOBAL_ID(0), at = (first + GROUP_ID(1)) * hop + i;
  if (i < hop && at < outputs) out[at] = blocks[(ulong)GROUP_ID(1) * points + before + i];
}
