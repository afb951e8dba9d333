// Draws fields, legends and text into an image.
#include "io/images/picture.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/aligned.hpp"
#include "base/svg.hpp"

namespace ridge::io {
namespace {

constexpr Colour kPaper{255, 255, 255}, kInk{30, 30, 36}, kFrame{140, 140, 146}, kCurve{32, 80, 180};
constexpr std::size_t kScale = 2;  // pixels per font pixel
constexpr std::size_t kMargin = 12, kBarGap = 16, kBarWidth = 20, kTick = 5;
constexpr std::size_t kLine = kGlyphHeight * kScale, kLetter = kGlyphPitch * kScale;
constexpr std::size_t kNumberLetters = 9;  // "-1.25e-06"

template <class T>
double value_at(const std::byte* bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes + index * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

double cell_value(ElementType type, const std::byte* bytes, std::size_t index) {
  switch (type) {
    case ElementType::int8:
      return value_at<std::int8_t>(bytes, index);
    case ElementType::uint8:
      return value_at<std::uint8_t>(bytes, index);
    case ElementType::int16:
      return value_at<std::int16_t>(bytes, index);
    case ElementType::uint16:
      return value_at<std::uint16_t>(bytes, index);
    case ElementType::int32:
      return value_at<std::int32_t>(bytes, index);
    case ElementType::float32:
      return value_at<float>(bytes, index);
    default:
      return value_at<double>(bytes, index);
  }
}

// The field reduced to at most one value per pixel: the mean of the cells that the pixel covers.
class Reduced {
 public:
  Reduced(std::size_t rows, std::size_t columns, std::size_t longest)
      : rows_(rows), columns_(columns), every_((std::max(rows, columns) - 1) / longest + 1) {
    height = (rows - 1) / every_ + 1;
    width = (columns - 1) / every_ + 1;
    sums_.assign(height * width, 0);
  }

  void take_row(std::size_t row, ElementType type, const std::byte* cells, std::size_t first) {
    double* sums = sums_.data() + row / every_ * width;
    for (std::size_t column = 0; column < columns_; ++column) {
      const double value = cell_value(type, cells, first + column);
      sums[column / every_] += value;
      if (std::isfinite(value)) {
        least = std::min(least, value);
        greatest = std::max(greatest, value);
      } else {
        ++not_numbers;
      }
    }
  }

  double at(std::size_t y, std::size_t x) const {
    const std::size_t tall = std::min(every_, rows_ - y * every_), wide = std::min(every_, columns_ - x * every_);
    return sums_[y * width + x] / static_cast<double>(tall * wide);
  }

  std::size_t height = 0, width = 0, not_numbers = 0;
  double least = std::numeric_limits<double>::infinity(), greatest = -std::numeric_limits<double>::infinity();

 private:
  std::size_t rows_, columns_, every_;
  std::vector<double> sums_;
};

Reduced reduce(const GridSource& source, std::size_t field, std::size_t longest) {
  const auto& shape = source.shape;
  if (shape.size() == 1) {
    Reduced line(1, shape[0], longest);
    base::AlignedArray<std::byte> cells(shape[0] * bytes_of(source.type));
    source.read(field, 0, shape[0], cells.data());
    line.take_row(0, source.type, cells.data(), 0);
    return line;
  }
  if (shape.size() == 3) {
    Reduced plane(shape[1], shape[2], longest);
    base::AlignedArray<std::byte> cells(source.slab_cells() * bytes_of(source.type));
    source.read(field, shape[0] / 2, shape[0] / 2 + 1, cells.data());
    for (std::size_t y = 0; y < shape[1]; ++y) plane.take_row(y, source.type, cells.data(), y * shape[2]);
    return plane;
  }
  Reduced plane(shape[0], shape[1], longest);
  for_each_piece(source, field, [&](std::size_t, std::size_t begin, std::size_t end, const std::byte* cells) {
    for (std::size_t y = begin; y < end; ++y) plane.take_row(y, source.type, cells, (y - begin) * shape[1]);
  });
  return plane;
}

void draw_text(Raster& raster, std::size_t x, std::size_t y, const std::string& text) {
  for (const char letter : text) {
    const auto rows = glyph(letter);
    for (std::size_t v = 0; v < kGlyphHeight * kScale; ++v) {
      for (std::size_t u = 0; u < kGlyphWidth * kScale; ++u) {
        if ((rows[v / kScale] >> (kGlyphWidth - 1 - u / kScale) & 1) != 0) raster.set(x + u, y + v, kInk);
      }
    }
    x += kLetter;
  }
}

void draw_frame(Raster& raster, std::size_t x, std::size_t y, std::size_t width, std::size_t height) {
  for (std::size_t i = 0; i <= width + 1; ++i) {
    raster.set(x - 1 + i, y - 1, kFrame);
    raster.set(x - 1 + i, y + height, kFrame);
  }
  for (std::size_t i = 0; i <= height + 1; ++i) {
    raster.set(x - 1, y - 1 + i, kFrame);
    raster.set(x + width, y - 1 + i, kFrame);
  }
}

struct Range {
  double low, high;
  double share(double value) const {
    return high > low ? (value - low) / (high - low) : std::isnan(value) ? value : 0.5;
  }
};

// Draws the colour bar, with numbers at its ends and in between.
void draw_legend(Raster& raster, const Picture::Area& field, const ColourMap& map, const Range& range) {
  const std::size_t x = field.x + field.width + kBarGap;
  for (std::size_t v = 0; v < field.height; ++v) {
    const double share = 1 - (static_cast<double>(v) + 0.5) / static_cast<double>(field.height);
    for (std::size_t u = 0; u < kBarWidth; ++u) raster.set(x + u, field.y + v, map.at(share));
  }
  draw_frame(raster, x, field.y, kBarWidth, field.height);
  const std::size_t steps = std::clamp<std::size_t>(field.height / (3 * kLine), 1, 8);
  for (std::size_t i = 0; i <= steps; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(steps);
    const auto down = static_cast<std::size_t>(std::lround((1 - share) * static_cast<double>(field.height - 1)));
    for (std::size_t u = 0; u < kTick; ++u) raster.set(x + kBarWidth + u, field.y + down, kInk);
    const std::size_t middle = field.y + down;
    draw_text(raster, x + kBarWidth + kTick + 4, middle > kLine / 2 ? middle - kLine / 2 : 0,
              legend_number(range.low + share * (range.high - range.low)));
  }
}

// Draws ticks and numbers below and left of the field, axis names below the numbers and above the field.
struct AxisDrawer {
  Raster& raster;
  const Picture::Area& field;

  static std::size_t centred(double middle, std::size_t length) {
    return static_cast<std::size_t>(std::max(middle - static_cast<double>(length) / 2, 0.0));
  }
  // Maps values to pixels, from the centre of the first cell to the centre of the last.
  static base::svg::Axis axis_of(const PictureAxis& axis, std::size_t cells, std::size_t from, std::size_t pixels) {
    const double half = static_cast<double>(pixels) / static_cast<double>(cells) / 2;
    const double last = axis.first + axis.step * static_cast<double>(cells - 1);
    return {base::svg::Spacing::linear, axis.first, last, static_cast<double>(from) + half,
            static_cast<double>(from + pixels) - half};
  }
  void draw_x(const PictureAxis& axis, std::size_t cells) const {
    const base::svg::Axis x = axis_of(axis, cells, field.x, field.width);
    const std::size_t below = field.y + field.height + 1;
    for (const double value : x.ticks(std::max<std::size_t>(field.width / (kNumberLetters * kLetter), 1))) {
      const auto at = static_cast<std::size_t>(std::lround(x.at(value)));
      for (std::size_t v = 0; v < kTick; ++v) raster.set(at, below + v, kInk);
      const std::string number = legend_number(value);
      draw_text(raster, centred(x.at(value), number.size() * kLetter), below + kTick + 3, number);
    }
    draw_text(raster,
              centred(static_cast<double>(field.x) + static_cast<double>(field.width) / 2, axis.name.size() * kLetter),
              below + kTick + kLine + 9, axis.name);
  }
  void draw_y(const PictureAxis& axis, std::size_t cells, bool up) const {
    base::svg::Axis y = axis_of(axis, cells, field.y, field.height);
    if (up) std::swap(y.from, y.to);
    for (const double value : y.ticks(std::max<std::size_t>(field.height / (4 * kLine), 1))) {
      const auto at = static_cast<std::size_t>(std::lround(y.at(value)));
      for (std::size_t u = 0; u < kTick; ++u) raster.set(field.x - 2 - u, at, kInk);
      const std::string number = legend_number(value);
      draw_text(raster, field.x - kTick - 6 - number.size() * kLetter, centred(y.at(value), kLine), number);
    }
    draw_text(raster, kMargin, field.y - kLine - 8, axis.name);
  }
};

// Draws a profile as a curve that joins consecutive values.
void draw_curve(Raster& raster, const Picture::Area& area, const Reduced& line, const Range& range) {
  const auto height_of = [&](std::size_t x) -> double {
    const double share = range.share(line.at(0, x));
    return std::isnan(share) ? share : (1 - std::clamp(share, 0.0, 1.0)) * static_cast<double>(area.height - 1);
  };
  const std::size_t zoom = area.width / line.width;
  for (std::size_t x = 0; x < line.width; ++x) {
    const double here = height_of(x), next = x + 1 < line.width ? height_of(x + 1) : here;
    for (std::size_t u = 0; u < zoom; ++u) {
      const double share = static_cast<double>(u) / static_cast<double>(zoom);
      const double from = here + share * (next - here);
      const double to = here + (share + 1 / static_cast<double>(zoom)) * (next - here);
      if (std::isnan(from) || std::isnan(to)) continue;
      for (auto y = std::lround(std::min(from, to)); y <= std::lround(std::max(from, to)); ++y) {
        raster.set(area.x + x * zoom + u, area.y + static_cast<std::size_t>(y), kCurve);
        raster.set(area.x + x * zoom + u, area.y + static_cast<std::size_t>(y) + 1, kCurve);
      }
    }
  }
}

}  // namespace

std::string legend_number(double value) {
  if (std::abs(value) < 1e-300) return "0";
  return fmt::format("{:.3g}", value);
}

Picture draw_field(const GridSource& source, std::size_t field, const PictureOptions& options) {
  check(source);
  if (field >= source.names.size() || options.longest == 0) {
    throw Error(ErrorKind::invalid_argument, "a picture needs an existing field and at least one pixel");
  }
  const ColourMap& map = colour_map(options.map);
  const Reduced shown = reduce(source, field, options.longest);
  Picture picture;
  const bool any = shown.least <= shown.greatest;
  picture.least = any ? shown.least : 0;
  picture.greatest = any ? shown.greatest : 0;
  picture.not_numbers = shown.not_numbers;
  Range range{options.low.value_or(picture.least), options.high.value_or(picture.greatest)};
  if (map.diverging && !options.low && !options.high) {
    range.high = std::max(std::abs(range.low), std::abs(range.high));
    range.low = -range.high;
  }

  const bool curve = source.shape.size() == 1;
  const std::size_t zoom = std::max<std::size_t>(1, options.longest / std::max(shown.width, shown.height));
  Picture::Area& area = picture.field;
  area.width = shown.width * zoom;
  area.height = curve ? std::max<std::size_t>(64, options.longest / 3) : shown.height * zoom;
  std::string below = fmt::format("min {} max {}", legend_number(picture.least), legend_number(picture.greatest));
  if (picture.not_numbers > 0) below += fmt::format(" not numbers {}", picture.not_numbers);
  std::size_t width = area.width, height = area.height;
  const auto drawn = [&](const PictureAxis& axis, std::size_t cells) {
    return axis.step > 0 && cells > 1 && options.legend && !curve;
  };
  const std::size_t columns = source.shape.back(), rows = curve ? 1 : source.shape[source.shape.size() - 2];
  const bool x_axis = drawn(options.x, columns), y_axis = drawn(options.y, rows);
  const std::size_t axis_height = x_axis ? kTick + 2 * kLine + 12 : 0;
  if (options.legend) {
    area.x = y_axis ? kMargin + kNumberLetters * kLetter + kTick + 6 : kMargin;
    area.y = (options.title.empty() ? kMargin : kMargin + kLine + 8) + (y_axis ? kLine + 8 : 0);
    const std::size_t longest_text = std::max(options.title.size(), below.size()) * kLetter + area.x + kMargin;
    width = std::max(area.x + area.width + kBarGap + kBarWidth + kTick + 4 + kNumberLetters * kLetter + kMargin,
                     longest_text);
    height = area.y + area.height + axis_height + 8 + kLine + kMargin;
  }
  picture.raster = Raster(width, height, kPaper);
  if (curve) {
    draw_curve(picture.raster, area, shown, range);
  } else {
    for (std::size_t y = 0; y < area.height; ++y) {
      const std::size_t row = options.y_up ? shown.height - 1 - y / zoom : y / zoom;
      for (std::size_t x = 0; x < area.width; ++x) {
        picture.raster.set(area.x + x, area.y + y, map.at(range.share(shown.at(row, x / zoom))));
      }
    }
  }
  if (!options.legend) return picture;
  draw_frame(picture.raster, area.x, area.y, area.width, area.height);
  draw_legend(picture.raster, area, map, range);
  draw_text(picture.raster, area.x, kMargin, options.title);
  draw_text(picture.raster, area.x, area.y + area.height + axis_height + 8, below);
  const AxisDrawer axes{picture.raster, area};
  if (x_axis) axes.draw_x(options.x, columns);
  if (y_axis) axes.draw_y(options.y, rows, options.y_up);
  return picture;
}

}  // namespace ridge::io
