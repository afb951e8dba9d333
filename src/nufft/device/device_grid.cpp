// Launches the kernels that spread points onto the fine grid and interpolate it at points.
#include "nufft/device/device_grid.hpp"

#include "nufft/kernel.hpp"

namespace ridge::nufft {
namespace {

constexpr std::size_t kBoxItems = 128;  // as in nonuniform.cl

const char* spreading_kernel(Spreading spreading) {
  return spreading == Spreading::matrix   ? "spread_matrix"
         : spreading == Spreading::window ? "spread_window"
                                          : "spread_atomic";
}

// Polynomials of the kernel and of its derivative along each axis.
std::vector<double> kernel_tables(const DeviceDesign& design) {
  const Kernel kernel(design.width, design.upsampling);
  std::vector<double> all = kernel.polynomials();
  for (std::size_t i = 0; i < 3; ++i) {
    const std::vector<double> slope = kernel.slope_polynomials(design.cells[i]);
    all.insert(all.end(), slope.begin(), slope.end());
  }
  return all;
}

}  // namespace

template <class T>
Buffer upload_numbers(const Device& device, const std::vector<double>& wide, const char* name) {
  const std::vector<T> narrow(wide.begin(), wide.end());
  Buffer buffer = device.buffer(narrow.size() * sizeof(T), {.name = name});
  Queue queue = device.queue();
  queue.upload(narrow.data(), buffer, buffer.size());
  queue.finish();
  return buffer;
}

template <class T>
DeviceGrid<T>::DeviceGrid(const Device& device, const DeviceDesign& design, bool fold)
    : design_(design),
      program_(device.compile(nonuniform_source(design))),
      sorter_(device, design, program_, fold),
      spread_(program_.kernel(spreading_kernel(design.spreading))),
      interpolate_(program_.kernel(design.spreading == Spreading::matrix ? "interpolate_matrix" : "interpolate")),
      grid_(device.buffer(design.grid_cells() * (design.real ? 1 : 2) * sizeof(T), {.name = "nufft grid"})),
      tables_(upload_numbers<T>(device, kernel_tables(design), "nufft kernel")) {
  if (!design.real) slopes_ = program_.kernel("interpolate_slopes");
}

template <class T>
Launch DeviceGrid<T>::per_box(std::size_t count) const {
  const std::size_t points = kBoxItems / design_.lanes();
  return {.groups = {(count + points - 1) / points}, .items = {kBoxItems}};
}

template <class T>
void DeviceGrid<T>::spread(Queue& queue, const DevicePoints& points, const Buffer& strengths,
                           std::uint64_t offset) const {
  queue.fill(grid_, std::byte{0});
  if (points.count() == 0) return;
  if (design_.spreading == Spreading::window) {
    queue.launch(
        spread_, {.groups = {points.pieces_count}, .items = {design_.columns(), design_.lines()}},
        {points.records, points.pieces, strengths, grid_, tables_, offset, cells(0), cells(1), cells(2), across()});
  } else if (design_.spreading == Spreading::matrix) {
    queue.launch(spread_, {.groups = {points.pieces_count}, .items = {design_.spread_items()}},
                 {points.records, points.pieces, strengths, grid_, offset, cells(0), cells(1), cells(2), across()});
  } else {
    queue.launch(spread_, per_box(points.count()),
                 {points.records, strengths, grid_, tables_, offset, static_cast<std::uint32_t>(points.count()),
                  cells(0), cells(1), cells(2)});
  }
}

template <class T>
void DeviceGrid<T>::interpolate(Queue& queue, const DevicePoints& points, const Buffer& values,
                                std::uint64_t offset) const {
  if (design_.spreading != Spreading::matrix) return read_boxes(queue, interpolate_, points, values, offset, 0);
  queue.launch(interpolate_, {.groups = {points.pieces_count}, .items = {design_.read_items()}},
               {points.records, points.pieces, grid_, values, offset, cells(0), cells(1), cells(2), across()});
}

template <class T>
void DeviceGrid<T>::read_boxes(Queue& queue, const ridge::Kernel& kernel, const DevicePoints& points,
                               const Buffer& values, std::uint64_t offset, std::uint64_t stride) const {
  queue.launch(kernel, per_box(points.count()),
               {points.records, grid_, values, tables_, offset, stride, static_cast<std::uint32_t>(points.count()),
                cells(0), cells(1), cells(2)});
}

template Buffer upload_numbers<float>(const Device&, const std::vector<double>&, const char*);
template Buffer upload_numbers<double>(const Device&, const std::vector<double>&, const char*);
template class DeviceGrid<float>;
template class DeviceGrid<double>;

}  // namespace ridge::nufft
