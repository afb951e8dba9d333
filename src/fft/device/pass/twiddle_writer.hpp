// Twiddle factors between two passes, from coarse and fine tables.
#pragma once
#include <string>

#include "fft/device/pass/context.hpp"

namespace ridge::fft::on_device {

class TwiddleWriter : PassPart {
 public:
  explicit TwiddleWriter(PassContext& context) : PassPart(context) {}
  std::string table_product(const std::string& exponent) const;
  // exp(-2 pi i c (i + u * butterflies) / order); the second factor is the same for all butterflies of a column.
  void twiddle(const StageDesign& stage);
};

}  // namespace ridge::fft::on_device
