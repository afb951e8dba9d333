// Times and checks dedispersion variants while planning, on random bytes.
#pragma once
#include <optional>
#include <vector>

#include "base/aligned.hpp"
#include "search/variant.hpp"

namespace ridge::search {

class Trials final : public planner::Trials<Variant> {
 public:
  Trials(const Device& device, const Layout& layout) : device_(device), layout_(layout) {}
  double seconds(const Variant& variant) override;
  planner::Comparison compare(const Variant& variant) override;

 private:
  void fill();

  Device device_;
  const Layout& layout_;
  base::AlignedArray<std::uint8_t> in_;
  base::AlignedArray<float> out_;
  std::optional<Queue> queue_;
  Buffer device_in_, device_out_;
};

}  // namespace ridge::search
