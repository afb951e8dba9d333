// Registry of the device methods that serve several operators: one line per method declares and calls its lister.
#include "image/methods/device/steps.hpp"

namespace ridge::image::on_device {

// clang-format off
void list_methods(const Device& device, const Chain& chain, const Link& link, std::vector<StepPlan>& plans) {
  const auto list = [&](StepLister& lister) { lister(device, chain, link, plans); };
  StepLister list_windows; list(list_windows);
  StepLister list_bands; list(list_bands);
  StepLister list_strips; list(list_strips);
  StepLister list_stream_words; list(list_stream_words);
  StepLister list_stream; list(list_stream);
  StepLister list_lanes; list(list_lanes);
  StepLister list_march; list(list_march);
  StepLister list_lines; list(list_lines);
  StepLister list_tile; list(list_tile);
  StepLister list_direct; list(list_direct);
  StepLister list_two_passes; list(list_two_passes);
  StepLister list_spectral; list(list_spectral);
}

}  // namespace ridge::image::on_device
