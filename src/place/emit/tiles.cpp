// Kernel text that loads tiles into local memory and redirects reads to them.
#include "place/emit/tiles.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "place/text/node_text.hpp"
#include "place/text/words.hpp"

namespace ridge::place::emit {
namespace {

// Parses a subscript of kernel text into a polynomial; empty if it is more than sums and products of integers.
class Subscript {
 public:
  explicit Subscript(const std::string& text) : text_(text) {}
  std::optional<Poly> read() {
    const auto p = sum();
    skip();
    return p && at_ == text_.size() ? p : std::nullopt;
  }

 private:
  const std::string& text_;
  std::size_t at_ = 0;

  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::optional<Poly> sum() {
    auto left = product();
    while (left) {
      const bool plus = take('+');
      if (!plus && !take('-')) break;
      const auto right = product();
      if (!right) return {};
      left = left->plus(*right, plus ? 1 : -1);
    }
    return left;
  }
  std::optional<Poly> product() {
    auto left = factor();
    while (left && take('*')) {
      const auto right = factor();
      if (!right) return {};
      left = left->times(*right);
    }
    return left;
  }
  std::optional<Poly> factor() {
    if (take('-')) {
      const auto p = factor();
      return p ? std::optional<Poly>(Poly::constant(0).plus(*p, -1)) : std::nullopt;
    }
    if (take('(')) {
      for (const char* type : {"int)", "uint)", "long)", "ulong)"})  // casts are assumed not to truncate
        if (text_.compare(at_, std::string(type).size(), type) == 0) {
          at_ += std::string(type).size();
          return factor();
        }
      const auto p = sum();
      return p && take(')') ? p : std::nullopt;
    }
    std::size_t end = at_;
    while (end < text_.size() && text::letter(text_[end])) ++end;
    if (end == at_) return {};
    const std::string word = text_.substr(at_, end - at_);
    at_ = end;
    if (std::isdigit(static_cast<unsigned char>(word[0])) == 0) return Poly::symbol(word);
    if (word.size() > 9 || word.find_first_not_of("0123456789") != std::string::npos) return {};
    return Poly::constant(std::stol(word));
  }
};

std::string in_kernel(const Poly& p) {
  std::string text;
  for (const auto& [term, count] : p.terms()) {
    std::string one;
    for (const std::string& s : term) one += (one.empty() ? "" : " * ") + s;
    const long size = std::abs(count);
    if (one.empty())
      one = std::to_string(size);
    else if (size != 1)
      one = std::to_string(size) + " * " + one;
    text += text.empty() ? (count < 0 ? "-" + one : one) : (count < 0 ? " - " : " + ") + one;
  }
  return text.empty() ? "0" : text;
}

std::string low(const Variable& v, std::size_t d) { return v.name + "_from" + std::to_string(d); }
std::string length(const Variable& v, std::size_t d, const criteria::Tile& t) {
  return t.window.fixed[d] > 0 ? std::to_string(t.window.fixed[d]) : v.name + "_long" + std::to_string(d);
}

struct Renamer {
  const Variable& v;
  const std::map<std::string, std::string>& places;  // by the subscript's polynomial: index in the tile
  bool good = true;

  std::string operator()(const std::string& text) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      const bool here = text.compare(at, v.name.size(), v.name) == 0 && (at == 0 || !text::letter(text[at - 1])) &&
                        (at + v.name.size() == text.size() || !text::letter(text[at + v.name.size()]));
      if (!here) {
        result += text[at++];
        continue;
      }
      std::size_t end = at + v.name.size();
      if (end >= text.size() || text[end] != '[') return good = false, text;
      int depth = 1;
      const std::size_t from = ++end;
      for (; end < text.size() && depth > 0; ++end) depth += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
      const std::string inner = text.substr(from, end - from - 1);
      const auto poly = Subscript(inner).read();
      const auto place = poly ? places.find(poly->text()) : places.end();
      if (place == places.end()) return good = false, text;
      result += v.name + "_tile[" + place->second + "]";
      at = end;
    }
    return result;
  }
  void all(Node& node) {
    node.text = (*this)(node.text);
    node.target = (*this)(node.target);
    for (Node& child : node.children) all(child);
  }
};

// Linear index of an element in the array, as kernel text.
std::string address(const Variable& v, const analysis::Relations& relations, std::size_t dimensions) {
  const auto shape = relations.shapes.find(v.array() ? static_cast<int>(&v - relations.nest->variables.data()) : -1);
  const std::size_t rows = shape == relations.shapes.end() ? 0 : shape->second.strides.size();
  std::string text;
  for (std::size_t d = 0; d < dimensions; ++d) {
    long inner = 1;
    for (std::size_t k = d < rows ? 0 : d - rows; k < v.inner.size(); ++k) inner *= v.inner[k];
    std::string by = d < rows ? " * (" + in_kernel(shape->second.strides[d]) + ")" : "";
    if (inner != 1) by += " * " + std::to_string(inner);
    text += (d > 0 ? " + " : "") + ("(long)tile_at" + std::to_string(d)) + by;
  }
  return text;
}

// Loads the tile row by row with 32 work-items per row, so that neighbours load neighbouring elements.
std::string load(const Nest& nest, const criteria::Tile& tile, const analysis::Relations& relations, int items,
                 const std::string& pad) {
  const Variable& v = nest.variables[tile.variable];
  const std::size_t dims = tile.window.low.size(), last = dims - 1;
  const int row = dims == 1 ? items : std::min(32, items);
  std::string rows, text, places;
  if (dims == 1) {
    text = pad + "for (int tile_at0 = item; tile_at0 < " + length(v, 0, tile) + "; tile_at0 += " + std::to_string(row) +
           ") {\n" + pad + "  const long tile_place = (long)" + low(v, 0) + " + tile_at0;\n" + pad + "  " + v.name +
           "_tile[tile_at0] = tile_place >= 0 && tile_place < " + tile_elements(nest, v) + " ? " + v.name +
           "[tile_place] : 0;\n" + pad + "}\n";
    return text;
  }
  for (std::size_t d = 0; d < last; ++d) rows += (d > 0 ? " * " : "") + length(v, d, tile);
  text += pad + "for (int tile_row = item / " + std::to_string(row) + "; tile_row < " + rows +
          "; tile_row += " + std::to_string(items / row) + ") {\n";
  std::string rest = "tile_row";
  for (std::size_t d = last; d-- > 0;) {
    const std::string n = length(v, d, tile), at = d > 0 ? rest + " % " + n : rest;
    places = pad + "  const int tile_at" + std::to_string(d) + " = " + low(v, d) + " + " + at + ";\n" + places;
    rest = "(" + rest + " / " + n + ")";
  }
  const std::string l = std::to_string(last), n = length(v, last, tile);
  text += places + pad + "  for (int tile_column = item % " + std::to_string(row) + "; tile_column < " + n +
          "; tile_column += " + std::to_string(row) + ") {\n" + pad + "    const int tile_at" + l + " = " +
          low(v, last) + " + tile_column;\n" + pad + "    const long tile_place = " + address(v, relations, dims) +
          ";\n" + pad + "    " + v.name + "_tile[tile_row * " + n +
          " + tile_column] = tile_place >= 0 && tile_place < " + tile_elements(nest, v) + " ? " + v.name +
          "[tile_place] : 0;\n" + pad + "  }\n" + pad + "}\n";
  return text;
}

const Node& inmost(const Node& root, std::size_t chain) {
  const Node* at = text::alone(&root);
  for (std::size_t k = 1; k < chain; ++k) at = text::alone(&at->children[0]);
  return at->children[0];
}

}  // namespace

std::string tile_elements(const Nest& nest, const Variable& v) {
  std::string name = v.name + "_elements";
  while (std::any_of(nest.variables.begin(), nest.variables.end(), [&](const Variable& x) { return x.name == name; }))
    name += "_";
  return name;
}

bool boxes(const Nest& nest, const criteria::Choice& choice) {
  if (uses_reserved_names(nest) || choice.reduces || !choice.atomics.empty() || choice.chain.size() > 3 ||
      !nest.jumps.empty())
    return false;
  const Node* at = &nest.root;
  std::vector<std::string> outer;
  for (const int loop : choice.chain) {
    at = text::alone(at);
    const Loop& l = nest.loops[loop];
    if (at->kind != NodeKind::loop || at->loop != loop || !at->guards.empty() || l.step != 1 || l.type != "int" ||
        !l.exact || l.leaves_early > 0 || l.condition.rfind(l.iterator + " <", 0) != 0 ||
        l.condition.find_first_of("&|?") != std::string::npos)
      return false;
    for (const Constraint& c : l.bounds)
      for (const std::string& s : c.poly.symbols())
        if (std::find(outer.begin(), outer.end(), s) != outer.end()) return false;
    outer.push_back(l.iterator);
    at = &at->children[0];
  }
  return true;
}

bool read_from_tile(Node& node, const criteria::Tile& tile, const analysis::Relations& relations) {
  const Nest& nest = *relations.nest;
  const Variable& v = nest.variables[tile.variable];
  std::map<std::string, std::string> places;
  bool known = true;
  text::visit_accesses(nest.root, [&](const Access& a) {
    if (a.variable != tile.variable || !known) return;
    const auto at = analysis::dimensions(relations, a);
    Poly whole;
    for (std::size_t k = 0; k < a.subscripts.size(); ++k) {
      long inner = 1;
      for (std::size_t j = k; j < v.inner.size(); ++j) inner *= v.inner[j];
      whole = whole.plus(a.subscripts[k], inner);
    }
    known = at.has_value() && whole.fits();
    if (!known) return;
    std::string place;
    for (std::size_t d = 0; d < at->size(); ++d) {
      const std::string one = "(" + in_kernel((*at)[d]) + " - " + low(v, d) + ")";
      place = d == 0 ? one : "(" + place + ") * " + length(v, d, tile) + " + " + one;
    }
    places[whole.text()] = place;
  });
  Renamer rename{v, places};
  for (const Loop& l : nest.loops) known = known && !text::names(l.start + " " + l.condition, v.name);
  for (const std::string& f : nest.functions) known = known && !text::names(f, v.name);
  if (known) rename.all(node);
  return known && rename.good;
}

std::string tiled_text(const Nest& nest, const Node& root, const Node& tiled, const std::vector<Loop>& loops,
                       const criteria::Choice& choice, const Blocking& blocking,
                       const std::vector<criteria::Tile>& tiles, const analysis::Relations& relations,
                       const std::vector<std::string>& items) {
  std::string text, end, guard, own, pad = "  ";
  int all = 1;
  for (const std::string& side : items) all *= std::stoi(side);
  for (std::size_t k = 0; k < choice.chain.size(); ++k) {
    const Loop& l = loops[choice.chain[k]];
    const std::string axis = std::to_string(l.axis), group = l.iterator + "_group";
    const std::string width = std::to_string(std::stoi(items[static_cast<std::size_t>(l.axis)]) *
                                             (blocking.blocks() ? blocking.copies[k] : 1));
    text += pad + "for (int " + group + " = " + (l.start == "0" ? "" : l.start + " + ") + "(int)(GROUP_ID(" + axis +
            ") * " + width + "); " + text::replaced(l.condition, l.iterator, group) + "; " + group +
            " += (int)(GROUPS(" + axis + ") * " + width + ")) {\n";
    end = pad + "}\n" + end;
    pad += "  ";
    own += (own.empty() ? "const int " : ", ") + (l.iterator + (blocking.blocks() ? "_first" : "")) + " = " + group +
           " + LOCAL_ID(" + axis + ")";
    guard += (guard.empty() ? "" : " && ") + l.condition;
  }
  std::string fit;
  for (const criteria::Tile& t : tiles) {
    const Variable& v = nest.variables[t.variable];
    std::string size;
    for (std::size_t d = 0; d < t.window.low.size(); ++d) {
      const auto in_words = [](const std::string& isl) {
        return text::replaced(isl, {{"max", "tile_max"}, {"min", "tile_min"}});
      };
      text += pad + "const int " + low(v, d) + " = " + in_words(t.window.low[d]);
      if (t.window.fixed[d] == 0) {
        text += ", " + length(v, d, t) + " = " + in_words(t.window.length[d]);
        fit += (fit.empty() ? "" : " && ") + length(v, d, t) + " > 0";
      }
      text += ";\n";
      size += (d > 0 ? " * " : "(long)") + length(v, d, t);
    }
    if (!t.fits) fit += " && " + size + " <= " + std::to_string(t.elements);
  }
  const std::string inner = fit.empty() ? pad : pad + "  ";
  const auto body = [&](const Node& tree) {
    const int indent = static_cast<int>(inner.size() / 2);
    if (blocking.blocks())
      return inner + own + ";\n" + text::indented(blocked_body(nest, tree, loops, choice, blocking, items), indent - 3);
    return inner + own + ";\n" + inner + "if (" + guard + ") {\n" +
           text::node_text(inmost(tree, choice.chain.size()), loops, indent + 1) + inner + "}\n";
  };
  std::string loads;
  for (const criteria::Tile& t : tiles) loads += load(nest, t, relations, all, inner);
  if (fit.empty()) {
    text += pad + "BARRIER();\n" + loads + pad + "BARRIER();\n" + body(tiled);
  } else {  // barriers outside the branch: it is uniform in the group, but not every compiler detects that
    std::string fits = "tile_fits";
    for (const Variable& v : nest.variables)
      if (v.name.rfind(fits, 0) == 0) fits = v.name + "_";
    for (const Loop& l : loops)
      if (l.iterator.rfind(fits, 0) == 0) fits = l.iterator + "_";
    text += pad + "const int " + fits + " = " + fit + ";\n" + pad + "BARRIER();\n" + pad + "if (" + fits + ") {\n" +
            loads + pad + "}\n" + pad + "BARRIER();\n" + pad + "if (" + fits + ") {\n" + body(tiled) + pad +
            "} else {\n" + body(root) + pad + "}\n";
  }
  return text + end;
}

}  // namespace ridge::place::emit
