// Times and checks dedispersion variants while planning, on random bytes.
#pragma once
#include <optional>
#include <vector>

#include "base/aligned.hpp"
#include "search/reference.hpp"
#include "search/variant.hpp"

namespace ridge::search {

// The sums that planning compares with a reference: a sample whose cost is bounded, since plans of any size are
// compared.
std::vector<SeriesPlace> compared_places(const Layout& layout, bool interpolated);

class Trials final : public planner::Trials<Variant> {
 public:
  Trials(const Device& device, const Layout& layout) : device_(device), layout_(layout) {}
  double seconds(const Variant& variant) override;
  planner::Comparison compare(const Variant& variant) override;

 private:
  void fill();
  void allocate_on_device();
  std::vector<float> sums(const Variant& variant, std::span<const SeriesPlace> places);

  Device device_;
  const Layout& layout_;
  base::AlignedArray<std::uint8_t> in_;
  base::AlignedArray<float> out_;
  std::optional<Queue> queue_;
  Buffer device_in_, device_out_;
};

}  // namespace ridge::search
