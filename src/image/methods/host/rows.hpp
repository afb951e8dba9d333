// Row-wise execution of operator chains. A stage computes one output row from rows of its input, which the previous
// stage computes on request and keeps in a ring buffer, so data between operators stay in the cache. Rows are float
// planes, one per channel. Values of integer depths are rounded after every operator, so a chain gives the same result
// as its operators one by one.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "image/methods/weights.hpp"

namespace ridge::image {

inline constexpr std::size_t kRowSlack = 64;  // floats that a plane may be read and written beyond its end

// A row: one plane per channel, `stride` floats apart, each with `pad` columns before its first and after its last.
struct Row {
  const float* values = nullptr;  // column 0 of channel 0
  std::size_t stride = 0;
  const float* plane(std::size_t channel) const { return values + channel * stride; }
};

class RowSource {
 public:
  virtual ~RowSource() = default;
  // Row r with columns [-pad, columns + pad) filled according to the border; r may be outside the image. It stays valid
  // until `keep` more rows were requested.
  virtual Row row(std::ptrdiff_t r) = 0;
};

// One operator of a row-wise chain; immutable, shared by all threads.
class Stage {
 public:
  Stage(const Shape& in, const Shape& out, std::size_t pad, std::size_t keep)
      : in_(in), out_(out), pad_(pad), keep_(keep) {}
  virtual ~Stage() = default;
  const Shape& in() const { return in_; }
  const Shape& out() const { return out_; }
  std::size_t pad() const { return pad_; }           // columns read beyond the edges
  std::size_t keep() const { return keep_; }         // input rows needed at once
  virtual std::size_t scratch() const { return 0; }  // floats per thread
  // Computes output row r as planes `stride` floats apart. `guide` provides the second input's rows, if there is one.
  virtual void make(std::size_t r, RowSource& in, RowSource* guide, float* out, std::size_t stride,
                    float* scratch) const = 0;
  virtual bool wants_guide() const { return false; }
  // Rows r to r + rows_at_once() - 1 are cheaper to compute together; some may be beyond the last.
  static constexpr std::size_t kMostRows = 4;
  virtual std::size_t rows_at_once() const { return 1; }
  virtual void make_rows(std::size_t r, RowSource& in, RowSource* guide, float* const* outs, std::size_t stride,
                         float* scratch) const {
    make(r, in, guide, outs[0], stride, scratch);
  }

 private:
  Shape in_, out_;
  std::size_t pad_, keep_;
};

struct Edge {
  Border border = Border::reflect_101;
  float constant = 0;
};

using Stages = std::vector<std::shared_ptr<const Stage>>;

// Separable filter; step 2 keeps every second row and column.
std::unique_ptr<Stage> separable_stage(const Product& product, const Shape& in, const Shape& out);

}  // namespace ridge::image
