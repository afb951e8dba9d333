// Functions of OpenCL C for AMD's GPUs. Clang only declares them; AMD's driver defines them in a library of its own.
// Without definitions every use would be a call of an unknown function, and the reported registers would be wrong.
// Transcendental functions are the float instructions, also for doubles: for compiling only, never for running.
#pragma once
#include <string_view>

namespace ridge::test {

inline constexpr std::string_view kAmdBuiltins = R"cl(
#define DEFINED __attribute__((overloadable, always_inline))
size_t DEFINED get_local_id(uint d) {
  return d == 0 ? __builtin_amdgcn_workitem_id_x() : d == 1 ? __builtin_amdgcn_workitem_id_y() : __builtin_amdgcn_workitem_id_z();
}
size_t DEFINED get_group_id(uint d) {
  return d == 0 ? __builtin_amdgcn_workgroup_id_x() : d == 1 ? __builtin_amdgcn_workgroup_id_y() : __builtin_amdgcn_workgroup_id_z();
}
size_t DEFINED get_local_size(uint d) {
  return d == 0 ? __builtin_amdgcn_workgroup_size_x() : d == 1 ? __builtin_amdgcn_workgroup_size_y() : __builtin_amdgcn_workgroup_size_z();
}
size_t DEFINED get_global_size(uint d) {
  return d == 0 ? __builtin_amdgcn_grid_size_x() : d == 1 ? __builtin_amdgcn_grid_size_y() : __builtin_amdgcn_grid_size_z();
}
size_t DEFINED get_num_groups(uint d) { return get_global_size(d) / get_local_size(d); }
size_t DEFINED get_global_id(uint d) { return get_group_id(d) * get_local_size(d) + get_local_id(d); }
void DEFINED barrier(cl_mem_fence_flags flags) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
void DEFINED sub_group_barrier(cl_mem_fence_flags flags) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
}
#define SHUFFLES(type, bits) \
  type DEFINED sub_group_shuffle(type v, uint lane) { return as_##type(__builtin_amdgcn_ds_bpermute((int)lane << 2, bits)); } \
  type DEFINED sub_group_shuffle_up(type v, uint n) { return sub_group_shuffle(v, __builtin_amdgcn_mbcnt_lo(~0u, 0) - n); } \
  type DEFINED sub_group_shuffle_down(type v, uint n) { return sub_group_shuffle(v, __builtin_amdgcn_mbcnt_lo(~0u, 0) + n); } \
  type DEFINED sub_group_shuffle_xor(type v, uint m) { return sub_group_shuffle(v, __builtin_amdgcn_mbcnt_lo(~0u, 0) ^ m); }
SHUFFLES(int, v)
SHUFFLES(uint, (int)v)
SHUFFLES(float, as_int(v))
double DEFINED sub_group_shuffle(double v, uint lane) {
  const int2 parts = as_int2(v);
  return as_double((int2)(sub_group_shuffle(parts.x, lane), sub_group_shuffle(parts.y, lane)));
}
double DEFINED sub_group_shuffle_up(double v, uint n) { return sub_group_shuffle(v, __builtin_amdgcn_mbcnt_lo(~0u, 0) - n); }
double DEFINED sub_group_shuffle_down(double v, uint n) { return sub_group_shuffle(v, __builtin_amdgcn_mbcnt_lo(~0u, 0) + n); }
double DEFINED sub_group_shuffle_xor(double v, uint m) { return sub_group_shuffle(v, __builtin_amdgcn_mbcnt_lo(~0u, 0) ^ m); }

#define EXACT(type, name, builtin) type DEFINED name(type a) { return builtin(a); }
#define EXACT_FOR_BOTH(name) EXACT(float, name, __builtin_elementwise_##name) EXACT(double, name, __builtin_elementwise_##name)
EXACT_FOR_BOTH(floor)
EXACT_FOR_BOTH(ceil)
EXACT_FOR_BOTH(trunc)
EXACT_FOR_BOTH(rint)
EXACT_FOR_BOTH(round)
EXACT(float, fabs, __builtin_elementwise_abs)
EXACT(double, fabs, __builtin_elementwise_abs)
EXACT(float, sqrt, __builtin_sqrtf)
EXACT(double, sqrt, __builtin_sqrt)
EXACT(float, rsqrt, __builtin_amdgcn_rsqf)
EXACT(double, rsqrt, __builtin_amdgcn_rsq)
EXACT(float, native_sqrt, __builtin_amdgcn_sqrtf)
EXACT(float, native_rsqrt, __builtin_amdgcn_rsqf)
EXACT(float, native_recip, __builtin_amdgcn_rcpf)
#define FLOAT_ONLY(name, builtin) \
  float DEFINED name(float a) { return builtin(a); } \
  float DEFINED native_##name(float a) { return builtin(a); } \
  double DEFINED name(double a) { return builtin((float)a); }
FLOAT_ONLY(sin, __builtin_amdgcn_sinf)
FLOAT_ONLY(cos, __builtin_amdgcn_cosf)
FLOAT_ONLY(exp, __builtin_amdgcn_exp2f)
FLOAT_ONLY(exp2, __builtin_amdgcn_exp2f)
FLOAT_ONLY(log, __builtin_amdgcn_logf)
FLOAT_ONLY(log2, __builtin_amdgcn_logf)
FLOAT_ONLY(tan, __builtin_amdgcn_sinf)
float DEFINED sinpi(float a) { return __builtin_amdgcn_sinf(a); }
float DEFINED cospi(float a) { return __builtin_amdgcn_cosf(a); }
double DEFINED sinpi(double a) { return __builtin_amdgcn_sinf((float)a); }
double DEFINED cospi(double a) { return __builtin_amdgcn_cosf((float)a); }
#define FOR_FLOATS(macro) macro(float) macro(double)
#define OF_TWO_FLOATS(type) \
  type DEFINED fma(type a, type b, type c) { return __builtin_elementwise_fma(a, b, c); } \
  type DEFINED fmin(type a, type b) { return __builtin_elementwise_min(a, b); } \
  type DEFINED fmax(type a, type b) { return __builtin_elementwise_max(a, b); } \
  type DEFINED copysign(type a, type b) { return __builtin_elementwise_copysign(a, b); } \
  type DEFINED hypot(type a, type b) { return sqrt(fma(a, a, b * b)); } \
  type DEFINED fmod(type a, type b) { return a - b * trunc(a / b); } \
  type DEFINED pow(type a, type b) { return exp2(b * log2(a)); } \
  int DEFINED isfinite(type a) { return __builtin_isfinite(a); }
FOR_FLOATS(OF_TWO_FLOATS)
#define ORDERED(type) \
  type DEFINED min(type a, type b) { return a < b ? a : b; } \
  type DEFINED max(type a, type b) { return a > b ? a : b; } \
  type DEFINED clamp(type a, type low, type high) { return min(max(a, low), high); }
FOR_FLOATS(ORDERED)
ORDERED(uchar) ORDERED(char) ORDERED(ushort) ORDERED(short) ORDERED(int) ORDERED(uint) ORDERED(long) ORDERED(ulong)
uint DEFINED abs(int a) { return a < 0 ? -a : a; }
ulong DEFINED abs(long a) { return a < 0 ? -a : a; }
uint DEFINED abs_diff(int a, int b) { return a < b ? b - a : a - b; }
uint DEFINED abs_diff(uint a, uint b) { return a < b ? b - a : a - b; }
uchar4 DEFINED abs_diff(uchar4 a, uchar4 b) { return __builtin_elementwise_max(a, b) - __builtin_elementwise_min(a, b); }
uint DEFINED rotate(uint a, uint n) { return a << (n & 31) | a >> (-n & 31); }
uint DEFINED popcount(uint a) { return __builtin_popcount(a); }
int DEFINED convert_int_rte(float a) { return (int)rint(a); }
int DEFINED convert_int_rte(double a) { return (int)rint(a); }
int4 DEFINED convert_int4(char4 a) { return (int4)(a.x, a.y, a.z, a.w); }
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
float DEFINED vload_half(size_t i, const __private half* p) { return p[i]; }
void DEFINED vstore_half_rte(float v, size_t i, __private half* p) { p[i] = (half)v; }
#pragma OPENCL EXTENSION cl_khr_fp16 : disable

#define ATOMIC(space, type, name, operation) \
  type DEFINED atomic_##name(volatile space type* p, type v) { \
    return __opencl_atomic_fetch_##operation((volatile space atomic_##type*)p, v, memory_order_relaxed, memory_scope_device); \
  }
#define ATOMICS(space, type) \
  ATOMIC(space, type, add, add) ATOMIC(space, type, min, min) ATOMIC(space, type, max, max) ATOMIC(space, type, or, or) \
  type DEFINED atomic_cmpxchg(volatile space type* p, type expected, type v) { \
    __opencl_atomic_compare_exchange_strong((volatile space atomic_##type*)p, &expected, v, memory_order_relaxed, \
                                            memory_order_relaxed, memory_scope_device); \
    return expected; \
  }
ATOMICS(__global, int) ATOMICS(__global, uint) ATOMICS(__local, int) ATOMICS(__local, uint)
ulong DEFINED atom_cmpxchg(volatile __global ulong* p, ulong expected, ulong v) {
  __opencl_atomic_compare_exchange_strong((volatile __global atomic_ulong*)p, &expected, v, memory_order_relaxed,
                                          memory_order_relaxed, memory_scope_device);
  return expected;
}
)cl";

}  // namespace ridge::test
