#include "device/dialect.hpp"

namespace ridge::detail {

// Pointers need no address space in CUDA, and a kernel text may or may not say `const` after CONSTANT (OpenCL accepts
// both): CONSTANT adds it, and NVRTC's warning about a second one is switched off with the other warnings.
// __syncthreads() orders local and global memory within the group, so both barriers are the same.
std::string cuda_prelude() {
  return R"(// Ridgeline's kernel dialect in CUDA C++
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "the dialect's long has 64 bits");

#define KERNEL extern "C" __global__
#define WORK_GROUP(x, y, z) __launch_bounds__((x) * (y) * (z))
#define WORK_GROUP_RESIDENT(x, y, z, n) __launch_bounds__((x) * (y) * (z), n)
#define FUNCTION static __device__ __forceinline__
#define GLOBAL
#define LOCAL
#define CONSTANT const
#define RESTRICT __restrict__
#define CONSTANT_TABLE static __constant__ const
#define UNROLL _Pragma("unroll")

extern __shared__ __align__(16) unsigned char ridge_local_block[];
#define LOCAL_ARRAY(type, name, n) __shared__ type name[n]
#define LOCAL_BLOCK(type, name, n) type* const name = reinterpret_cast<type*>(ridge_local_block)
#define BARRIER() __syncthreads()
#define BARRIER_GLOBAL() __syncthreads()

FUNCTION uint ridge_axis(dim3 v, int d) { return d == 0 ? v.x : d == 1 ? v.y : v.z; }
FUNCTION uint ridge_axis(uint3 v, int d) { return d == 0 ? v.x : d == 1 ? v.y : v.z; }
#define GROUP_ID(d) ridge_axis(blockIdx, d)
#define LOCAL_ID(d) static_cast<int>(ridge_axis(threadIdx, d))
#define GROUPS(d) ridge_axis(gridDim, d)
#define ITEMS(d) static_cast<int>(ridge_axis(blockDim, d))
#define GLOBAL_ID(d) (ridge_axis(blockIdx, d) * ridge_axis(blockDim, d) + ridge_axis(threadIdx, d))

#define SUB_GROUP_WIDTH 32
#define SHUFFLE(v, lane) __shfl_sync(0xffffffffu, v, lane)
#define SHUFFLE_UP(v, n) __shfl_up_sync(0xffffffffu, v, n)
#define SHUFFLE_DOWN(v, n) __shfl_down_sync(0xffffffffu, v, n)
#define SHUFFLE_XOR(v, m) __shfl_xor_sync(0xffffffffu, v, m)

FUNCTION float ridge_fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
FUNCTION double ridge_fma(double a, double b, double c) { return __fma_rn(a, b, c); }
#define FMA(a, b, c) ridge_fma(a, b, c)

#define LOAD_ONCE(p) __ldcs(p)
#define STORE_ONCE(p, v) __stcs(p, v)
#define LOAD_CACHED(p) __ldg(p)
#define LOAD_FAR(p) __ldcg(p)

#define SUB_GROUP_BARRIER() __syncwarp()
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define RIDGE_COPY_AHEAD(kind, bytes, to, from)                                       \
  asm volatile("cp.async." kind ".shared.global [%0], [%1], " bytes ";"               \
               : : "r"(static_cast<uint>(__cvta_generic_to_shared(to))), "l"(from) : "memory")
#define COPY_AHEAD_4(to, from) RIDGE_COPY_AHEAD("ca", "4", to, from)
#define COPY_AHEAD_8(to, from) RIDGE_COPY_AHEAD("ca", "8", to, from)
#define COPY_AHEAD_16(to, from) RIDGE_COPY_AHEAD("cg", "16", to, from)
#define COPIES_CLOSE() asm volatile("cp.async.commit_group;" : : : "memory")
#define COPIES_WAIT(n) asm volatile("cp.async.wait_group %0;" : : "n"(n) : "memory")
#else
#define COPY_AHEAD_4(to, from) (*reinterpret_cast<uint*>(to) = *reinterpret_cast<const uint*>(from))
#define COPY_AHEAD_8(to, from) (*reinterpret_cast<uint2*>(to) = *reinterpret_cast<const uint2*>(from))
#define COPY_AHEAD_16(to, from) (*reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from))
#define COPIES_CLOSE()
#define COPIES_WAIT(n)
#endif
)";
}

}  // namespace ridge::detail
