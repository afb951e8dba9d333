// Converts images between pixel depths.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <ridge/image/image.hpp>

namespace ridge::image {
namespace {

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_floating_point_v<From>) {
    const From most = static_cast<From>(std::numeric_limits<To>::max());
    return value != value ? To{0} : static_cast<To>(std::nearbyint(std::clamp(value, From{0}, most)));
  } else if constexpr (sizeof(To) > sizeof(From)) {
    return static_cast<To>(value * (std::numeric_limits<To>::max() / std::numeric_limits<From>::max()));
  } else {
    constexpr std::uint32_t kStep = std::numeric_limits<From>::max() / std::numeric_limits<To>::max();
    return static_cast<To>((std::uint64_t{value} + kStep / 2) / kStep);  // kStep is odd, so no value is a tie
  }
}

template <class F>
void with_depth(Depth depth, const F& f) {
  switch (depth) {
    case Depth::u8:
      return f(std::uint8_t{});
    case Depth::u16:
      return f(std::uint16_t{});
    case Depth::f32:
      return f(float{});
    case Depth::u32:
      return f(std::uint32_t{});
    case Depth::f64:
      return f(double{});
  }
}

}  // namespace

void convert(const Image& from, Image& to) {
  if (from.rows() != to.rows() || from.columns() != to.columns() || from.channels() != to.channels()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("convert: the images need the same size and channels, got {} and {}", from.shape().text(),
                            to.shape().text()));
  }
  const std::size_t count = from.columns() * from.channels();
  with_depth(from.depth(), [&]<class From>(From) {
    with_depth(to.depth(), [&]<class To>(To) {
      for (std::size_t r = 0; r < from.rows(); ++r) {
        const From* in = from.row<From>(r);
        std::transform(in, in + count, to.row<To>(r), converted<To, From>);
      }
    });
  });
}

}  // namespace ridge::image
