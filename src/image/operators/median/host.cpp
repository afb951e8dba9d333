// Row-wise median filter on the host.
#include <algorithm>

#include "image/methods/host/kernels/row_kernels.hpp"
#include "image/methods/host/rows.hpp"

namespace ridge::image {
namespace {

class MedianStage final : public Stage {
 public:
  MedianStage(const Median& o, const Shape& in) : Stage(in, in, o.radius + 1, 2 * o.radius + 1), radius_(o.radius) {}

  std::size_t scratch() const override { return (2 * radius_ + 1) * (2 * radius_ + 1) + kRowSlack; }
  void make(std::size_t r, RowSource& in, RowSource*, float* out, std::size_t stride, float* scratch) const override {
    const std::size_t side = 2 * radius_ + 1, count = side * side, columns = this->in().columns;
    std::vector<Row> rows;
    rows.reserve(side);
    for (std::size_t i = 0; i < side; ++i)
      rows.push_back(in.row(static_cast<std::ptrdiff_t>(r + i) - static_cast<std::ptrdiff_t>(radius_)));
    std::vector<const float*> from(count);
    for (std::size_t k = 0; k < this->in().channels; ++k) {
      for (std::size_t i = 0; i < count; ++i) from[i] = rows[i / side].plane(k) + i % side - radius_;
      float* to = out + k * stride;
      if (count <= 25) {
        median_of(from.data(), count, to, columns);
        continue;
      }
      for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t i = 0; i < count; ++i) scratch[i] = from[i][c];
        std::nth_element(scratch, scratch + count / 2, scratch + count);
        to[c] = scratch[count / 2];
      }
    }
  }

 private:
  std::size_t radius_;
};

}  // namespace

void median_rows(const Median& o, const Shape& in, std::size_t, Stages& stages) {
  stages.push_back(std::make_unique<MedianStage>(o, in));
}

}  // namespace ridge::image
