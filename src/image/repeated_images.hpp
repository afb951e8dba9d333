// Large images on a device whose pixels repeat along both axes (device/repeated.hpp): all pixels of a result are
// compared with the reference of a small image.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "device/repeated.hpp"
#include "image/variant.hpp"
#include "plan/comparison.hpp"

namespace ridge::image {

// Value `i` of row `r`, counted over all channels.
double value_at(const Image& image, std::size_t r, std::size_t i);

// The reference of a problem for images of any size, rounded to the depth of the result.
using SmallReference = std::function<Image(std::span<const Image> in)>;

inline constexpr std::size_t kLargeImage = std::size_t{1} << 22;  // values

class RepeatedImages {
 public:
  // Nothing for results of fewer than `least` values or another size than the inputs, and for operations whose results
  // do not repeat: the references of two small images tell.
  static std::optional<RepeatedImages> make(const Device& device, std::span<const Shape> in, const Shape& out,
                                            const SmallReference& reference, std::size_t least = kLargeImage);
  // Fills images on the device, all of the same pattern.
  void fill(Queue& queue, std::span<const Image> resident) const;
  // The largest difference from the reference; `size` is the root mean square of the expected values.
  struct Difference {
    double worst = 0, size = 0;
    std::size_t row = 0, value = 0;
  };
  Difference compare(Queue& queue, const Image& answer) const;

 private:
  RepeatedImages() = default;

  RepeatedAxis rows_{}, columns_{};
  std::vector<Image> small_{};
  Image expected_{};
};

}  // namespace ridge::image
