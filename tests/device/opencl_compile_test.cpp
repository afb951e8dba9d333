// Compiling on every OpenCL device of the machine: errors, the cache on disk, and the note if there is no OpenCL.
#ifdef RIDGE_HAVE_OPENCL
#include <gmock/gmock.h>

#include <fstream>

#include "base/files.hpp"
#include "device/compile_cache.hpp"
#include "device/opencl/device.hpp"
#include "device/opencl/program.hpp"
#include "device/opencl_support.hpp"

namespace ridge {
namespace {

using test::thrown_error;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// PoCL has its own cache, which is disabled here to test ours.
class OpenClCompile : public test::OpenCl {
  const test::ScopedEnvironment all_{"RIDGE_COMPILE_CACHE", "all"};
};

const KernelSource kAnswer{.name = "answer",
                           .text = "KERNEL void answer(GLOBAL int* out) { out[0] = VALUE; }\n",
                           .defines = {{"VALUE", "42"}}};

int run_answer(const Device& device, const Program& program) {
  const Buffer out = device.buffer(4, {.name = "out"});
  Queue queue = device.queue();
  queue.launch(program.kernel("answer"), {}, {out});
  int answer = 0;
  queue.download(out, &answer, 4);
  queue.finish();
  return answer;
}

TEST_F(OpenClCompile, ASyntaxErrorShowsTheProgramAndTheLine) {
  for (const Device& device : test::opencl_devices()) {
    const Error error = thrown_error([&] {
      device.compile({.name = "broken",
                      .text = "// a comment\n"
                              "KERNEL void broken(GLOBAL float* out) {\n"
                              "  out[0] = 1.0f;\n"
                              "  out[1] = undeclared_thing;\n"
                              "}\n",
                      .defines = {{"UNUSED", "1"}}});
    });
    EXPECT_EQ(error.kind(), ErrorKind::compile);
    EXPECT_THAT(error.what(), StartsWith("kernel program \"broken\" does not compile: line 4: "));
    EXPECT_THAT(error.what(), HasSubstr("undeclared_thing"));
    EXPECT_THAT(error.what(), HasSubstr("\n>     4 |   out[1] = undeclared_thing;\n"));
    EXPECT_THAT(error.what(), HasSubstr("\n      1 | // a comment\n"));
  }
}

// src/device/opencl/builtins.cl declares the functions of the dialect; a program that needs more still compiles.
TEST_F(OpenClCompile, EveryFunctionOfOpenClCanBeCalled) {
  for (const Device& device : test::opencl_devices()) {
    const Program program = device.compile({.name = "dot",
                                            .text = "KERNEL void products(GLOBAL float* out) {\n"
                                                    "  out[0] = dot((float4)(1, 2, 3, 4), (float4)(5, 6, 7, 8));\n"
                                                    "  out[1] = mix(1.0f, 3.0f, 0.25f);\n"
                                                    "}\n"});
    const Buffer out = device.buffer(8, {.name = "out"});
    Queue queue = device.queue();
    queue.launch(program.kernel("products"), {}, {out});
    float answer[2] = {};
    queue.download(out, answer, 8);
    queue.finish();
    EXPECT_THAT(answer, ElementsAre(70.0f, 1.5f));
  }
}

TEST_F(OpenClCompile, AnUnknownKernelNamesTheOnesThereAre) {
  for (const Device& device : test::opencl_devices()) {
    const Program program = device.compile({.name = "pair",
                                            .text = "KERNEL void one(GLOBAL int* a) { a[0] = 1; }\n"
                                                    "KERNEL void two(GLOBAL int* a) { a[0] = 2; }\n"});
    const Error error = thrown_error([&] { program.kernel("three"); });
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("program \"pair\" has no kernel \"three\""));
    EXPECT_THAT(error.what(), HasSubstr("one"));
    EXPECT_THAT(error.what(), HasSubstr("two"));
  }
}

TEST_F(OpenClCompile, TheSecondCompileComesFromTheCache) {
  for (const Device& device : test::opencl_devices()) {
    SCOPED_TRACE(device.id());
    const test::FreshCache cache;
    const Program first = device.compile(kAnswer);
    EXPECT_FALSE(first.from_cache());
    EXPECT_EQ(run_answer(device, first), 42);
    const Program second = device.compile(kAnswer);
    EXPECT_TRUE(second.from_cache());
    EXPECT_EQ(run_answer(device, second), 42);

    KernelSource other = kAnswer;
    other.defines[0].second = "43";
    EXPECT_FALSE(device.compile(other).from_cache());
    other = kAnswer;
    other.relaxed_math = true;
    EXPECT_FALSE(device.compile(other).from_cache());
    const test::ScopedEnvironment off("RIDGE_COMPILE_CACHE", "off");
    EXPECT_FALSE(device.compile(kAnswer).from_cache());
  }
}

// A cached program must have the same information about its kernels as a fresh one.
TEST_F(OpenClCompile, ACachedKernelChecksItsArgumentsToo) {
  for (const Device& device : test::opencl_devices()) {
    SCOPED_TRACE(device.id());
    const test::FreshCache cache;
    const KernelSource source{
        .name = "typed", .text = "KERNEL WORK_GROUP(4, 1, 1) void typed(GLOBAL float* v, float s) { v[0] = s; }\n"};
    device.compile(source);
    const Program program = device.compile(source);
    ASSERT_TRUE(program.from_cache());
    const Buffer v = device.buffer(4, {.name = "v"});
    Queue queue = device.queue();
    EXPECT_EQ(thrown_error([&] { queue.launch(program.kernel("typed"), {.items = {4}}, {v}); }).kind(),
              ErrorKind::invalid_argument);
    EXPECT_EQ(thrown_error([&] {
                queue.launch(program.kernel("typed"), {.items = {8}}, {v, 1.0f});
              }).kind(),
              ErrorKind::invalid_argument);
    queue.launch(program.kernel("typed"), {.items = {4}}, {v, 1.0f});
    queue.finish();
  }
}

TEST_F(OpenClCompile, DamagedCacheFilesAreReplaced) {
  for (const Device& device : test::opencl_devices()) {
    SCOPED_TRACE(device.id());
    const test::FreshCache cache;
    device.compile(kAnswer);
    ASSERT_EQ(cache.files().size(), 1u);
    const auto file = cache.files().front();
    const std::string whole = base::read_file(file, 64u << 20).value();
    std::string flipped = whole;
    flipped[whole.size() - 100] = static_cast<char>(flipped[whole.size() - 100] ^ 1);
    const std::string hostile = whole.substr(0, 16) + std::string(8, '\x7f') + whole.substr(24);
    for (const std::string& bytes : {std::string(), whole.substr(0, whole.size() / 2), flipped, hostile,
                                     std::string("not a kernel"), whole + whole}) {
      std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
      const test::Warnings warnings;
      const Program program = device.compile(kAnswer);
      EXPECT_FALSE(program.from_cache());
      EXPECT_EQ(run_answer(device, program), 42);
      EXPECT_THAT(warnings.messages, ElementsAre(HasSubstr("compile cache")));
      EXPECT_TRUE(device.compile(kAnswer).from_cache()) << "the file is whole again";
    }
  }
}

// A complete file whose binary the driver refuses, as after an update that kept its version number.
TEST_F(OpenClCompile, ABinaryThatTheDriverRefusesIsBuiltAgain) {
  for (const Device& device : test::opencl_devices()) {
    SCOPED_TRACE(device.id());
    const test::FreshCache cache;
    const auto& state = dynamic_cast<detail::opencl::ClDevice&>(device.state());
    detail::store_compiled(detail::opencl::program_key(state, kAnswer), "no binary of this driver");
    const test::Warnings warnings;
    const Program program = device.compile(kAnswer);
    EXPECT_FALSE(program.from_cache());
    EXPECT_EQ(run_answer(device, program), 42);
    EXPECT_THAT(warnings.messages, IsEmpty());
    EXPECT_TRUE(device.compile(kAnswer).from_cache());
  }
}

TEST(OpenClLoader, AMissingLibraryIsALineOfInformation) {
  detail::opencl::Api api;
  std::string note;
  EXPECT_FALSE(detail::opencl::load("libNoSuchOpenCL.so.1", api, note));
  EXPECT_EQ(note, "OpenCL: libNoSuchOpenCL.so.1 not found; apt install ocl-icd-libopencl1 pocl-opencl-icd");
  EXPECT_FALSE(detail::opencl::load("libc.so.6", api, note));
  EXPECT_THAT(note, HasSubstr("older than OpenCL 1.2"));
}

TEST(OpenClStatus, EveryCodeHasAName) {
  EXPECT_EQ(detail::opencl::status_name(CL_OUT_OF_RESOURCES), "CL_OUT_OF_RESOURCES (-5)");
  EXPECT_EQ(detail::opencl::status_name(CL_INVALID_DEVICE_PARTITION_COUNT), "CL_INVALID_DEVICE_PARTITION_COUNT (-68)");
  EXPECT_THAT(detail::opencl::status_name(-12345), HasSubstr("-12345"));
  const Error error = thrown_error([] { detail::opencl::check(CL_INVALID_VALUE, "opencl:9", "testing"); });
  EXPECT_EQ(error.kind(), ErrorKind::device);
  EXPECT_STREQ(error.what(), "opencl:9: testing failed: CL_INVALID_VALUE (-30)");
}

}  // namespace
}  // namespace ridge
#endif
