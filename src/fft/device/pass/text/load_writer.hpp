// Writes the loads of a pass: points from global memory, or from a run in local memory, into registers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "fft/device/pass/partition_blocks.hpp"
#include "fft/device/pass/text/run_writer.hpp"

namespace ridge::fft::on_device {

class LoadWriter : PassPart {
 public:
  LoadWriter(PassContext& context, RunWriter& runs) : PassPart(context), runs_(runs) {}
  void load();

 private:
  // The value of point `p` (an expression: i plus a constant) of the line at `from`.
  std::string fetched(const std::string& index, std::uint64_t constant);
  // A number, or a pair of them, converted to the arithmetic type of the pass.
  std::string loaded(const std::string& pointer, bool pair) const;
  std::string factored(const std::string& value, const std::string& index, std::uint64_t constant);
  void load_pointers();
  void factor_pointer();
  void load_point(std::size_t slot, std::uint64_t constant);
  // Element `number` of the half spectrum, times its factor.
  std::string spectrum_value(const std::string& number);
  std::string kept_value(const std::string& number, std::uint64_t low, std::uint64_t high);
  void load_half(std::size_t slot, const std::string& place, std::uint64_t constant);
  void load_paired_lines();
  void folded_pointers();
  void copied_rows();
  std::string partition_row();
  void exchange_folded();
  void load_folded(std::size_t slot, const std::string& place);
  void load_box(std::size_t slot, std::uint64_t constant);
  void load_hermitian(std::size_t slot, const std::string& place);

  RunWriter& runs_;
  std::optional<PartitionPointers> partition_pointers_ = {};
};

}  // namespace ridge::fft::on_device
