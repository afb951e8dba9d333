// Reads and writes images, frames and integral sums as files.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <ridge/image/files.hpp>

#include "base/files.hpp"
#include "image/flow/plane.hpp"
#include "io/arrays/npy.hpp"
#include "io/images/pixels.hpp"

namespace ridge::image {
namespace {

// integral() sums need all digits of double; float would round them.
void write_sums(const std::string& path, const Image& image) {
  io::NpyHeader header{io::ElementType::float64, {image.rows(), image.columns()}};
  if (image.channels() > 1) header.shape.push_back(image.channels());
  std::string bytes = io::npy_header(header);
  std::vector<double> row(image.columns() * image.channels());
  for (std::size_t r = 0; r < image.rows(); ++r) {
    if (image.depth() == Depth::f64) {
      std::copy_n(image.row<double>(r), row.size(), row.begin());
    } else {
      std::copy_n(image.row<std::uint32_t>(r), row.size(), row.begin());
    }
    bytes.append(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(double));
  }
  base::write_file(path, bytes);
}

}  // namespace

Image read(const std::string& path) {
  const io::Pixels pixels = io::read_pixels(path);
  const Depth depth = pixels.sample == io::Sample::u8    ? Depth::u8
                      : pixels.sample == io::Sample::u16 ? Depth::u16
                                                         : Depth::f32;
  return Image::view(static_cast<const void*>(pixels.bytes.data()),
                     {.rows = pixels.height, .columns = pixels.width, .channels = pixels.channels, .depth = depth})
      .clone();
}

void write(const std::string& path, const Image& image) {
  const bool sums = image.depth() == Depth::u32 || image.depth() == Depth::f64;
  if (sums && path.ends_with(".npy")) return write_sums(path, image);
  io::Pixels pixels;
  pixels.width = image.columns();
  pixels.height = image.rows();
  pixels.channels = image.channels();
  Image source = image;
  if (sums) {  // formats other than .npy store them as float
    Shape shape = image.shape();
    shape.depth = Depth::f32;
    source = Image(shape);
    convert(image, source);
  }
  pixels.sample = source.depth() == Depth::u8    ? io::Sample::u8
                  : source.depth() == Depth::u16 ? io::Sample::u16
                                                 : io::Sample::f32;
  const std::size_t row = source.shape().row_bytes();
  pixels.bytes.resize(row * source.rows());
  for (std::size_t r = 0; r < source.rows(); ++r) {
    std::memcpy(pixels.bytes.data() + r * row, std::as_const(source).row<std::byte>(r), row);
  }
  io::write_pixels(path, pixels);
}

Image read_flow(const std::string& path) {
  if (path.ends_with(".npy")) {
    const Image flow = read(path);
    check_field(flow);
    return flow;
  }
  const io::FlowField field = io::read_flo(path);
  return Image::view(static_cast<const void*>(field.vectors.data()),
                     {.rows = field.height, .columns = field.width, .channels = 2, .depth = Depth::f32})
      .clone();
}

void write_flow(const std::string& path, const Image& flow) {
  check_field(flow);
  if (path.ends_with(".npy")) return write(path, flow);
  io::FlowField field{flow.columns(), flow.rows()};
  field.vectors.resize(2 * flow.rows() * flow.columns());
  for (std::size_t r = 0; r < flow.rows(); ++r) {
    std::memcpy(field.vectors.data() + r * 2 * flow.columns(), flow.row<float>(r), flow.shape().row_bytes());
  }
  base::write_file(path, io::encode_flo(field));
}

}  // namespace ridge::image
