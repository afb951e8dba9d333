// Times and checks variants of the transpose while planning, against the reference.
#pragma once
#include <cstddef>
#include <optional>

#include "base/aligned.hpp"
#include "transpose/layout.hpp"
#include "transpose/variant.hpp"

namespace ridge::transpose {

class Trials final : public planner::Trials<Variant> {
 public:
  Trials(const Device& device, const Layout& layout) : device_(device), layout_(layout) {}
  double seconds(const Variant& variant) override;
  planner::Comparison compare(const Variant& variant) override;

 private:
  using Memory = base::AlignedArray<std::byte>;
  void fill_host();
  void before(Memory& output) const;  // initial contents of the output before a variant runs
  double on_host(const Variant& variant);
  double on_device(const Variant& variant);

  Device device_;
  Layout layout_;
  Memory host_in_, host_out_, input_, expected_, answer_;
  std::optional<Queue> queue_;
  Buffer in_, out_;
};

// Reference implementation that every variant is compared with.
// `in` and `out` must not overlap, also for an in-place layout. Gaps between the output's rows are not written.
void reference(const Layout& layout, const std::byte* in, std::byte* out);

}  // namespace ridge::transpose
