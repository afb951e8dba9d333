// The way out: what is in registers to memory as it stands there, as half a spectrum, in one run, or as a tile.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "fft/device/pass/run_writer.hpp"
#include "fft/device/pass/twiddle_writer.hpp"

namespace ridge::fft::on_device {

class StoreWriter : PassPart {
 public:
  StoreWriter(PassContext& context, RunWriter& runs, TwiddleWriter& twiddle)
      : PassPart(context), runs_(runs), twiddle_(twiddle) {}
  void store();
  void store_point(const std::string& value, const std::string& index, std::uint64_t constant);

 private:
  // Out of the world where every transform goes forward; `place` is the point's number.
  std::string natural(const std::string& value, const std::string& place) const;
  std::string store_factored(const std::string& value, const std::string& index, std::uint64_t constant);
  std::string store_index(const std::string& index, std::uint64_t constant) const;
  void store_pointers(const char* line);
  void store_factors(const char* line);
  // Pairs of values k and n - k of the transform of pairs of samples make the spectrum of the samples.
  void store_half(const StageDesign& last);
  void store_twins(const StageDesign& last);
  void folded_pointers();
  void store_in_row(const char* row, const std::string& value, const std::string& index);
  void store_own_mirrors(const StageDesign& last);
  void store_folded_spectrum(const StageDesign& last);
  void store_folded_pairs(const StageDesign& last);
  void put_in_order(const StageDesign& last, std::size_t turns);
  void stage_out(const StageDesign& last, const char* line);
  void store_tile(const StageDesign& last);
  void store_near(const StageDesign& last, const char* line, const char* here);

  RunWriter& runs_;
  TwiddleWriter& twiddle_;
};

}  // namespace ridge::fft::on_device
