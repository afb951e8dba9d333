// Ridgeline's kernel dialect in CUDA C++
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
static_assert(sizeof(long) == 8, "the dialect's long has 64 bits");

#define TAKES_PTX
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

extern __shared__ __align__(128) unsigned char ridge_local_block[];
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
#define KEEPS_DENORMALS 1

#define BYTES_ABSDIFF(a, b) __vabsdiffu4(a, b)
#define BYTES_DOT(a, b, start) __dp4a(static_cast<uint>(a), static_cast<uint>(b), static_cast<uint>(start))
#define BYTES_DOT_SIGNED(a, b, start) __dp4a(static_cast<int>(a), static_cast<int>(b), static_cast<int>(start))
#define BITS_OF(f) __float_as_uint(f)
#define FLOAT_OF(u) __uint_as_float(u)
#define LONG_BITS_OF(d) static_cast<ulong>(__double_as_longlong(d))
#define DOUBLE_OF(u) __longlong_as_double(static_cast<long long>(u))
FUNCTION float ridge_float_of_half(ushort u) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(u));
  return f;
}
FUNCTION ushort ridge_half_of(float f) {
  ushort u;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(u) : "f"(f));
  return u;
}
#define FLOAT_OF_HALF(u) ridge_float_of_half(u)
#define HALF_OF_FLOAT(f) ridge_half_of(f)
// One instruction each; integer code takes one more for a load and eight more for a store.
FUNCTION float ridge_float_of_bfloat(ushort u) {
  float f;
  asm("{.reg .b16 low; mov.b16 low, 0; mov.b32 %0, {low, %1};}" : "=f"(f) : "h"(u));
  return f;
}
FUNCTION ushort ridge_bfloat_of(float f) {
#if __CUDA_ARCH__ >= 800
  ushort u;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(u) : "f"(f));
  return u;
#else
  const uint bits = BITS_OF(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (ushort)(bits >> 16 | 0x40u);
  return (ushort)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
}
#define FLOAT_OF_BFLOAT(u) ridge_float_of_bfloat(u)
#define BFLOAT_OF_FLOAT(f) ridge_bfloat_of(f)
FUNCTION float ridge_exp2_fast(float f) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(f));
  return power;
}
#define BYTE_PERMUTE(a, b, which) __byte_perm(a, b, which)
// Clamps each signed 16-bit word to the range from 0 to the corresponding word of `most`.
FUNCTION uint ridge_clamp_words(uint a, uint most) {
#if __CUDA_ARCH__ >= 900
  uint clamped;
  asm("min.relu.s16x2 %0, %1, %2;" : "=r"(clamped) : "r"(a), "r"(most));
  return clamped;
#else
  return __vmaxs2(__vmins2(a, most), 0u);
#endif
}
#define CLAMP_WORDS(a, most) ridge_clamp_words(a, most)
#define EXP2_FAST(f) ridge_exp2_fast(f)
#define ROUND_EVEN(f) __float2int_rn(f)
#define ATOMIC_ADD(p, v) atomicAdd(p, v)
#define ATOMIC_MIN(p, v) atomicMin(p, v)
#define ATOMIC_MAX(p, v) atomicMax(p, v)

#define MATRIX_SCRATCH(scratch, n) float* const scratch = nullptr
FUNCTION void ridge_matrix_tf32(float* d, float a0, float a1, float a2, float a3, float b0, float b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(__float_as_uint(a0)), "r"(__float_as_uint(a1)), "r"(__float_as_uint(a2)), "r"(__float_as_uint(a3)),
        "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}
#define MATRIX_TF32(scratch, d, a0, a1, a2, a3, b0, b1) ridge_matrix_tf32(d, a0, a1, a2, a3, b0, b1)

FUNCTION void ridge_matrix_f16(float* d, uint a0, uint a1, uint a2, uint a3, uint b0, uint b1, const float* c) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
#define MATRIX_F16(scratch, d, a0, a1, a2, a3, b0, b1, c) ridge_matrix_f16(d, a0, a1, a2, a3, b0, b1, c)
FUNCTION void ridge_matrix_u8(int* d, uint a0, uint a1, uint a2, uint a3, uint b0, uint b1, const int* c) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}
FUNCTION void ridge_matrix_s8(int* d, uint a0, uint a1, uint a2, uint a3, uint b0, uint b1, const int* c) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}
#define MATRIX_U8(scratch, d, a0, a1, a2, a3, b0, b1, c) ridge_matrix_u8(d, a0, a1, a2, a3, b0, b1, c)
#define MATRIX_S8(scratch, d, a0, a1, a2, a3, b0, b1, c) ridge_matrix_s8(d, a0, a1, a2, a3, b0, b1, c)

#define CLUSTER(n) __cluster_dims__(n, 1, 1)
#define CLUSTER_ARRIVE() asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory")
#define CLUSTER_WAIT() asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory")
// Address of the local block of another group of the cluster; its layout equals that of this group.
FUNCTION uint ridge_peer(uint rank) {
  uint address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(address)
      : "r"(static_cast<uint>(__cvta_generic_to_shared(ridge_local_block))), "r"(rank));
  return address;
}
FUNCTION uint ridge_peer_address(uint peer, const void* p) {
  return peer + static_cast<uint>(__cvta_generic_to_shared(p)) -
         static_cast<uint>(__cvta_generic_to_shared(ridge_local_block));
}
FUNCTION void ridge_store_peer(uint peer, float2* p, float2 v) {
  asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(ridge_peer_address(peer, p)), "f"(v.x), "f"(v.y)
               : "memory");
}
FUNCTION void ridge_store_peer(uint peer, double2* p, double2 v) {
  asm volatile("st.shared::cluster.v2.f64 [%0], {%1, %2};" ::"r"(ridge_peer_address(peer, p)), "d"(v.x), "d"(v.y)
               : "memory");
}
FUNCTION void ridge_send_peer(uint peer, float2* p, float2 v, ulong* arrived) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(
                   ridge_peer_address(peer, p)),
               "f"(v.x), "f"(v.y), "r"(ridge_peer_address(peer, arrived))
               : "memory");
}
FUNCTION void ridge_send_peer(uint peer, double2* p, double2 v, ulong* arrived) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.f64 [%0], {%1, %2}, [%3];" ::"r"(
                   ridge_peer_address(peer, p)),
               "d"(v.x), "d"(v.y), "r"(ridge_peer_address(peer, arrived))
               : "memory");
}
#define PEER(rank) ridge_peer(rank)
#define STORE_PEER(peer, p, v) ridge_store_peer(peer, p, v)
#define SEND_PEER(peer, p, v, arrived) ridge_send_peer(peer, p, v, arrived)

FUNCTION uint ridge_local_address(const void* p) { return static_cast<uint>(__cvta_generic_to_shared(p)); }
FUNCTION void ridge_async_copy_open(ulong* p) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(ridge_local_address(p)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
FUNCTION void ridge_async_copy_expect(ulong* p, uint bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(ridge_local_address(p)), "r"(bytes)
               : "memory");
}
FUNCTION void ridge_async_copy_part(ulong* p, void* to, const void* from, uint bytes) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   ridge_local_address(to)),
               "l"(from), "r"(bytes), "r"(ridge_local_address(p))
               : "memory");
}
FUNCTION void ridge_async_copy_wait(ulong* p, uint parity) {
  uint there;
  do {
    asm volatile("{.reg .pred there; mbarrier.try_wait.parity.shared::cta.b64 there, [%1], %2; selp.u32 %0, 1, 0, there;}"
                 : "=r"(there)
                 : "r"(ridge_local_address(p)), "r"(parity)
                 : "memory");
  } while (there == 0);
}
struct __align__(64) ridge_part_of_map { ulong words[8]; };
// The two parts are adjacent parameters.
#define TILE_MAP(name) const __grid_constant__ ridge_part_of_map name, const __grid_constant__ ridge_part_of_map name##_rest
FUNCTION void ridge_async_copy_tile(ulong* p, void* to, const void* map, int column, int row, int array) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(
          ridge_local_address(to)),
      "l"(map), "r"(column), "r"(row), "r"(array), "r"(ridge_local_address(p))
      : "memory");
}
FUNCTION void ridge_tile_store(const void* map, int column, int row, int array, const void* from) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map), "r"(column),
               "r"(row), "r"(array), "r"(ridge_local_address(from))
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
#define TMA_LOAD_TILE(p, to, map, column, row, array) ridge_async_copy_tile(p, to, &(map), column, row, array)
#define TILE_STORE_FENCE() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define TMA_STORE_TILE(map, column, row, array, from) ridge_tile_store(&(map), column, row, array, from)
#define TILE_STORE_WAIT_READ() asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")
#define TILE_STORE_WAIT() asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")
#define COPY_BARRIER_INIT(p) ridge_async_copy_open(p)
#define COPY_BARRIER_EXPECT(p, bytes) ridge_async_copy_expect(p, bytes)
#define BULK_COPY(p, to, from, bytes) ridge_async_copy_part(p, to, from, bytes)
#define BULK_COPY_EXPECT(p, to, from, bytes) (ridge_async_copy_expect(p, bytes), ridge_async_copy_part(p, to, from, bytes))
#define MBARRIER_WAIT(p, parity) ridge_async_copy_wait(p, parity)
FUNCTION void ridge_async_copy_tile_once(ulong* p, void* to, const void* map, int column, int row, int array) {
  asm volatile(
      "{.reg .b64 once; createpolicy.fractional.L2::evict_first.b64 once; "
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3, %4}], [%5], once;}" ::"r"(ridge_local_address(to)),
      "l"(map), "r"(column), "r"(row), "r"(array), "r"(ridge_local_address(p))
      : "memory");
}
#define TMA_LOAD_TILE_ONCE(p, to, map, column, row, array) ridge_async_copy_tile_once(p, to, &(map), column, row, array)
#define ASYNC_PROXY_FENCE() asm volatile("fence.proxy.async;" ::: "memory")

FUNCTION void ridge_arrivals_open(ulong* p, uint n) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(ridge_local_address(p)), "r"(n) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
FUNCTION void ridge_arrive(ulong* p) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(ridge_local_address(p)) : "memory");
}
FUNCTION uint ridge_arrived(ulong* p, uint parity) {
  uint there;
  asm volatile("{.reg .pred there; mbarrier.test_wait.parity.shared::cta.b64 there, [%1], %2; selp.u32 %0, 1, 0, there;}"
               : "=r"(there)
               : "r"(ridge_local_address(p)), "r"(parity)
               : "memory");
  return there;
}
#define MBARRIER_INIT(p, n) ridge_arrivals_open(p, n)
#define MBARRIER_ARRIVE(p) ridge_arrive(p)
#define MBARRIER_TEST(p, parity) ridge_arrived(p, parity)
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_SPECIFIC__) || defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
#define CLAIM_REGISTERS(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n))
#define RELEASE_REGISTERS(n) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n))
#else  // text for every GPU of a generation: no effect
#define CLAIM_REGISTERS(n) ((void)0)
#define RELEASE_REGISTERS(n) ((void)0)
#endif
#define NAMED_BARRIER(i, n) asm volatile("bar.sync %0, %1;" ::"n"((i) + 1), "n"(n) : "memory")

FUNCTION uint ridge_unit() {
  uint unit;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(unit));
  return unit;
}
FUNCTION uint ridge_timed_load(const uint* p, volatile uint* seen) {
  uint value, start, end;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(start)::"memory");
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  *seen = value;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(end)::"memory");
  return end - start;
}
#define COMPUTE_UNIT_ID() ridge_unit()
#define TIMED_LOAD(p, seen) ridge_timed_load(p, seen)
#define ATOMIC_INCREMENT(p) atomicAdd(p, 1u)
FUNCTION uint ridge_signal(uint* p) {
  __threadfence();
  return atomicAdd(p, 1u);
}
FUNCTION uint ridge_signals(const uint* p) {
  uint seen;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(p) : "memory");
  return seen;
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define AFTER_PREVIOUS_KERNEL() \
  asm volatile("griddepcontrol.wait; griddepcontrol.launch_dependents;" ::: "memory")
#else
#define AFTER_PREVIOUS_KERNEL() ((void)0)
#endif
FUNCTION void ridge_store_relaxed(ulong* p, ulong v) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(p), "l"(v) : "memory");
}
FUNCTION ulong ridge_load_relaxed(const ulong* p) {
  ulong v;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}
#define STORE_RELAXED(p, v) ridge_store_relaxed(p, v)
#define LOAD_RELAXED(p) ridge_load_relaxed(p)
#define SIGNAL(p) ridge_signal(p)
#define SIGNAL_COUNT(p) ridge_signals(p)

#define LOAD_ONCE(p) __ldcs(p)
#define STORE_ONCE(p, v) __stcs(p, v)
#define LOAD_CACHED(p) __ldg(p)
#define LOAD_L2(p) __ldcg(p)

#define SUB_GROUP_BARRIER() __syncwarp()
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define RIDGE_COPY_ASYNC(kind, bytes, to, from)                                       \
  asm volatile("cp.async." kind ".shared.global [%0], [%1], " bytes ";"               \
               : : "r"(static_cast<uint>(__cvta_generic_to_shared(to))), "l"(from) : "memory")
#define COPY_ASYNC_4(to, from) RIDGE_COPY_ASYNC("ca", "4", to, from)
#define COPY_ASYNC_8(to, from) RIDGE_COPY_ASYNC("ca", "8", to, from)
#define COPY_ASYNC_16(to, from) RIDGE_COPY_ASYNC("cg", "16", to, from)
#define COPY_ASYNC_COMMIT() asm volatile("cp.async.commit_group;" : : : "memory")
#define COPY_ASYNC_WAIT(n) asm volatile("cp.async.wait_group %0;" : : "n"(n) : "memory")
#else
#define COPY_ASYNC_4(to, from) (*reinterpret_cast<uint*>(to) = *reinterpret_cast<const uint*>(from))
#define COPY_ASYNC_8(to, from) (*reinterpret_cast<uint2*>(to) = *reinterpret_cast<const uint2*>(from))
#define COPY_ASYNC_16(to, from) (*reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from))
#define COPY_ASYNC_COMMIT()
#define COPY_ASYNC_WAIT(n)
#endif
