// Images and flow fields in files, a field as a picture, and how far two fields lie apart.
#pragma once
#include <cstddef>
#include <string>

#include <ridge/image/image.hpp>

namespace ridge::image {

// PNG, PNM (PGM, PPM, PFM), TIFF, JPEG, .npy: by what the file begins with. Error{io} names the file and what is wrong;
// a header that promises more than a billion pixels is refused before memory is taken.
Image read(const std::string& path);
// By the name's ending; the file is there when it is whole.
void write(const std::string& path, const Image& image);

// Middlebury's .flo, or .npy where the name ends so: two channels of float, (x, y).
Image read_flow(const std::string& path);
void write_flow(const std::string& path, const Image& flow);

// Directions as hues, lengths as saturation, full at `most` pixels (0: the longest vector); unknown vectors are black.
Image flow_picture(const Image& flow, double most = 0);

struct FlowErrors {
  std::size_t known = 0;  // vectors that are known in the truth
  double rmse = 0, mean = 0, worst = 0;
  double angular = 0;  // degrees, the mean of the angle between (x, y, 1)
};
// NaN in the flow makes every figure NaN. Error{invalid_argument} for unequal sizes, or nothing known.
FlowErrors compare_flow(const Image& flow, const Image& truth);
Image error_picture(const Image& flow, const Image& truth, double most = 2);  // the end-point error as a colour map

}  // namespace ridge::image
