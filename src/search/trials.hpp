// Times and checks dedispersion variants while planning, on random bytes, against plain sums.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "search/layout.hpp"
#include "search/variant.hpp"

namespace ridge::search {

// Plain sums over channels in double, with the delays that a variant applies.
double reference_sum(const Layout& layout, std::span<const std::int32_t> delays, const std::uint8_t* in,
                     std::size_t time);

struct SeriesPlace {
  std::size_t trial = 0, time = 0;
};

// The same with exact delays at some places: each channel is extended by its mean to `period` samples (an even number)
// and interpolated by the periodic sinc of that period. Takes channels x row operations per place.
std::vector<double> interpolated_sums(const Layout& layout, std::size_t period, const std::uint8_t* in,
                                      std::span<const SeriesPlace> places);

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
