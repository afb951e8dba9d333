// Writes the butterfly stages and the exchanges between them: through local memory, whole or in parts, or by shuffles.
#pragma once
#include <cstddef>
#include <string>

#include "fft/device/pass/text/context.hpp"

namespace ridge::fft::on_device {

class ExchangeWriter : PassPart {
 public:
  explicit ExchangeWriter(PassContext& context) : PassPart(context) {}
  void stages();

 private:
  std::string power(std::size_t s) const;
  void stage(std::size_t number);
  std::string local_index(const ExchangeLayout& layout, const StageDesign& stage, const std::string& index) const;
  void write_local(const ExchangeLayout& layout, const StageDesign& stage, const char* array, const char* member);
  void read_local(const ExchangeLayout& layout, const StageDesign& stage, const char* array, const char* member);
  void exchange(std::size_t number);
  // Exchange in parts, if the points do not fit local memory: the work-items that hold a part write it, and all
  // work-items read it into a second set of registers.
  void exchange_in_parts(std::size_t number, const char* member);
  // Two equal radices and as many work-items: point u of item t goes to position t of item u.
  void exchange_by_shuffles();
  // Multiplication between the forward and inverse transform of a convolution.
  void middle();
  void multiply_by_function(const StageDesign& stage, std::size_t round);
};

}  // namespace ridge::fft::on_device
