// Writes the kernels of the device probes for each vector width and access.
#include "machine/device/kernels.hpp"

#include <fmt/format.h>

#include "device/kernel_text.hpp"

namespace ridge::machine {
namespace {

std::string copy_kernel(int vectors, bool once) {
  std::string text = fmt::format(R"(
KERNEL void copy_{0}{1}(GLOBAL const float4* RESTRICT from, GLOBAL float4* RESTRICT to, uint tiles) {{
  const uint items = (uint)ITEMS(0);
  for (uint tile = GROUP_ID(0); tile < tiles; tile += GROUPS(0)) {{
    const ulong start = (ulong)tile * (ulong)(items * {0}u) + (ulong)LOCAL_ID(0);
)",
                                 vectors, once ? "_once" : "");
  const std::string load = once ? "LOAD_ONCE(from + start + {0}u * items)" : "from[start + {0}u * items]";
  for (int k = 0; k < vectors; ++k) text += fmt::format(fmt::runtime("    const float4 v{0} = " + load + ";\n"), k);
  const std::string store = once ? "STORE_ONCE(to + start + {0}u * items, v{0})" : "to[start + {0}u * items] = v{0}";
  for (int k = 0; k < vectors; ++k) text += fmt::format(fmt::runtime("    " + store + ";\n"), k);
  return text + "  }\n}\n";
}

std::string write_kernel(int vectors, bool once) {
  std::string text = fmt::format(R"(
KERNEL void write_{0}{1}(GLOBAL float4* RESTRICT to, uint tiles, float value) {{
  const uint items = (uint)ITEMS(0);
  const float4 v = make_float4(value, value, value, value);
  for (uint tile = GROUP_ID(0); tile < tiles; tile += GROUPS(0)) {{
    const ulong start = (ulong)tile * (ulong)(items * {0}u) + (ulong)LOCAL_ID(0);
)",
                                 vectors, once ? "_once" : "");
  const std::string store = once ? "STORE_ONCE(to + start + {0}u * items, v)" : "to[start + {0}u * items] = v";
  for (int k = 0; k < vectors; ++k) text += fmt::format(fmt::runtime("    " + store + ";\n"), k);
  return text + "  }\n}\n";
}

enum class Window { read, read_l2, write, copy };

std::string window_kernel(Window kind) {
  const bool sums = kind == Window::read || kind == Window::read_l2;
  const bool reads = kind != Window::write, writes = !sums;
  // Written data are in L2, so a copy reads from there too.
  const char* load = kind == Window::read ? "from[start + {0}u * items]" : "LOAD_L2(from + start + {0}u * items)";
  std::string text = fmt::format("\nKERNEL void window_{}(", kind == Window::read      ? "read"
                                                             : kind == Window::read_l2 ? "read_l2"
                                                             : kind == Window::write   ? "write"
                                                                                       : "copy");
  if (reads) text += "GLOBAL const uint4* RESTRICT from, ";
  text += writes ? "GLOBAL uint4* RESTRICT to, " : "GLOBAL uint* RESTRICT out, ";
  text += R"(uint base_step, uint start_step, uint range, uint step,
                  uint rounds) {
  const uint items = (uint)ITEMS(0);
  const uint base = GROUP_ID(0) * base_step;
  uint at = (GROUP_ID(0) * start_step) % range;
)";
  for (int k = 0; sums && k < kWindowVectors; ++k) text += fmt::format("  uint sum{} = 0u;\n", k);
  text += fmt::format(R"(  for (uint round = 0u; round < rounds; ++round) {{
    const ulong start = (ulong)(base + at) * (ulong)(items * {}u) + (ulong)LOCAL_ID(0);
)",
                      kWindowVectors);
  for (int k = 0; reads && k < kWindowVectors; ++k)
    text += fmt::format("    const uint4 v{} = {};\n", k, fmt::format(fmt::runtime(load), k));
  for (int k = 0; k < kWindowVectors; ++k) {
    if (sums) text += fmt::format("    sum{0} += v{0}.x + v{0}.y + v{0}.z + v{0}.w;\n", k);
    if (kind == Window::copy) text += fmt::format("    to[start + {0}u * items] = v{0};\n", k);
    if (kind == Window::write)
      text += fmt::format("    to[start + {0}u * items] = make_uint4(round, {0}u, base, at);\n", k);
  }
  text += "    at += step;\n    if (at >= range) at -= range;\n  }\n";
  if (sums) {
    text += "  out[GLOBAL_ID(0)] = sum0";
    for (int k = 1; k < kWindowVectors; ++k) text += fmt::format(" + sum{}", k);
    text += ";\n";
  }
  return text + "}\n";
}

}  // namespace

KernelSource memory_kernels() {
  std::string text = "// Main memory: whole tiles in flight, 16 bytes per access.\n";
  for (const int vectors : kVectors)
    for (const bool once : {false, true}) text += copy_kernel(vectors, once) + write_kernel(vectors, once);
  return {.name = "memory_probe", .text = text, .defines = {}};
}

KernelSource cache_kernels() {
  std::string text = "// Caches, local memory and an empty kernel.\n";
  text += window_kernel(Window::read) + window_kernel(Window::read_l2) + window_kernel(Window::write) +
          window_kernel(Window::copy);
  text += ridge::detail::kernel_text("machine/local_memory");
  text += ridge::detail::kernel_text("machine/empty");
  return {.name = "cache_probe",
          .text = text,
          .defines = {{"LOCAL_VECTORS", fmt::format("{}u", kLocalVectors)},
                      {"LOCAL_VISITS", fmt::format("{}u", kLocalVisits)}}};
}

KernelSource fma_kernels(bool in_double) {
  const std::string type = in_double ? "double" : "float";
  std::string text = fmt::format(
      R"(// Independent chains of fused multiply-adds. The factors are loaded from memory, so that they are in registers and
// unknown to the compiler.
KERNEL void fma_{0}(GLOBAL const {0}* RESTRICT constants, GLOBAL {0}* RESTRICT out, uint rounds) {{
  const uint item = GLOBAL_ID(0);
  const {0} b = constants[0];
  const {0} c = constants[1];
  const {0} start = ({0})(item & 63u);
)",
      type);
  for (int k = 0; k < kFmaChains; ++k) text += fmt::format("  {0} a{1} = start + ({0}){1};\n", type, k);
  text += fmt::format(
      "  for (uint round = 0u; round < rounds; ++round) {{\n    UNROLL\n    for (int link = 0; link < {}; ++link) {{\n",
      kFmaUnrolled);
  for (int k = 0; k < kFmaChains; ++k) text += fmt::format("      a{0} = FMA(b, c, a{0});\n", k);
  text += "    }\n  }\n";
  for (int k = 0; k < kFmaChains; ++k) text += fmt::format("  out[(ulong)item * {0}u + {1}u] = a{1};\n", kFmaChains, k);
  return {.name = "fma_" + type + "_probe", .text = text + "}\n", .defines = {}};
}

std::vector<std::uint8_t> access_table() {
  std::vector<std::uint8_t> table(kAccessBytes);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  return table;
}

KernelSource access_kernels(std::size_t items) {
  std::string text =
      "// One read and one write per work-item, from each memory space.\nCONSTANT_TABLE uchar constant_table[" +
      std::to_string(kAccessBytes) + "] = {";
  const auto table = access_table();
  for (std::size_t i = 0; i < table.size(); ++i) text += fmt::format("{}{},", i % 64 == 0 ? "\n" : "", table[i]);
  text += "};\n" + ridge::detail::kernel_text("machine/access");
  return {.name = "access_probe",
          .text = text,
          .defines = {{"ACCESS_ITEMS", std::to_string(items)}, {"ACCESS_BYTES", std::to_string(kAccessBytes)}}};
}

KernelSource spin_kernels() {
  return {.name = "spin_probe", .text = ridge::detail::kernel_text("machine/spin"), .defines = {}};
}

std::uint32_t spin_value(std::uint32_t item, std::uint32_t rounds) {
  std::uint32_t x = item;
  for (std::uint32_t round = 0; round < rounds; ++round) x = (x ^ (x >> 7)) * 1664525u + 1013904223u;
  return x;
}

std::vector<KernelSource> all_probe_kernels() {
  return {memory_kernels(), cache_kernels(), fma_kernels(false), fma_kernels(true), access_kernels(kAccessItems),
          spin_kernels()};
}

}  // namespace ridge::machine
