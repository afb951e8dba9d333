// Compiles the dialect by NVRTC; needs the library, but no driver and no GPU.
#ifdef RIDGE_HAVE_CUDA
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ridge/device.hpp>

#include "device/cuda/compiler.hpp"
#include "device/cuda/nvrtc.hpp"
#include "device/dialect.hpp"

namespace ridge::detail {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CudaCompile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why_not;
    compiler = nvrtc(why_not);
    if (!compiler) GTEST_SKIP() << why_not;
  }

  std::string ptx(const KernelSource& source) const {
    int first_line = 0;
    const CudaTarget target{"compute_90"};
    return compile_cuda(*compiler, source, assemble(cuda_prelude(), source, first_line), target,
                        cuda_options(target, source.relaxed_math))
        .code;
  }

  const Nvrtc* compiler = nullptr;
};

constexpr const char* kEveryWord = R"(
CONSTANT_TABLE float weights[4] = {0.1f, 0.2f, 0.3f, 0.4f};
CONSTANT_TABLE const int steps[2] = {1, 2};

FUNCTION float weigh(CONSTANT float* table, CONSTANT const int* step, int i) { return table[i & 3] * step[i & 1]; }
FUNCTION float from_local(LOCAL const float* tile, int i) { return tile[i]; }
FUNCTION float from_global(GLOBAL const float* RESTRICT in, ulong i) { return in[i]; }

KERNEL WORK_GROUP(32, 4, 2) void every_word(GLOBAL const float* RESTRICT in, GLOBAL float* RESTRICT out,
                                            GLOBAL float4* fours, GLOBAL double2* twos, ulong n, CONSTANT float* extra) {
  LOCAL_ARRAY(float, small, 256);
  LOCAL_ARRAY(float2, pairs, 32);
  LOCAL_BLOCK(float, tile, 1024);
  const int lane = LOCAL_ID(0);
  const uint place = GLOBAL_ID(0) + GLOBAL_ID(1) * GROUPS(0) * (uint)ITEMS(0) + GROUP_ID(2) * (uint)LOCAL_ID(2);
  uchar a = 1; ushort b = 2; uint c = 3u; ulong d = 4ul; long e = -5l;
  tile[lane] = from_global(in, place % n);
  small[lane] = 0.0f;
  pairs[lane] = make_float2(1.0f, 2.0f);
  BARRIER();
  float sum = from_local(tile, 31 - lane) + weigh(weights, steps, lane) + extra[0] + pairs[lane].y;
  UNROLL
  for (int i = 0; i < 4; ++i) sum = FMA(sum, 2.0f, small[i]);
  BARRIER_GLOBAL();
  sum += SHUFFLE(sum, 3) + SHUFFLE_UP(sum, 1) + SHUFFLE_DOWN(sum, 1) + SHUFFLE_XOR(sum, SUB_GROUP_WIDTH / 2);
  c += SHUFFLE(c, 0);
  const int folded = SHUFFLE_XOR(lane, 1);
  float4 four = LOAD_ONCE(fours + place);
  four = make_float4(four.x + sum, four.y, four.z, four.w);
  STORE_ONCE(fours + place, four);
  double2 two = LOAD_CACHED(twos + place);
  two = make_double2(FMA(two.x, 2.0, two.y), two.y);
  STORE_ONCE(twos + place, two);
  const uint apart = BYTES_ABSDIFF(c, BITS_OF(sum)), dot = BYTES_DOT(apart, c, 5u);
  sum += EXP2_FAST(sum) + FLOAT_OF(dot) + (float)ROUND_EVEN(sum) + ATOMIC_ADD(out, 1.0f) + ATOMIC_ADD(&small[0], 2.0f);
  MATRIX_SCRATCH(scratch, 256);
  float four_sums[4] = {0.0f, 1.0f, 2.0f, 3.0f};
  MATRIX_TF32(scratch, four_sums, sum, 1.0f, 2.0f, 3.0f, sum, 4.0f);
  MATRIX_F16(scratch, four_sums, c, dot, BYTE_PERMUTE(c, dot, 0x5140u), 1u, 2u, 3u, four_sums);
  int whole[4] = {0, 1, 2, 3};
  MATRIX_U8(scratch, whole, c, dot, 1u, 2u, 3u, 4u, whole);
  MATRIX_S8(scratch, whole, c, dot, 1u, 2u, 3u, 4u, whole);
  sum += four_sums[0] + (float)BYTES_DOT_SIGNED(c, dot, -3) + (float)whole[0];
  const int2 i2 = make_int2(1, 2); const int4 i4 = make_int4(1, 2, 3, 4);
  const uint2 u2 = make_uint2(1u, 2u); const uint4 u4 = make_uint4(1u, 2u, 3u, 4u);
  STORE_ONCE(out + place, sum + a + b + c + (float)d + (float)e + folded + i2.x + i4.w + u2.y + u4.z + LOAD_CACHED(in));
}
)";

TEST_F(CudaCompile, EveryWordOfTheDialectCompiles) {
  for (const bool relaxed : {false, true}) {
    const std::string cubin = compile_for({.name = "every_word", .text = kEveryWord, .relaxed_math = relaxed}, "sm_90");
    ASSERT_GT(cubin.size(), 4u);
    EXPECT_EQ(cubin.substr(0, 4),
              "\x7f"
              "ELF");
    EXPECT_THAT(cubin, HasSubstr("every_word"));
  }
}

TEST_F(CudaCompile, FunctionsCompileToTheNamedInstructions) {
  const std::string code = ptx({.name = "every_word", .text = kEveryWord});
  for (const char* instruction : {"ld.global.cs",
                                  "st.global.cs",
                                  "ld.global.nc",
                                  "shfl.sync.idx",
                                  "shfl.sync.up",
                                  "shfl.sync.down",
                                  "shfl.sync.bfly",
                                  "fma.rn.f32",
                                  "fma.rn.f64",
                                  "bar.sync",
                                  "vabsdiff4.u32",
                                  "dp4a.u32.u32",
                                  "dp4a.s32.s32",
                                  "mma.sync.aligned.m16n8k8",
                                  "mma.sync.aligned.m16n8k16",
                                  "prmt.b32",
                                  "ex2.approx.ftz",
                                  "cvt.rni.s32.f32",
                                  "atom.global.add.f32",
                                  "atom.shared.add.f32"}) {
    EXPECT_THAT(code, HasSubstr(instruction));
  }
  EXPECT_THAT(code, HasSubstr(".maxntid 256"));
}

TEST_F(CudaCompile, ProductAndSumAreContractedOnlyWhereWritten) {
  const char* text = "KERNEL void f(GLOBAL float* x) { x[0] = RESULT; }";
  for (const bool relaxed : {false, true}) {
    EXPECT_THAT(
        ptx({.name = "f", .text = text, .defines = {{"RESULT", "x[1] * x[2] + x[3]"}}, .relaxed_math = relaxed}),
        Not(HasSubstr("fma.")));
    EXPECT_THAT(
        ptx({.name = "f", .text = text, .defines = {{"RESULT", "FMA(x[1], x[2], x[3])"}}, .relaxed_math = relaxed}),
        HasSubstr("fma.rn"));
  }
}

TEST_F(CudaCompile, RelaxedMathApproximates) {
  const char* text = "KERNEL void f(GLOBAL float* x) { x[0] = sqrt(x[1]) / x[2]; }";
  EXPECT_THAT(ptx({.name = "f", .text = text}), Not(HasSubstr("approx")));
  EXPECT_THAT(ptx({.name = "f", .text = text, .relaxed_math = true}), HasSubstr("div.approx.ftz"));
}

TEST_F(CudaCompile, ASyntaxErrorNamesTheProgramAndShowsTheLine) {
  const KernelSource source{.name = "broken_scale",
                            .text = "KERNEL void scale(GLOBAL float* x) {\n  x[0] = 1.0f;\n  x[1] = unheard_of;\n}\n"};
  try {
    compile_for(source, "sm_90");
    FAIL() << "compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::compile);
    EXPECT_THAT(error.what(), HasSubstr("broken_scale"));
    EXPECT_THAT(error.what(), HasSubstr("identifier \"unheard_of\" is undefined"));
    EXPECT_THAT(error.what(), HasSubstr("x[1] = unheard_of;"));
  }
}

TEST_F(CudaCompile, AnUnknownArchitectureIsRefusedWithThoseThatAreKnown) {
  for (const char* name : {"sm_10", "sm_", "pentium", ""}) {
    try {
      compile_for({.name = "f", .text = "KERNEL void f() {}"}, name);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unavailable);
      EXPECT_THAT(error.what(), HasSubstr("sm_90"));
    }
  }
}

TEST_F(CudaCompile, ResourcesOfEveryKernelAreReported) {
  const char* text = R"(
KERNEL WORK_GROUP(64, 1, 1) void first(GLOBAL float* x) {
  LOCAL_ARRAY(float, tile, 256);
  tile[LOCAL_ID(0)] = x[LOCAL_ID(0)];
  BARRIER();
  x[LOCAL_ID(0)] = tile[63 - LOCAL_ID(0)];
}
KERNEL void second(GLOBAL float* x) { x[GLOBAL_ID(0)] = 1.0f; }
)";
  auto kernels = resources_for({.name = "two", .text = text}, "sm_90");
  ASSERT_EQ(kernels.size(), 2u);
  if (kernels[0].kernel == "second") std::swap(kernels[0], kernels[1]);
  EXPECT_EQ(kernels[0].kernel, "first");
  EXPECT_GT(kernels[0].registers, 0);
  EXPECT_EQ(kernels[0].local_array_bytes, 1024);
  EXPECT_EQ(kernels[0].spilled_bytes, 0);
  EXPECT_EQ(kernels[1].kernel, "second");
  EXPECT_EQ(kernels[1].local_array_bytes, 0);
}

TEST(CudaTargets, AreMachineCodeForKnownArchitecturesElsePtxOfTheNextLowerOne) {
  Nvrtc compiler;
  compiler.architectures = {75, 80, 90};
  EXPECT_EQ(choose_target(compiler, 90)->architecture, "sm_90");
  compiler.major = 12;  // this version supports architecture-specific features
  EXPECT_EQ(choose_target(compiler, 90)->architecture, "sm_90a");
  EXPECT_EQ(choose_target(compiler, 100)->architecture, "compute_90");
  EXPECT_EQ(choose_target(compiler, 86)->architecture, "compute_80");
  EXPECT_FALSE(choose_target(compiler, 61));
}

}  // namespace
}  // namespace ridge::detail
#endif
