// Products of warpgroups with 128 columns (CUDA, Hopper), used beside warp_groups.cl.
//   warp_group_multiply_128(d, a, b, adds)   as warp_group_multiply(), d: 64 x 128 in 64 registers; adds 0: d = a b. The
//                                            registers of d must have values.
#define WARP_GROUP_NAMES_64 \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
FUNCTION void warp_group_multiply_128(float* d, const uint* a, ulong b, uint adds) {
  asm volatile(
      "{.reg .pred adds; setp.ne.u32 adds, %69, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" WARP_GROUP_NAMES_32 "," WARP_GROUP_NAMES_64 "}, {%64, %65, %66, %67}, %68, adds, 1, 1, 0;}"
      : WARP_GROUP_SUMS_32("+f", d, 0), WARP_GROUP_SUMS_32("+f", d, 32)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));
}
FUNCTION void warp_group_multiply_128(int* d, const uint* a, ulong b, uint adds) {
  asm volatile(
      "{.reg .pred adds; setp.ne.u32 adds, %69, 0; wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 {" WARP_GROUP_NAMES_32 "," WARP_GROUP_NAMES_64 "}, {%64, %65, %66, %67}, %68, adds;}"
      : WARP_GROUP_SUMS_32("+r", d, 0), WARP_GROUP_SUMS_32("+r", d, 32)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));
}
