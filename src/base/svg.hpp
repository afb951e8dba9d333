// Parts shared by all SVG charts: escaping, axes, ticks, non-overlapping labels, and a light and dark style.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ridge::base::svg {

// Escapes text for XML and HTML content and attributes; control characters become spaces.
std::string escape(std::string_view text);

// ` data-key="…" data-value="…"`: the exact value of a drawn element, for tests and scripts. The first number in the
// element's text must be this value, rounded.
std::string data(std::string_view key, double value);

// Colours and classes of all charts for a <style> element. Follows prefers-color-scheme.
std::string style();
inline constexpr int kSeries = 8;  // classes s0 … s7 (line colours); further series repeat them dashed
std::string series_class(std::size_t index);

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};
bool overlap(const Box& a, const Box& b);
double text_width(std::string_view text, double font_size);  // estimate, rather too wide than too narrow
std::string shortened(std::string_view text, double width, double font_size);  // "tile_padded(ti…" if it is too wide

enum class Spacing { linear, decades, doublings };

// Maps values to pixels.
struct Axis {
  Spacing spacing = Spacing::linear;
  double low = 0, high = 1;  // values; positive unless linear
  double from = 0, to = 1;   // pixels
  double at(double value) const;
  std::vector<double> ticks(std::size_t about) const;
  std::string text(double value) const;  // label of a tick
};
Axis linear_axis(double highest, double from, double to);  // from 0 to a round value of at least `highest`
std::string tick_text(double value);                       // "0.25", "64", "1.5k", "20G"

// A label and its position beside its anchor. If there is no room, `shown` is false and only the tooltip shows the
// text.
struct Label {
  double x = 0, y = 0;  // anchor
  std::string text;
};
struct Placement {
  Box box;
  bool shown = false;
  bool needs_leader = false;  // far from its anchor: drawn with a leader line
};
std::vector<Placement> place_labels(const std::vector<Label>& labels, double font_size, const Box& inside,
                                    std::vector<Box> obstacles);

// Draws a legend as a row of keys, wrapped to the width; returns its height.
struct Key {
  std::string mark_class;  // class of the swatch's line
  std::string name;
  std::string value = {};       // printed after the name
  std::string attributes = {};  // attributes of the value's element
};
double legend(const std::vector<Key>& keys, double x, double y, double width, std::string& out);

// The opening <svg …> tag with a title for screen readers; `standalone` adds the style and the namespace that a file
// needs.
std::string open(double width, double height, std::string_view title, bool standalone);

}  // namespace ridge::base::svg
