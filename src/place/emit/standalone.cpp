// Translates the kernel dialect to CUDA and OpenCL C, and assembles the embedded run time.
#include "place/emit/standalone.hpp"

#include <functional>
#include <map>
#include <vector>

#include "place/runtime/embedded.hpp"
#include "place/text/words.hpp"

namespace ridge::place::emit {
namespace {

struct Word {
  int arguments = -1;  // -1: a word without parentheses
  std::function<std::string(const std::vector<std::string>&)> text{};
};
using Words = std::map<std::string, Word>;

Word plain(const std::string& text) {
  return {-1, [text](const std::vector<std::string>&) { return text; }};
}

std::string axis(const std::vector<std::string>& a) { return std::string(1, "xyz"[a[0][0] - '0']); }

const Words& cuda_words() {
  static const Words words{
      {"KERNEL", plain("__global__")},
      {"FUNCTION", plain("__device__ inline")},
      {"GLOBAL", plain("")},
      {"CONSTANT", plain("const")},
      {"LOCAL", plain("")},
      {"RESTRICT", plain("__restrict__")},
      {"UNROLL", plain("#pragma unroll")},
      {"WORK_GROUP",
       {3,
        [](const auto& a) {
          return "__launch_bounds__(" + std::to_string(std::stoi(a[0]) * std::stoi(a[1]) * std::stoi(a[2])) + ")";
        }}},
      {"LOCAL_ARRAY", {3, [](const auto& a) { return "__shared__ " + a[0] + " " + a[1] + "[" + a[2] + "]"; }}},
      {"BARRIER", {0, [](const auto&) { return "__syncthreads()"; }}},
      {"GLOBAL_ID",
       {1,
        [](const auto& a) {
          return "(blockIdx." + axis(a) + " * blockDim." + axis(a) + " + threadIdx." + axis(a) + ")";
        }}},
      {"LOCAL_ID", {1, [](const auto& a) { return "(int)threadIdx." + axis(a); }}},
      {"GROUP_ID", {1, [](const auto& a) { return "blockIdx." + axis(a); }}},
      {"ITEMS", {1, [](const auto& a) { return "blockDim." + axis(a); }}},
      {"GROUPS", {1, [](const auto& a) { return "gridDim." + axis(a); }}},
      {"ATOMIC_ADD", {2, [](const auto& a) { return "atomicAdd(" + a[0] + ", " + a[1] + ")"; }}},
      {"ATOMIC_MIN", {2, [](const auto& a) { return "atomicMin(" + a[0] + ", " + a[1] + ")"; }}},
      {"ATOMIC_MAX", {2, [](const auto& a) { return "atomicMax(" + a[0] + ", " + a[1] + ")"; }}},
  };
  return words;
}

const Words& opencl_words() {
  static const Words words{
      {"KERNEL", plain("__kernel")},
      {"FUNCTION", plain("static inline")},
      {"GLOBAL", plain("__global")},
      {"CONSTANT", plain("__constant")},
      {"LOCAL", plain("__local")},
      {"RESTRICT", plain("restrict")},
      {"UNROLL", plain("#pragma unroll")},
      {"WORK_GROUP",
       {3,
        [](const auto& a) {
          return "__attribute__((reqd_work_group_size(" + a[0] + ", " + a[1] + ", " + a[2] + ")))";
        }}},
      {"LOCAL_ARRAY", {3, [](const auto& a) { return "__local " + a[0] + " " + a[1] + "[" + a[2] + "]"; }}},
      {"BARRIER", {0, [](const auto&) { return "barrier(CLK_LOCAL_MEM_FENCE)"; }}},
      {"GLOBAL_ID", {1, [](const auto& a) { return "get_global_id(" + a[0] + ")"; }}},
      {"LOCAL_ID", {1, [](const auto& a) { return "(int)get_local_id(" + a[0] + ")"; }}},
      {"GROUP_ID", {1, [](const auto& a) { return "(uint)get_group_id(" + a[0] + ")"; }}},
      {"ITEMS", {1, [](const auto& a) { return "(int)get_local_size(" + a[0] + ")"; }}},
      {"GROUPS", {1, [](const auto& a) { return "(uint)get_num_groups(" + a[0] + ")"; }}},
      {"ATOMIC_ADD", {2, [](const auto& a) { return "atomic_add(" + a[0] + ", " + a[1] + ")"; }}},
      {"ATOMIC_MIN", {2, [](const auto& a) { return "atomic_min(" + a[0] + ", " + a[1] + ")"; }}},
      {"ATOMIC_MAX", {2, [](const auto& a) { return "atomic_max(" + a[0] + ", " + a[1] + ")"; }}},
  };
  return words;
}

// Arguments after an opening parenthesis; moves `at` past the closing one.
std::vector<std::string> arguments_at(const std::string& text, std::size_t& at) {
  std::vector<std::string> list{""};
  for (int depth = 1; at < text.size(); ++at) {
    const char c = text[at];
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (depth == 0) break;
    if (c == ',' && depth == 1)
      list.emplace_back();
    else if (c != ' ' || !list.back().empty())
      list.back() += c;
  }
  ++at;
  return list;
}

std::string translated(const std::string& text, const Words& words) {
  return text::each_word(text, [&](const std::string& name, std::size_t& at) {
    const auto word = words.find(name);
    if (word == words.end()) return name;
    std::vector<std::string> actual;
    if (word->second.arguments >= 0) {
      ++at;  // the parenthesis
      actual = arguments_at(text, at);
      for (std::string& a : actual) a = translated(a, words);
    }
    const std::string said = word->second.text(actual);
    if (said.empty() && at < text.size() && text[at] == ' ') ++at;
    return said;
  });
}

std::string runtime(const std::string& device) {
  std::string session = embedded::session;
  const auto pragma = session.find("#pragma once\n");
  session = session.substr(pragma + 13);
  for (const std::string wide = "namespace ridge::placed"; session.find(wide) != std::string::npos;)
    session.replace(session.find(wide), wide.size(), "namespace placed");
  return "// Run time of the placed code: written by ridge place, the same in every program.\n#ifndef PLACED_RUNTIME\n"
         "#define PLACED_RUNTIME\n" +
         session + device + "#endif\n// The program.\n";
}

}  // namespace

std::string in_cuda(const std::string& dialect) { return translated(dialect, cuda_words()); }
std::string in_opencl(const std::string& dialect) { return translated(dialect, opencl_words()); }
std::string cuda_runtime() { return runtime(embedded::cuda); }
std::string opencl_runtime() { return runtime(embedded::opencl); }

}  // namespace ridge::place::emit
