// Row-wise conversion to gray on the host.
#include "image/operators/host/row_kernels.hpp"
#include "image/operators/host/rows.hpp"
#include "image/operators/settings.hpp"

namespace ridge::image {
namespace {

class GrayStage final : public Stage {
 public:
  explicit GrayStage(const Shape& in) : Stage(in, output_shape(Gray{}, in), 0, 1) {}
  void make(std::size_t r, RowSource& in, RowSource*, float* out, std::size_t, float*) const override {
    const Row row = in.row(static_cast<std::ptrdiff_t>(r));
    const float* planes[3] = {row.plane(0), row.plane(1), row.plane(2)};
    constexpr float kWeights[3] = {static_cast<float>(kGrayWeights[0]), static_cast<float>(kGrayWeights[1]),
                                   static_cast<float>(kGrayWeights[2])};
    weighted_sum(planes, kWeights, 3, out, this->in().columns);
  }
};

}  // namespace

std::unique_ptr<Stage> gray_stage(const Shape& in) { return std::make_unique<GrayStage>(in); }

}  // namespace ridge::image
