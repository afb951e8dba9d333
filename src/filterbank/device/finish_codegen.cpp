// Kernel text for delay phases, bandpass factors and output positions.
#include "filterbank/device/finish_codegen.hpp"

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "device/kernel_template.hpp"
#include "device/kernel_text.hpp"

namespace ridge::filterbank::on_device {

std::string finish_macros(const KernelDesign& design) {
  const Geometry& g = design.geometry;
  const std::string bytes = design.bytes ? ridge::detail::fill_kernel_text("filterbank/byte_pair") : "";
  if (!g.delayed) return bytes;
  // A channel's frequency, in channel spacings from the centre of the band.
  const std::string number = g.centred ? fmt::format("((k) - {})", g.channels / 2)
                                       : fmt::format("((k) < {} ? (k) : (k) - {})", (g.channels + 1) / 2, g.channels);
  return fmt::format("{}{}#define SIGNED_CHANNEL(k) {}\n", bytes, ridge::detail::kernel_text("filterbank/delay"),
                     number);
}

std::string delay_arguments(const Geometry& g) {
  return g.delayed ? ", GLOBAL const int* RESTRICT shifts, GLOBAL const float2* RESTRICT phases, int first_phase" : "";
}

void open_finish(codegen::Text& text, const KernelDesign& design, const std::string& time) {
  const Geometry& g = design.geometry;
  if (design.factors == Factors::all) {
    text.line("GLOBAL const float2* const factor = factors + (pol * {} + station) * {};", g.stations, g.channels);
  }
  if (design.factors == Factors::channels) text.line("GLOBAL const float2* const factor = factors;");
  if (g.delayed) {
    text.line("const float2 phase = LOAD_CACHED(phases + (({} + first_phase) * {} + pol) * {} + station);", time,
              g.polarizations, g.stations);
  }
}

void open_output(codegen::Text& text, const KernelDesign& design, const std::string& place) {
  const char* type = design.bytes ? "ushort" : "float2";
  text.line("GLOBAL {0}* const to = (GLOBAL {0}*)out + (out_offset + {1});", type, place);
}

std::string finished(const KernelDesign& design, const std::string& value, const std::string& k) {
  std::string whole = value;
  if (design.factors != Factors::none) whole = fmt::format("multiply({}, LOAD_CACHED(factor + {}))", whole, k);
  if (design.geometry.delayed) whole = fmt::format("rotated({}, phase, SIGNED_CHANNEL({}))", whole, k);
  if (design.bytes) whole = fmt::format("byte_pair({})", whole);
  return whole;
}

std::string place_text(const Geometry& g, const std::string& time, const std::string& k) {
  if (!g.by_channel) {
    return fmt::format("(((ulong)({}) * {} + pol) * {} + station) * {} + {}", time, g.polarizations, g.stations,
                       g.channels, k);
  }
  return fmt::format(
      "((((ulong)(({0} + within) / {1}) * {2} + {3}) * {4} + station) * {5} + pol) * {1} + ({0} + within) % {1}", time,
      g.times, g.channels, k, g.stations, g.polarizations);
}

}  // namespace ridge::filterbank::on_device
