#pragma once
#include "image/operators/device/steps.hpp"

namespace ridge::image::on_device {

// For bytes and shorts, and a constant beyond the image that is one.
void list_stream_words(const Device& device, const Chain& chain, const Link& link, const Product& product,
                       std::vector<StepPlan>& plans);
// For bytes, on matrix units.
void list_strips(const Device& device, const Chain& chain, const Link& link, const Product& product,
                 std::vector<StepPlan>& plans);
bool never_beyond(const Product& product);  // weights that make no value greater or negative

}  // namespace ridge::image::on_device
