// The dialect in OpenCL C 1.2. On NVIDIA streaming accesses and shuffles are inline PTX; the back end sets RIDGE_NO_PTX
// if the compiler refuses it.
#include <array>
#include <bit>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "device/dialect.hpp"
#include "device/traits.hpp"

namespace ridge::detail {
namespace {

// LOCAL_BLOCK is static here, so the launch's local_bytes is not needed; CUDA needs it.
constexpr std::string_view kCommon = R"(#pragma OPENCL FP_CONTRACT OFF
#define WORK_GROUP(x, y, z) __attribute__((reqd_work_group_size(x, y, z)))
#define WORK_GROUP_RESIDENT(x, y, z, n) WORK_GROUP(x, y, z)
#define FUNCTION static inline
#define GLOBAL __global
#define LOCAL __local
#define CONSTANT __constant
#define RESTRICT restrict
#define LOCAL_ARRAY(type, name, n) __local type name[n] __attribute__((aligned(16)))
#define LOCAL_BLOCK(type, name, n) __local type name[n] __attribute__((aligned(16)))
#define CONSTANT_TABLE __constant
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define AFTER_PREVIOUS_KERNEL()
#define BARRIER_GLOBAL() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define GROUP_ID(d) ((uint)get_group_id(d))
#define LOCAL_ID(d) ((int)get_local_id(d))
#define GROUPS(d) ((uint)get_num_groups(d))
#define ITEMS(d) ((int)get_local_size(d))
#define GLOBAL_ID(d) ((uint)get_global_id(d))
#define UNROLL _Pragma("unroll")
#define make_float2(x, y) ((float2)((x), (y)))
#define make_float4(x, y, z, w) ((float4)((x), (y), (z), (w)))
#define make_int2(x, y) ((int2)((x), (y)))
#define make_int4(x, y, z, w) ((int4)((x), (y), (z), (w)))
#define make_uint2(x, y) ((uint2)((x), (y)))
#define make_uint4(x, y, z, w) ((uint4)((x), (y), (z), (w)))
)";

constexpr std::string_view kDouble = R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define make_double2(x, y) ((double2)((x), (y)))
#define LONG_BITS_OF(d) as_ulong((double)(d))
#define DOUBLE_OF(u) as_double((ulong)(u))
)";

// Clang's non-temporal builtins would work here, but on PoCL they prevent the vectorization of scalar code (a float
// copy ran at half the speed) and gain nothing for vectors.
constexpr std::string_view kPlainAccess = R"(#define LOAD_ONCE(p) (*(p))
#define STORE_ONCE(p, v) (*(p) = (v))
#define LOAD_CACHED(p) (*(p))
#define LOAD_L2(p) (*(p))
)";

// Checking mode: loads are volatile, because the compiler would drop a load whose value is unused, and a read past a
// table would not be noticed.
constexpr std::string_view kCheckedAccess = R"(#define RIDGE_LOADED(p) (*(volatile __global __typeof__(*(p))*)(p))
#define LOAD_ONCE(p) RIDGE_LOADED(p)
#define STORE_ONCE(p, v) (*(p) = (v))
#define LOAD_CACHED(p) RIDGE_LOADED(p)
#define LOAD_L2(p) RIDGE_LOADED(p)
)";

// Copies to local memory through registers, complete when they return.
constexpr std::string_view kPlainCopies =
    R"(#define COPY_ASYNC_4(to, from) (*(__local uint*)(to) = *(__global const uint*)(from))
#define COPY_ASYNC_8(to, from) (*(__local uint2*)(to) = *(__global const uint2*)(from))
#define COPY_ASYNC_16(to, from) (*(__local uint4*)(to) = *(__global const uint4*)(from))
#define COPY_ASYNC_COMMIT()
#define COPY_ASYNC_WAIT(n)
)";

// Available on every device; NVIDIA's two byte instructions and its power of two have no name in OpenCL C.
constexpr std::string_view kBitWords = R"(#define STORE_RELAXED(p, v) (*(volatile __global ulong*)(p) = (v))
#define LOAD_RELAXED(p) (*(volatile __global const ulong*)(p))
#define BITS_OF(f) as_uint((float)(f))
#define FLOAT_OF(u) as_float((uint)(u))
#define ROUND_EVEN(f) convert_int_rte(f)
static inline float ridge_float_of_half(ushort u) { return vload_half(0, (const __private half*)&u); }
static inline ushort ridge_half_of(float f) {
  ushort u;
  vstore_half_rte(f, 0, (__private half*)&u);
  return u;
}
#define FLOAT_OF_HALF(u) ridge_float_of_half(u)
#define HALF_OF_FLOAT(f) ridge_half_of(f)
static inline ushort ridge_bfloat_of(float f) {
  const uint bits = BITS_OF(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (ushort)(bits >> 16 | 0x40u);
  return (ushort)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
#define FLOAT_OF_BFLOAT(u) FLOAT_OF((uint)(u) << 16)
#define BFLOAT_OF_FLOAT(f) ridge_bfloat_of(f)
)";

constexpr std::string_view kPlainBytes =
    R"(#define BYTES_ABSDIFF(a, b) as_uint(abs_diff(as_uchar4((uint)(a)), as_uchar4((uint)(b))))
static inline uint ridge_bytes_dot(uint a, uint b, uint start) {
  return start + (a & 255) * (b & 255) + (a >> 8 & 255) * (b >> 8 & 255) + (a >> 16 & 255) * (b >> 16 & 255) +
         (a >> 24) * (b >> 24);
}
#define BYTES_DOT(a, b, start) ridge_bytes_dot((a), (b), (start))
static inline int ridge_bytes_dot_signed(uint a, uint b, int start) {
  const int4 x = convert_int4(as_char4(a)), y = convert_int4(as_char4(b));
  return start + x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
}
#define BYTES_DOT_SIGNED(a, b, start) ridge_bytes_dot_signed((a), (b), (start))
#define EXP2_FAST(f) native_exp2((float)(f))
static inline uint ridge_choose_bytes(uint a, uint b, uint which) {
  uint chosen = 0u;
  for (int i = 0; i < 4; ++i) {
    const uint place = which >> 4 * i & 7u;
    chosen |= ((place < 4u ? a : b) >> 8 * (place & 3u) & 255u) << 8 * i;
  }
  return chosen;
}
#define BYTE_PERMUTE(a, b, which) ridge_choose_bytes((a), (b), (which))
)";

// Fragments are exchanged through local memory, 192 numbers per 32 work-items.
constexpr std::string_view kPlainMatrices = R"(#define MATRIX_SCRATCH(scratch, n) __local float scratch[6 * (n)]
static inline float ridge_tf32(float f) { return as_float(as_uint(f) & 0xffffe000u); }
static inline void ridge_matrix_tf32(__local float* scratch, float* d, float a0, float a1, float a2, float a3, float b0,
                                     float b1) {
  const int item = (int)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0));
  const int g = item >> 2 & 7, t = item & 3;
  __local float* a = scratch + (item >> 5) * 192;
  __local float* b = a + 128;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[g * 8 + t] = ridge_tf32(a0);
  a[(g + 8) * 8 + t] = ridge_tf32(a1);
  a[g * 8 + t + 4] = ridge_tf32(a2);
  a[(g + 8) * 8 + t + 4] = ridge_tf32(a3);
  b[t * 8 + g] = ridge_tf32(b0);
  b[(t + 4) * 8 + g] = ridge_tf32(b1);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 0; k < 8; ++k) {
    d[0] += a[g * 8 + k] * b[k * 8 + 2 * t];
    d[1] += a[g * 8 + k] * b[k * 8 + 2 * t + 1];
    d[2] += a[(g + 8) * 8 + k] * b[k * 8 + 2 * t];
    d[3] += a[(g + 8) * 8 + k] * b[k * 8 + 2 * t + 1];
  }
}
#define MATRIX_TF32(scratch, d, a0, a1, a2, a3, b0, b1) \
  ridge_matrix_tf32((scratch), (d), (a0), (a1), (a2), (a3), (b0), (b1))
static inline float ridge_lower_half(uint u) { return ridge_float_of_half((ushort)u); }
static inline float ridge_upper_half(uint u) { return ridge_float_of_half((ushort)(u >> 16)); }
static inline void ridge_matrix_f16(__local float* scratch, float* d, uint a0, uint a1, uint a2, uint a3, uint b0, uint b1,
                                    const float* c) {
  const int item = (int)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0));
  const int g = item >> 2 & 7, t = item & 3;
  __local uint* a = (__local uint*)scratch + (item >> 5) * 192;
  __local uint* b = a + 128;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[g * 8 + t] = a0;
  a[(g + 8) * 8 + t] = a1;
  a[g * 8 + t + 4] = a2;
  a[(g + 8) * 8 + t + 4] = a3;
  b[t * 8 + g] = b0;
  b[(t + 4) * 8 + g] = b1;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < 4; ++i) d[i] = c[i];
  for (int k = 0; k < 8; ++k) {
    for (int i = 0; i < 4; ++i) {
      const uint x = a[(g + 8 * (i >> 1)) * 8 + k], y = b[k * 8 + 2 * t + (i & 1)];
      d[i] += ridge_lower_half(x) * ridge_lower_half(y);
      d[i] += ridge_upper_half(x) * ridge_upper_half(y);
    }
  }
}
#define MATRIX_F16(scratch, d, a0, a1, a2, a3, b0, b1, c) \
  ridge_matrix_f16((scratch), (d), (a0), (a1), (a2), (a3), (b0), (b1), (c))
static inline void ridge_matrix_bytes(__local float* scratch, int* d, uint a0, uint a1, uint a2, uint a3, uint b0, uint b1,
                                      const int* c, int has_sign) {
  const int item = (int)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0));
  const int g = item >> 2 & 7, t = item & 3;
  __local uint* a = (__local uint*)scratch + (item >> 5) * 192;
  __local uint* b = a + 128;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[g * 8 + t] = a0;
  a[(g + 8) * 8 + t] = a1;
  a[g * 8 + t + 4] = a2;
  a[(g + 8) * 8 + t + 4] = a3;
  b[g * 8 + t] = b0;
  b[g * 8 + t + 4] = b1;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < 4; ++i) {
    int sum = c[i];
    for (int k = 0; k < 32; ++k) {
      const uint x = a[(g + 8 * (i >> 1)) * 8 + k / 4] >> 8 * (k & 3) & 255u;
      const uint y = b[(2 * t + (i & 1)) * 8 + k / 4] >> 8 * (k & 3) & 255u;
      sum += (has_sign && x > 127u ? (int)x - 256 : (int)x) * (int)y;
    }
    d[i] = sum;
  }
}
#define MATRIX_U8(scratch, d, a0, a1, a2, a3, b0, b1, c) \
  ridge_matrix_bytes((scratch), (d), (a0), (a1), (a2), (a3), (b0), (b1), (c), 0)
#define MATRIX_S8(scratch, d, a0, a1, a2, a3, b0, b1, c) \
  ridge_matrix_bytes((scratch), (d), (a0), (a1), (a2), (a3), (b0), (b1), (c), 1)
)";

constexpr std::string_view kPtxMatrices = R"(#define MATRIX_SCRATCH(scratch, n) __local float* const scratch = 0
static inline void ridge_matrix_tf32(float* d, float a0, float a1, float a2, float a3, float b0, float b1) {
  __asm__("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(as_uint(a0)), "r"(as_uint(a1)), "r"(as_uint(a2)), "r"(as_uint(a3)), "r"(as_uint(b0)), "r"(as_uint(b1)));
}
#define MATRIX_TF32(scratch, d, a0, a1, a2, a3, b0, b1) ridge_matrix_tf32((d), (a0), (a1), (a2), (a3), (b0), (b1))
static inline void ridge_matrix_f16(float* d, uint a0, uint a1, uint a2, uint a3, uint b0, uint b1, const float* c) {
  __asm__ volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                   "{%10, %11, %12, %13};"
          : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
          : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
#define MATRIX_F16(scratch, d, a0, a1, a2, a3, b0, b1, c) ridge_matrix_f16((d), (a0), (a1), (a2), (a3), (b0), (b1), (c))
static inline void ridge_matrix_u8(int* d, uint a0, uint a1, uint a2, uint a3, uint b0, uint b1, const int* c) {
  __asm__ volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                   "{%10, %11, %12, %13};"
          : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
          : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}
static inline void ridge_matrix_s8(int* d, uint a0, uint a1, uint a2, uint a3, uint b0, uint b1, const int* c) {
  __asm__ volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                   "{%10, %11, %12, %13};"
          : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
          : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}
#define MATRIX_U8(scratch, d, a0, a1, a2, a3, b0, b1, c) ridge_matrix_u8((d), (a0), (a1), (a2), (a3), (b0), (b1), (c))
#define MATRIX_S8(scratch, d, a0, a1, a2, a3, b0, b1, c) ridge_matrix_s8((d), (a0), (a1), (a2), (a3), (b0), (b1), (c))
)";

constexpr std::string_view kPtxBytes = R"(static inline uint ridge_bytes_apart(uint a, uint b) {
  uint r;
  __asm__("vabsdiff4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(0));
  return r;
}
static inline uint ridge_bytes_dot(uint a, uint b, uint start) {
  uint r;
  __asm__("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(start));
  return r;
}
static inline int ridge_bytes_dot_signed(uint a, uint b, int start) {
  int r;
  __asm__("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(start));
  return r;
}
#define BYTES_DOT_SIGNED(a, b, start) ridge_bytes_dot_signed((a), (b), (start))
static inline uint ridge_choose_bytes(uint a, uint b, uint which) {
  uint r;
  __asm__("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(which));
  return r;
}
#define BYTE_PERMUTE(a, b, which) ridge_choose_bytes((a), (b), (which))
static inline float ridge_exp2_fast(float f) {
  float r;
  __asm__("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(f));
  return r;
}
#define BYTES_ABSDIFF(a, b) ridge_bytes_apart((a), (b))
#define BYTES_DOT(a, b, start) ridge_bytes_dot((a), (b), (start))
#define EXP2_FAST(f) ridge_exp2_fast(f)
)";

// OpenCL C 1.2 has integer atomics only. A float is added by a compare-and-exchange loop.
constexpr std::string_view kAtomics = R"(#define RIDGE_ATOMIC static inline __attribute__((overloadable))
RIDGE_ATOMIC int ridge_atomic_add(volatile __global int* p, int v) { return atomic_add(p, v); }
RIDGE_ATOMIC int ridge_atomic_add(volatile __local int* p, int v) { return atomic_add(p, v); }
RIDGE_ATOMIC uint ridge_atomic_add(volatile __global uint* p, uint v) { return atomic_add(p, v); }
RIDGE_ATOMIC uint ridge_atomic_add(volatile __local uint* p, uint v) { return atomic_add(p, v); }
#define ATOMIC_ADD(p, v) ridge_atomic_add((p), (v))
#define ATOMIC_MIN(p, v) atomic_min((p), (v))
#define ATOMIC_MAX(p, v) atomic_max((p), (v))
)";

std::string exchanged_float_add(std::string_view space) {
  return fmt::format(
      "RIDGE_ATOMIC float ridge_atomic_add(volatile {0} float* p, float v) {{\n"
      "  volatile {0} uint* bits = (volatile {0} uint*)p;\n"
      "  uint seen = *bits, expected;\n"
      "  do {{ expected = seen; seen = atomic_cmpxchg(bits, expected, as_uint(as_float(expected) + v)); }} "
      "while (seen != expected);\n"
      "  return as_float(seen);\n}}\n",
      space);
}

std::string ptx_float_add(std::string_view space, std::string_view ptx_space, std::string_view address) {
  return fmt::format(
      "RIDGE_ATOMIC float ridge_atomic_add(volatile {0} float* p, float v) {{ float r; __asm__ "
      "volatile(\"atom.{1}.add.f32 %0, [%1], %2;\" : \"=f\"(r) : {2}, \"f\"(v) : \"memory\"); return r; }}\n",
      space, ptx_space, address);
}

constexpr std::string_view kPtxCopies = R"(#define RIDGE_COPY_ASYNC(kind, bytes, to, from) \
  __asm__ volatile("cp.async." kind ".shared.global [%0], [%1], " bytes ";" : : "r"((uint)(ulong)(to)), "l"((ulong)(from)) : "memory")
#define COPY_ASYNC_4(to, from) RIDGE_COPY_ASYNC("ca", "4", to, from)
#define COPY_ASYNC_8(to, from) RIDGE_COPY_ASYNC("ca", "8", to, from)
#define COPY_ASYNC_16(to, from) RIDGE_COPY_ASYNC("cg", "16", to, from)
#define COPY_ASYNC_COMMIT() __asm__ volatile("cp.async.commit_group;" : : : "memory")
#define COPY_ASYNC_WAIT(n) __asm__ volatile("cp.async.wait_group %0;" : : "n"(n) : "memory")
)";

constexpr std::string_view kPtxAccess = R"(#define LOAD_ONCE(p) ridge_load_once(p)
#define STORE_ONCE(p, v) ridge_store_once((p), (v))
#define LOAD_CACHED(p) ridge_load_cached(p)
#define LOAD_L2(p) ridge_load_l2(p)
)";

// On other devices the compiler chooses the sub-group width unless a kernel requests one, so KERNEL requests it.
constexpr std::string_view kKhronosShuffles = R"(#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#define SUB_GROUP_BARRIER() sub_group_barrier(CLK_LOCAL_MEM_FENCE)
#define SHUFFLE(v, lane) sub_group_shuffle((v), (uint)(lane))
#define SHUFFLE_UP(v, n) sub_group_shuffle_up((v), (uint)(n))
#define SHUFFLE_DOWN(v, n) sub_group_shuffle_down((v), (uint)(n))
#define SHUFFLE_XOR(v, m) sub_group_shuffle_xor((v), (uint)(m))
)";

struct PtxType {
  std::string_view scalar;  // name in OpenCL C
  int lanes;                // 1, 2 or 4
  std::string_view suffix;  // name in PTX
  char constraint;
};

constexpr auto kPtxTypes = std::to_array<PtxType>({
    {"float", 1, "f32", 'f'},
    {"float", 2, "f32", 'f'},
    {"float", 4, "f32", 'f'},
    {"int", 1, "s32", 'r'},
    {"int", 2, "s32", 'r'},
    {"int", 4, "s32", 'r'},
    {"uint", 1, "u32", 'r'},
    {"uint", 2, "u32", 'r'},
    {"uint", 4, "u32", 'r'},
    {"long", 1, "s64", 'l'},
    {"ulong", 1, "u64", 'l'},
    {"double", 1, "f64", 'd'},
    {"double", 2, "f64", 'd'},
});

constexpr std::array<std::string_view, 4> kMembers{"x", "y", "z", "w"};

std::string type_name(const PtxType& type) {
  return type.lanes == 1 ? std::string(type.scalar) : fmt::format("{}{}", type.scalar, type.lanes);
}

// ".v4.f32" or ".f32"
std::string ptx_suffix(const PtxType& type) {
  return type.lanes == 1 ? fmt::format(".{}", type.suffix) : fmt::format(".v{}.{}", type.lanes, type.suffix);
}

// "{%1, %2}" or "%1", counting from `first`
std::string ptx_operands(const PtxType& type, int first) {
  std::string text;
  for (int i = 0; i < type.lanes; ++i) text += fmt::format("{}%{}", i == 0 ? "" : ", ", first + i);
  return type.lanes == 1 ? text : "{" + text + "}";
}

std::string ptx_load(const PtxType& type, std::string_view function, std::string_view instruction) {
  std::string names;
  std::string outputs;
  for (std::size_t i = 0; i < static_cast<std::size_t>(type.lanes); ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : ", ", kMembers[i]);
    outputs += fmt::format("{}\"={}\"({})", i == 0 ? "" : ", ", type.constraint, kMembers[i]);
  }
  const std::string name = type_name(type);
  return fmt::format(
      "RIDGE_OVERLOAD {0} {1}(__global const {0}* p) {{ {2} {3}; __asm__ volatile(\"{4}{5} {6}, [%{7}];\" : {8} : "
      "\"l\"((ulong)p)); return ({0})({3}); }}\n",
      name, function, type.scalar, names, instruction, ptx_suffix(type), ptx_operands(type, 0), type.lanes, outputs);
}

std::string ptx_store(const PtxType& type) {
  std::string inputs;
  for (std::size_t i = 0; i < static_cast<std::size_t>(type.lanes); ++i) {
    inputs += type.lanes == 1 ? fmt::format(", \"{}\"(v)", type.constraint)
                              : fmt::format(", \"{}\"(v.{})", type.constraint, kMembers[i]);
  }
  return fmt::format(
      "RIDGE_OVERLOAD void ridge_store_once(__global {0}* p, {0} v) {{ __asm__ volatile(\"st.global.cs{1} [%0], {2};\" "
      ": : "
      "\"l\"((ulong)p){3} : \"memory\"); }}\n",
      type_name(type), ptx_suffix(type), ptx_operands(type, 1), inputs);
}

// Bytes and 16-bit words have no useful streaming instruction; these overloads only make the macros usable.
std::string plain_overloads(std::string_view type) {
  return fmt::format(
      "RIDGE_OVERLOAD {0} ridge_load_once(__global const {0}* p) {{ return *p; }}\n"
      "RIDGE_OVERLOAD {0} ridge_load_cached(__global const {0}* p) {{ return *p; }}\n"
      "RIDGE_OVERLOAD {0} ridge_load_l2(__global const {0}* p) {{ return *p; }}\n"
      "RIDGE_OVERLOAD void ridge_store_once(__global {0}* p, {0} v) {{ *p = v; }}\n",
      type);
}

// The segment width of a shuffle is encoded in the upper bits of the last-but-one operand, so that an override of the
// sub-group width takes effect.
std::string ptx_shuffle(std::string_view word, std::string_view mode, std::size_t width, unsigned clamp, bool float64) {
  const auto control = static_cast<unsigned>((32 - width) << 8) | clamp;
  std::string text;
  for (const auto& [type, constraint] : {std::pair{"float", 'f'}, std::pair{"int", 'r'}, std::pair{"uint", 'r'}}) {
    text += fmt::format(
        "RIDGE_OVERLOAD {0} ridge_{1}({0} v, uint lane) {{ {0} r; __asm__ volatile(\"shfl.sync.{2}.b32 %0, %1, %2, "
        "{3}, "
        "0xffffffff;\" : \"={4}\"(r) : \"{4}\"(v), \"r\"(lane)); return r; }}\n",
        type, mode, mode, control, constraint);
  }
  if (float64) {
    text += fmt::format(
        "RIDGE_OVERLOAD double ridge_{0}(double v, uint lane) {{ double r; __asm__ volatile(\"{{ .reg .b32 low, high; "
        "mov.b64 {{low, high}}, %1; shfl.sync.{0}.b32 low, low, %2, {1}, 0xffffffff; shfl.sync.{0}.b32 high, high, %2, "
        "{1}, 0xffffffff; mov.b64 %0, {{low, high}}; }}\" : \"=d\"(r) : \"d\"(v), \"r\"(lane)); return r; }}\n",
        mode, control);
  }
  return text + fmt::format("#define {}(v, lane) ridge_{}((v), (uint)(lane))\n", word, mode);
}

// Width of a shuffle: a power of two, also if an override specifies another number.
std::size_t shuffle_width(const DeviceInfo& info) {
  const std::size_t width = info.limits.sub_group;
  return std::has_single_bit(width) && width >= 2 && width <= 32 ? width : 0;
}

// If Clang compiles for the processor, as in PoCL, fma() is a function call per element; the compiler's own builtin
// becomes one instruction and is vectorized.
std::string fma_word(const DeviceInfo& info) {
  if (info.limits.private_arrays_in_registers) {
    return "#define FMA(a, b, c) fma((a), (b), (c))\n";
  }
  constexpr std::string_view overload = "static inline __attribute__((overloadable)) ";
  std::string text =
      fmt::format("{}float ridge_fma(float a, float b, float c) {{ return __builtin_fmaf(a, b, c); }}\n", overload);
  if (info.limits.float64) {
    text += fmt::format("{}double ridge_fma(double a, double b, double c) {{ return __builtin_fma(a, b, c); }}\n",
                        overload);
  }
  return text + "#define FMA(a, b, c) ridge_fma((a), (b), (c))\n";
}

std::string plain_words() {
  std::string text;
  text += checking() ? kCheckedAccess : kPlainAccess;
  text += kPlainCopies;
  text += kPlainBytes;
  text += kPlainMatrices;
  return text + exchanged_float_add("__global") + exchanged_float_add("__local");
}

std::string ptx_words(const DeviceInfo& info) {
  std::string text = "#define RIDGE_OVERLOAD static inline __attribute__((overloadable))\n";
  for (const PtxType& type : kPtxTypes) {
    if (type.scalar == "double" && !info.limits.float64) continue;
    text += ptx_load(type, "ridge_load_once", "ld.global.cs");
    text += ptx_load(type, "ridge_load_cached", "ld.global.nc");
    text += ptx_load(type, "ridge_load_l2", "ld.global.cg");
    text += ptx_store(type);
  }
  for (const char* type : {"char", "uchar", "short", "ushort"}) text += plain_overloads(type);
  text += kPtxAccess;
  text += kPtxBytes;
  text += ptx_float_add("__global", "global", "\"l\"((ulong)p)");
  text += ptx_float_add("__local", "shared", "\"r\"((uint)(ulong)p)");
  const std::size_t width = shuffle_width(info);
  text += fmt::format("#define SUB_GROUP_WIDTH {}\n", width);
  text += info.limits.asynchronous_copies ? kPtxCopies : kPlainCopies;
  text += info.limits.matrix_units ? kPtxMatrices : kPlainMatrices;
  if (width == 0) return text;
  text += "#define SUB_GROUP_BARRIER() __asm__ volatile(\"bar.warp.sync 0xffffffff;\" : : : \"memory\")\n";
  text += ptx_shuffle("SHUFFLE", "idx", width, 0x1f, info.limits.float64);
  text += ptx_shuffle("SHUFFLE_UP", "up", width, 0, info.limits.float64);
  text += ptx_shuffle("SHUFFLE_DOWN", "down", width, 0x1f, info.limits.float64);
  text += ptx_shuffle("SHUFFLE_XOR", "bfly", width, 0x1f, info.limits.float64);
  return text;
}

}  // namespace

std::string opencl_prelude(const DeviceInfo& info) {
  std::string text(kCommon);
  if (info.limits.float64) text += kDouble;
  text += fma_word(info);
  text += kBitWords;
  text += kAtomics;
  text += fmt::format("#define KEEPS_DENORMALS {}\n", is_nvidia(info) ? 1 : 0);
  if (is_nvidia(info)) {
    text += "#define KERNEL __kernel\n#ifndef RIDGE_NO_PTX\n" + ptx_words(info) + "#else\n";
    text += plain_words();
    return text + "#define SUB_GROUP_WIDTH 0\n#endif\n";
  }
  text += plain_words();
  text += fmt::format("#define SUB_GROUP_WIDTH {}\n", shuffle_width(info));
  if (shuffle_width(info) == 0) return text + "#define KERNEL __kernel\n";
  text += kKhronosShuffles;
  return text + "#define KERNEL __kernel __attribute__((intel_reqd_sub_group_size(SUB_GROUP_WIDTH)))\n";
}

}  // namespace ridge::detail
