// Conversion of integers to float without conversion instructions, which are slow on GPUs: an integer's bits under the
// exponent of 2^23 are exactly 2^23 + integer, so one subtraction remains.
#include <fmt/format.h>

#include "codegen/text.hpp"
#include "device/kernel_text.hpp"
#include "filterbank/device/fir/fir.hpp"

namespace ridge::filterbank::on_device {
namespace {

// Expression for number `i` of the raw value `raw`.
std::string number(Samples samples, std::size_t parts, std::size_t i) {
  switch (samples) {
    case Samples::int4:
      // A nibble with its sign bit inverted is the number plus 8.
      return fmt::format("AS_FLOAT((((uint)raw >> {}) & 15u ^ 8u) | 0x4b000000u) - 8388616.0f", 4 * i);
    case Samples::int8:
      return fmt::format("AS_FLOAT(PICK_BYTES(bits, 0x4b000000u, 0x744{}u)) - 8388736.0f", i);
    case Samples::int16: {
      const char* member = parts == 4 ? (i < 2 ? ".x" : ".y") : "";
      return fmt::format("AS_FLOAT(PICK_BYTES(((uint)raw{}) ^ 0x80008000u, 0x4b000000u, 0x74{}u)) - 8421376.0f", member,
                         i % 2 == 0 ? "10" : "32");
    }
    default:
      return parts == 1 ? "raw" : fmt::format("raw.{}", "xyzw"[i]);
  }
}

// Type that holds `parts` numbers of a sample in memory.
const char* raw_type(Samples samples, std::size_t parts) {
  switch (samples) {
    case Samples::int4:
      return parts == 4 ? "ushort" : "uchar";
    case Samples::int8:
      return parts == 4 ? "uint" : parts == 2 ? "ushort" : "uchar";
    case Samples::int16:
      return parts == 4 ? "uint2" : parts == 2 ? "uint" : "ushort";
    default:
      return parts == 4 ? "float4" : parts == 2 ? "float2" : "float";
  }
}

}  // namespace

std::string conversion_text(Samples samples, std::size_t parts) {
  codegen::Text text;
  text.raw(ridge::detail::kernel_text("codegen/byte_words"));
  text.line("typedef {} raw_t;", raw_type(samples, parts));
  switch (samples) {
    case Samples::int16:
      text.line("#define RAW_ZERO {}", parts == 4 ? "make_uint2(0u, 0u)" : "0");
      break;
    case Samples::float32:
      text.line("#define RAW_ZERO {}", parts == 4   ? "make_float4(0.0f, 0.0f, 0.0f, 0.0f)"
                                       : parts == 2 ? "make_float2(0.0f, 0.0f)"
                                                    : "0.0f");
      break;
    default:
      text.line("#define RAW_ZERO 0");
  }
  text.open("FUNCTION void convert(raw_t raw, float* x)");
  if (samples == Samples::int8) text.line("const uint bits = (uint)raw ^ 0x80808080u;");
  for (std::size_t i = 0; i < parts; ++i) text.line("x[{}] = {};", i, number(samples, parts, i));
  text.close();
  return text.str();
}

}  // namespace ridge::filterbank::on_device
