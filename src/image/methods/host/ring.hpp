// Ring buffers of rows: rows of an image, or results of a stage.
#pragma once
#include "base/aligned.hpp"
#include "image/methods/host/rows.hpp"

namespace ridge::image {

// Keeps the last `keep` requested rows; other rows are computed again when they are requested.
class Ring : public RowSource {
 public:
  Ring(const Shape& shape, std::size_t pad, std::size_t keep, const Edge& edge);
  Row row(std::ptrdiff_t r) final;

 protected:
  virtual void make(std::size_t r, float* out, std::size_t stride) = 0;  // writes planes of shape.columns values

 private:
  void pad_columns(float* planes) const;

  Shape shape_;
  std::size_t pad_, stride_;
  Edge edge_;
  base::AlignedArray<float> memory_;
  struct Slot {
    std::ptrdiff_t row = -1;
    std::size_t used = 0;
  };
  std::vector<Slot> slots_;
  std::size_t clock_ = 0;
};

class ImageRing final : public Ring {
 public:
  ImageRing(const Image& image, std::size_t pad, std::size_t keep, const Edge& edge)
      : Ring(image.shape(), pad, keep, edge), image_(image) {}

 private:
  void make(std::size_t r, float* out, std::size_t stride) override;
  const Image& image_;
};

// Results of `stage` with input `from`, for the next stage.
class StageRing final : public Ring {
 public:
  StageRing(const Stage& stage, RowSource& from, RowSource* guide, std::size_t pad, std::size_t keep, const Edge& edge);

 private:
  void make(std::size_t r, float* out, std::size_t stride) override;
  const Stage& stage_;
  RowSource& from_;
  RowSource* guide_;
  base::AlignedArray<float> scratch_;
};

// Rounds and clamps the planes if the depth is an integer type.
void round_planes(const Shape& shape, float* planes, std::size_t stride);

}  // namespace ridge::image
