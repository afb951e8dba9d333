// Writes the stores of a pass: points in registers to memory, as complex values, half spectra, contiguous runs or
// tiles.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "fft/device/pass/text/context.hpp"
#include "fft/device/pass/text/run_writer.hpp"

namespace ridge::fft::on_device {

// Twiddle factors between two passes, from coarse and fine tables.
class TwiddleWriter : PassPart {
 public:
  explicit TwiddleWriter(PassContext& context) : PassPart(context) {}
  std::string table_product(const std::string& exponent) const;
  // exp(-2 pi i c (i + u * butterflies) / order); the second factor is the same for all butterflies of a column.
  void twiddle(const StageDesign& stage);
};

class StoreWriter : PassPart {
 public:
  StoreWriter(PassContext& context, RunWriter& runs, TwiddleWriter& twiddle)
      : PassPart(context), runs_(runs), twiddle_(twiddle) {}
  void store();
  void store_point(const std::string& value, const std::string& index, std::uint64_t constant);

 private:
  // Undoes the exchange of real and imaginary part by which inverse transforms run as forward ones.
  std::string natural(const std::string& value, const std::string& place) const;
  std::string store_factored(const std::string& value, const std::string& index, std::uint64_t constant);
  std::string store_index(const std::string& index, std::uint64_t constant) const;
  void store_pointers(const char* line);
  void store_factors(const char* line);
  // Computes the spectrum of the samples from values k and n - k of the transform of sample pairs.
  void store_half(const StageDesign& last);
  void store_paired_lines(const StageDesign& last);
  void folded_pointers();
  void store_in_row(const char* row, const std::string& value, const std::string& index);
  void store_self_mirrored(const StageDesign& last);
  void store_folded_spectrum(const StageDesign& last);
  void store_folded_pairs(const StageDesign& last);
  void put_in_order(const StageDesign& last, std::size_t iterations);
  void stage_out(const StageDesign& last, const char* line);
  void store_tile(const StageDesign& last);
  void store_partition_local(const StageDesign& last, const char* line, const char* in_range);

  RunWriter& runs_;
  TwiddleWriter& twiddle_;
};

}  // namespace ridge::fft::on_device
