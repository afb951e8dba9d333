// Registry of all device variants of single operators: one line per variant declares and calls its lister.
#include "image/operators/device/steps.hpp"

namespace ridge::image::on_device {

// clang-format off
std::vector<StepPlan> list_steps(const Device& device, Chain chain, const Link& link) {
  std::vector<StepPlan> plans;
  for (const Operation& operation : link.operations) {  // one operator and the grays next to it
    if (!std::holds_alternative<Gray>(operation)) chain.border = border_for(operation, chain.given);
  }
  const auto list = [&](StepLister& lister) { lister(device, chain, link, plans); };
  StepLister list_point; list(list_point);
  StepLister list_gradient; list(list_gradient);
  StepLister list_sums; list(list_sums);
  StepLister list_windows; list(list_windows);
  StepLister list_bands; list(list_bands);
  StepLister list_strips; list(list_strips);
  StepLister list_stream_words; list(list_stream_words);
  StepLister list_stream; list(list_stream);
  StepLister list_lanes; list(list_lanes);
  StepLister list_march; list(list_march);
  StepLister list_downscale_by_two; list(list_downscale_by_two);
  StepLister list_phases; list(list_phases);
  StepLister list_blend; list(list_blend);
  StepLister list_resample; list(list_resample);
  StepLister list_enlarge; list(list_enlarge);
  StepLister list_lines; list(list_lines);
  StepLister list_transpose; list(list_transpose);
  StepLister list_tile; list(list_tile);
  StepLister list_direct; list(list_direct);
  StepLister list_two_passes; list(list_two_passes);
  StepLister list_spectral; list(list_spectral);
  StepLister list_corner_sums; list(list_corner_sums);
  return plans;
}

}  // namespace ridge::image::on_device
