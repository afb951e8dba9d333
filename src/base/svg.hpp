// What every chart needs: escaping, axes, ticks, labels that keep clear of each other, one style for light and dark.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ridge::base::svg {

// Safe in text and in attributes of XML and HTML; control characters become spaces.
std::string escape(std::string_view text);

// ` data-key="…" data-value="…"`: the exact number behind what is drawn, for tests and scripts. The first number in the
// element's text must be this value, rounded.
std::string data(std::string_view key, double value);

// Colours and classes of all charts, for a <style> element; follows prefers-color-scheme.
std::string style();
inline constexpr int kSeries = 8;  // classes s0 … s7 (colours of lines), then dashed again
std::string series_class(std::size_t index);

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};
bool overlap(const Box& a, const Box& b);
double text_width(std::string_view text, double font_size);                    // an estimate on the wide side
std::string shortened(std::string_view text, double width, double font_size);  // "tile_padded(ti…" where it is too wide

enum class Spacing { linear, decades, doublings };

// From values to pixels.
struct Axis {
  Spacing spacing = Spacing::linear;
  double low = 0, high = 1;  // values; above 0 unless linear
  double from = 0, to = 1;   // pixels
  double at(double value) const;
  std::vector<double> ticks(std::size_t about) const;
  std::string text(double value) const;  // of a tick
};
Axis linear_axis(double highest, double from, double to);  // from 0 to a round value at or above `highest`
std::string tick_text(double value);                       // "0.25", "64", "1.5k", "20G"

// Where a label goes beside its anchor; where there is no room `shown` is false and only the tooltip tells.
struct Label {
  double x = 0, y = 0;  // anchor
  std::string text;
};
struct Placement {
  Box box;
  bool shown = false;
  bool led = false;  // far enough from its anchor to need a line to it
};
std::vector<Placement> place_labels(const std::vector<Label>& labels, double font_size, const Box& inside,
                                    std::vector<Box> obstacles);

// A row of keys, wrapped to the width; returns its height.
struct Key {
  std::string mark_class;  // of the swatch's line
  std::string name;
  std::string value = {};       // after the name
  std::string attributes = {};  // of the value
};
double legend(const std::vector<Key>& keys, double x, double y, double width, std::string& out);

// <svg …> with a title for screen readers; `standalone` adds the style and the name space a file needs.
std::string open(double width, double height, std::string_view title, bool standalone);

}  // namespace ridge::base::svg
