// Operator invert: the largest value of the depth minus each value; 1 - value for floats.
#include <limits>

#include "image/methods/host/row_blocks.hpp"
#include "image/operators/definition.hpp"

namespace ridge::image {
namespace {

template <class T>
constexpr T kTop = std::numeric_limits<T>::max();
template <>
constexpr float kTop<float> = 1;

float top_of(Depth depth) { return depth == Depth::u8 ? 255.0f : depth == Depth::u16 ? 65535.0f : 1.0f; }

class InvertStage final : public Stage {
 public:
  explicit InvertStage(const Shape& in) : Stage(in, in, 0, 1), top_(top_of(in.depth)) {}
  void make(std::size_t r, RowSource& in, RowSource*, float* out, std::size_t stride, float*) const override {
    const Row row = in.row(static_cast<std::ptrdiff_t>(r));
    for (std::size_t k = 0; k < this->in().channels; ++k) {
      const float* from = row.plane(k);
      for (std::size_t c = 0; c < this->in().columns; ++c) out[k * stride + c] = top_ - from[c];
    }
  }

 private:
  float top_;
};

template <class T>
class NativeInvert final : public Native {
 public:
  void run(const Image& in, Image& out, std::size_t threads) const override {
    const std::size_t wide = in.columns() * in.channels();
    in_row_blocks(threads, out.rows(), 32, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        const T* from = in.row<T>(r);
        T* to = out.row<T>(r);
        for (std::size_t i = 0; i < wide; ++i) to[i] = static_cast<T>(kTop<T> - from[i]);
      }
    });
  }
};

bool invert_tile(const Invert&, on_device::StageList& stages) {
  on_device::TileStage made = stages.stage(stages.in(), [top = top_of(stages.in().depth)](on_device::StageText& text) {
    text.line("  {}", text.read("y", "x", "s"));
    text.line("  UNROLL\n  for (int c = 0; c < {}; ++c) v[c] = {} - s[c];", text.channels,
              on_device::literal(double{top}));
  });
  made.reads = on_device::Reads::pixel;
  return stages.add(std::move(made));
}

}  // namespace

template <>
const Definition<Invert>& definition<Invert>() {
  static const Definition<Invert> invert{
      .info = OperatorInfo{.name = "invert",
                           .syntax = "invert",
                           .help = "negative: 255 - value for 8 bits, 65535 - value for 16 bits, 1 - value for floats",
                           .examples = {"invert"}},
      .parse = [](Words&) { return Invert{}; },
      .print = [](const Invert&) { return std::string("invert"); },
      .reference =
          [](const Invert&, const Reference& call) {
            const double top = double{top_of(call.depth)};
            return call.each(call.like_input(), [&](std::ptrdiff_t r, std::ptrdiff_t c, std::size_t k) {
              return top - call.in.at(static_cast<std::size_t>(r), static_cast<std::size_t>(c), k);
            });
          },
      .rows = [](const Invert&, const Shape& in, std::size_t,
                 Stages& stages) { stages.push_back(std::make_unique<InvertStage>(in)); },
      .native = [](const Invert&, const Shape& in, const Edge&) { return native_of_depth<NativeInvert>(in.depth); },
      .tile = invert_tile};
  return invert;
}

}  // namespace ridge::image
