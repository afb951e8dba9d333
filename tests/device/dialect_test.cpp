// Assembles kernel source and turns compilers' logs into messages; needs no device.
#include "device/dialect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ridge::detail {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const KernelSource kSource{.name = "scale",
                           .text = "// one\n// two\n// three\n// four\n// five\n// six\n// seven\n// eight\n// nine\n",
                           .defines = {{"WIDTH", "4"}, {"SQUARE(x)", "((x) * (x))"}}};
const std::string kPrelude = "#define GLOBAL __global\n#define LOCAL __local\n";  // two lines, so the text starts on 5

std::string message_for(const std::string& log) {
  int first_line = 0;
  return compile_message(kSource, assemble(kPrelude, kSource, first_line), log);
}

TEST(Dialect, AssemblesPreludeDefinesAndText) {
  int first_line = 0;
  EXPECT_EQ(assemble(kPrelude, kSource, first_line),
            kPrelude + "#define WIDTH 4\n#define SQUARE(x) ((x) * (x))\n" + kSource.text);
  EXPECT_EQ(first_line, 5);
  EXPECT_EQ(assemble("#define A", {.name = "b", .text = "int b;"}, first_line), "#define A\nint b;\n");
  EXPECT_EQ(first_line, 2);
  EXPECT_EQ(assemble("", {.name = "b", .text = "int b;\n"}, first_line), "int b;\n");
  EXPECT_EQ(first_line, 1);
}

TEST(Dialect, RefusesDefinesOfSeveralLines) {
  int first_line = 0;
  EXPECT_THROW(assemble("", {.name = "b", .text = "", .defines = {{"A", "1\n#define B 2"}}}, first_line), Error);
  EXPECT_THROW(assemble("", {.name = "b", .text = "", .defines = {{"", "1"}}}, first_line), Error);
}

// The same error as each compiler reports it: on line 10 of the assembled source, line 6 of the caller's.
class CompilerLog : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(
    Compilers, CompilerLog,
    testing::Values("/home/someone/tempfile_a.cl:10:7: error: use of undeclared identifier 'foo'\n  foo;\n  ^\n",
                    "<kernel>:10:7: error: use of undeclared identifier 'foo'\n",
                    ":10:7: error: use of undeclared identifier 'foo'\n",
                    "scale(10): error: use of undeclared identifier 'foo'\n      foo;\n      ^\n1 error detected\n",
                    "scale.cu(10): catastrophic error: use of undeclared identifier 'foo'\n",
                    "<kernel>:3:1: warning: error handling is unused\n<kernel>:10:7: error: use of undeclared "
                    "identifier 'foo'\n",
                    "error: /root/tempfile_oj.cl:10:7: use of undeclared identifier 'foo'\nDevice x failed to build\n",
                    "error: /root/t.cl:10:7 <Spelling=/root/t.cl:1:17>: use of undeclared identifier 'foo'\n",
                    "a.cl:10:7: fatal error: use of undeclared identifier 'foo'\r\n"));

TEST_P(CompilerLog, ShowsTheFaultInTheCallersText) {
  EXPECT_EQ(message_for(GetParam()),
            "kernel program \"scale\" does not compile: line 6: use of undeclared identifier 'foo'\n"
            "      3 | // three\n"
            "      4 | // four\n"
            "      5 | // five\n"
            ">     6 | // six\n"
            "      7 | // seven\n"
            "      8 | // eight\n"
            "      9 | // nine");
}

TEST(Dialect, NamesFurtherErrorsAndBoundsThem) {
  std::string log;
  for (int line = 5; line < 1000; ++line) log += "<kernel>:" + std::to_string(line) + ":1: error: wrong\n";
  const std::string message = message_for(log);
  EXPECT_THAT(message, StartsWith("kernel program \"scale\" does not compile: line 1: wrong\n>     1 | // one\n"));
  EXPECT_THAT(message, HasSubstr("\n  also line 2: wrong"));
  EXPECT_THAT(message, HasSubstr("and 989 more"));
  EXPECT_LT(message.size(), 1000u);
}

TEST(Dialect, ShowsThePreludeWhenTheFaultIsThere) {
  const std::string message = message_for("<kernel>:3:9: error: macro name must be an identifier\n");
  EXPECT_THAT(message, HasSubstr("line 3 of the prelude and defines: macro name must be an identifier"));
  EXPECT_THAT(message, HasSubstr(">     3 | #define WIDTH 4\n"));
  EXPECT_THAT(message, Not(HasSubstr("// one")));
}

TEST(Dialect, MessagesOfUnusualLogsNameTheError) {
  EXPECT_THAT(message_for(""), HasSubstr("gave no reason"));
  EXPECT_THAT(message_for("something odd happened"), HasSubstr("something odd happened"));
  EXPECT_THAT(message_for("ptxas error   : Entry function 'k' uses too much shared data"),
              HasSubstr("does not compile: Entry function 'k' uses too much shared data"));
  EXPECT_THAT(message_for("<kernel>:99999:1: error: expected '}'"), HasSubstr("> "));
  EXPECT_THAT(message_for("<kernel>:0:1: error: odd"), HasSubstr("odd"));
  EXPECT_THAT(message_for("k:99999999999999999999:1: error: odd"), HasSubstr("odd"));
  EXPECT_THAT(message_for("): error: odd"), HasSubstr("odd"));
  EXPECT_THAT(message_for("error:"), HasSubstr("scale"));
  EXPECT_LT(message_for(std::string(1 << 20, 'x')).size(), 3000u);
  EXPECT_LT(message_for("<kernel>:5:1: error: " + std::string(1 << 20, 'x')).size(), 1000u);
  int first_line = 0;
  const KernelSource long_line{.name = "long", .text = std::string(1 << 20, 'y')};
  EXPECT_LT(compile_message(long_line, assemble("", long_line, first_line), "a:1:1: error: odd").size(), 1000u);
}

TEST(Dialect, ResidentGroupsBoundTheRegisters) {
  EXPECT_EQ(register_bound("KERNEL WORK_GROUP_RESIDENT(128, 1, 1, 5) void f()", 65536), 96);
  EXPECT_EQ(register_bound("KERNEL WORK_GROUP_RESIDENT(250,1,1,4) void f()", 65536), 64) << "whole warps";
  EXPECT_EQ(register_bound("KERNEL WORK_GROUP_RESIDENT(32, 1, 1, 1) void f()", 65536), 255);
  EXPECT_EQ(register_bound("WORK_GROUP_RESIDENT(256, 1, 1, 8) WORK_GROUP_RESIDENT(256, 1, 1, 2)", 65536), 128);
  EXPECT_EQ(register_bound("WORK_GROUP_RESIDENT(WIDTH, 1, 1, 8)", 65536), 0) << "not a literal number";
  EXPECT_EQ(register_bound("WORK_GROUP_RESIDENT(256, 1, 1, ", 65536), 0);
  EXPECT_EQ(register_bound("WORK_GROUP_RESIDENT(1024, 1, 1, 32)", 65536), 0) << "no kernel can run with two registers";
  EXPECT_EQ(register_bound("KERNEL WORK_GROUP(256, 1, 1) void f()", 65536), 0);
}

#ifdef RIDGE_HAVE_OPENCL
TEST(Dialect, NvidiasOpenClStreamsAndShufflesInPtx) {
  DeviceInfo info{.vendor = "NVIDIA CUDA"};
  info.limits.sub_group = 32;
  const std::string wide = opencl_prelude(info);
  EXPECT_THAT(wide, HasSubstr("#define SUB_GROUP_WIDTH 32\n"));
  EXPECT_THAT(wide, HasSubstr("\"ld.global.cs.v4.f32 {%0, %1, %2, %3}, [%4];\""));
  EXPECT_THAT(wide, HasSubstr("\"st.global.cs.v2.f64 [%0], {%1, %2};\""));
  EXPECT_THAT(wide, HasSubstr("\"shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;\""));
  EXPECT_THAT(wide, HasSubstr("\"vabsdiff4.u32.u32.u32 %0, %1, %2, %3;\""));
  EXPECT_THAT(wide, HasSubstr("\"dp4a.u32.u32 %0, %1, %2, %3;\""));
  EXPECT_THAT(wide, HasSubstr("\"ex2.approx.ftz.f32 %0, %1;\""));
  EXPECT_THAT(wide, HasSubstr("\"atom.global.add.f32 %0, [%1], %2;\" : \"=f\"(r) : \"l\"((ulong)p)"));
  EXPECT_THAT(wide, HasSubstr("\"atom.shared.add.f32 %0, [%1], %2;\" : \"=f\"(r) : \"r\"((uint)(ulong)p)"));
  // An override to half warps: segments of 16 lanes, as in CUDA's __shfl_sync(..., 16).
  info.limits.sub_group = 16;
  info.limits.float64 = false;
  const std::string narrow = opencl_prelude(info);
  EXPECT_THAT(narrow, HasSubstr("\"shfl.sync.idx.b32 %0, %1, %2, 4127, 0xffffffff;\""));
  EXPECT_THAT(narrow, HasSubstr("\"shfl.sync.up.b32 %0, %1, %2, 4096, 0xffffffff;\""));
  EXPECT_THAT(narrow, Not(HasSubstr("double")));
  info.limits.sub_group = 20;  // not a valid width of a shuffle
  EXPECT_THAT(opencl_prelude(info), HasSubstr("#define SUB_GROUP_WIDTH 0\n"));
  EXPECT_THAT(opencl_prelude(info), Not(HasSubstr("shfl")));
}
#endif

}  // namespace
}  // namespace ridge::detail
