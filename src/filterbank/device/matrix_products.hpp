// Products on the matrix units, as text: halves in, floats summed.
#pragma once
#include <cstddef>
#include <string>

namespace ridge::filterbank::on_device {

// matrix_multiply_16 and _8 (16 x 16 or 16 x 8 times 8 columns) and what makes halves. A device without matrix units
// imitates them through IMITATION_WORDS of local memory behind the kernel's own, declared by FRAGMENTS(place); the text
// names the work-item, its lane and its warp `item`, `lane` and `warp`.
std::string matrix_words_text(std::size_t items);

}  // namespace ridge::filterbank::on_device
