// Reads and writes images and flow fields; renders a field as a picture and compares two fields.
#pragma once
#include <cstddef>
#include <string>

#include <ridge/image/image.hpp>

namespace ridge::image {

// PNG, PNM (PGM, PPM, PFM), TIFF, JPEG or .npy, detected by the file's first bytes. Error{io} names the file and the
// fault. A header of more than a billion pixels is rejected before memory is allocated.
Image read(const std::string& path);
// Format by file extension; the file appears only when it is complete.
void write(const std::string& path, const Image& image);

// Middlebury .flo, or .npy by file extension: two channels of float, (x, y).
Image read_flow(const std::string& path);
void write_flow(const std::string& path, const Image& flow);

// Direction as hue and length as saturation, full at `most` pixels (0: the longest vector); unknown vectors are black.
Image flow_picture(const Image& flow, double most = 0);

struct FlowErrors {
  std::size_t known = 0;  // vectors known in the ground truth
  double rmse = 0, mean = 0, worst = 0;
  double angular = 0;  // degrees: mean angle between the vectors (x, y, 1)
};
// NaN in the flow makes every figure NaN. Error{invalid_argument} for unequal sizes, or if no vector is known.
FlowErrors compare_flow(const Image& flow, const Image& truth);
Image error_picture(const Image& flow, const Image& truth, double most = 2);  // end-point error as a colour map

}  // namespace ridge::image
