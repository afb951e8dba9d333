// Conversion to gray on the host: row-wise on float planes, and in the image's own type.
#include "image/methods/host/kernels/native_kernels.hpp"
#include "image/methods/host/kernels/row_kernels.hpp"
#include "image/methods/host/native.hpp"
#include "image/methods/host/row_blocks.hpp"
#include "image/methods/host/rows.hpp"

namespace ridge::image {
namespace {

class GrayStage final : public Stage {
 public:
  explicit GrayStage(const Shape& in) : Stage(in, output_shape(Gray{}, in), 0, 1) {}
  void make(std::size_t r, RowSource& in, RowSource*, float* out, std::size_t, float*) const override {
    const Row row = in.row(static_cast<std::ptrdiff_t>(r));
    const float* planes[3] = {row.plane(0), row.plane(1), row.plane(2)};
    constexpr float kWeights[3] = {static_cast<float>(Gray::kWeights[0]), static_cast<float>(Gray::kWeights[1]),
                                   static_cast<float>(Gray::kWeights[2])};
    weighted_sum(planes, kWeights, 3, out, this->in().columns);
  }
};

// Dynamic scheduling: a block of rows takes a few tenths of a millisecond.
template <class T>
class NativeGray final : public Native {
 public:
  void run(const Image& in, Image& out, std::size_t threads) const override {
    in_row_blocks(threads, out.rows(), 32, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) gray_row(in.row<T>(r), in.channels(), in.columns(), out.row<T>(r));
    });
  }
};

}  // namespace

void gray_rows(const Gray&, const Shape& in, std::size_t, Stages& stages) {
  stages.push_back(std::make_unique<GrayStage>(in));
}

std::unique_ptr<Native> native_gray(const Gray&, const Shape& in, const Edge&) {
  return native_of_depth<NativeGray>(in.depth);
}

}  // namespace ridge::image
