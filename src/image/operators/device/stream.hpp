#pragma once
#include "image/operators/device/steps.hpp"

namespace ridge::image::on_device {

// For bytes and shorts, and a constant beyond the image that is one.
void list_stream_words(const Device& device, const Chain& chain, const Link& link, const Product& product,
                       std::vector<StepPlan>& plans);

}  // namespace ridge::image::on_device
