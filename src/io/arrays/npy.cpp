// Parses and writes the header of .npy files.
#include "io/arrays/npy.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>

namespace ridge::io {
namespace {

static_assert(std::endian::native == std::endian::little, ".npy elements are copied as they are");

constexpr std::string_view kNpyMagic = "\x93NUMPY";

struct TypeName {
  ElementType type;
  const char* name;
  const char* code;  // without the byte order
  std::size_t bytes;
};
constexpr TypeName kTypes[] = {
    {ElementType::int8, "int8", "i1", 1},
    {ElementType::uint8, "uint8", "u1", 1},
    {ElementType::int16, "int16", "i2", 2},
    {ElementType::uint16, "uint16", "u2", 2},
    {ElementType::int32, "int32", "i4", 4},
    {ElementType::float32, "float32", "f4", 4},
    {ElementType::float64, "float64", "f8", 8},
    {ElementType::complex64, "complex64", "c8", 8},
    {ElementType::complex128, "complex128", "c16", 16},
};

const TypeName& entry_of(ElementType type) {
  for (const TypeName& one : kTypes) {
    if (one.type == type) return one;
  }
  throw Error(ErrorKind::internal, "an element type without a name");
}

// Parses Python's notation as NumPy writes it: {'descr': '<c8', 'fortran_order': False, 'shape': (3, 4), }
class DictionaryParser {
 public:
  DictionaryParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !type_) {
        type_ = type_of(quoted());
      } else if (key == "fortran_order" && !fortran_) {
        fortran_ = boolean();
      } else if (key == "shape" && !shape_) {
        shape_ = tuple();
      } else {
        fail(fmt::format("key '{}' is unknown or occurs twice", key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) fail("text follows the header's dictionary");
    if (!type_) fail("'descr' is missing");
    if (!fortran_) fail("'fortran_order' is missing");
    if (!shape_) fail("'shape' is missing");
    if (*fortran_ && shape_->size() > 1) {
      fail("it is in Fortran order (first axis fastest); save numpy.ascontiguousarray(array) instead");
    }
    NpyHeader header{*type_, *shape_};
    std::size_t bytes = bytes_of(*type_);
    for (const std::size_t axis : *shape_) {
      if (__builtin_mul_overflow(bytes, axis, &bytes)) fail("its shape exceeds the address space");
    }
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::io, fmt::format("{}: not a .npy file that can be used: {}", name_, what));
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char wanted) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail(fmt::format("'{}' expected at byte {} of the header's dictionary", wanted, at_));
  }
  std::string quoted() {
    skip_space();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) {
      fail(fmt::format("a quoted word expected at byte {} of the header's dictionary (records are not read)", at_));
    }
    const char quote = text_[at_++];
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos || end - at_ > 64) fail("a quoted word does not end");
    const std::string word(text_.substr(at_, end - at_));
    for (const char c : word) {
      if (std::isprint(static_cast<unsigned char>(c)) == 0) fail("a quoted word with unprintable characters");
    }
    at_ = end + 1;
    return word;
  }
  bool boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    fail("'fortran_order' is neither True nor False");
  }
  std::size_t number() {
    skip_space();
    std::size_t value = 0, digits = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_, ++digits) {
      if (__builtin_mul_overflow(value, std::size_t{10}, &value) ||
          __builtin_add_overflow(value, static_cast<std::size_t>(text_[at_] - '0'), &value)) {
        fail("an axis of 'shape' exceeds the address space");
      }
    }
    if (digits == 0) fail("'shape' contains a value that is not a whole number");
    return value;
  }
  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> axes;
    expect('(');
    while (!accept(')')) {
      if (axes.size() == kMaxNpyAxes) fail(fmt::format("more than {} axes", kMaxNpyAxes));
      axes.push_back(number());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return axes;
  }
  ElementType type_of(const std::string& descr) {
    const char order = descr.empty() ? ' ' : descr[0];
    for (const TypeName& one : kTypes) {
      if (descr.size() < 2 || descr.substr(1) != one.code) continue;
      if (order == '<' || order == '=' || (one.bytes == 1 && order == '|')) return one.type;
      if (order == '>') fail(fmt::format("elements of type '{}' are in the other byte order", descr));
    }
    fail(fmt::format(
        "elements of type '{}'; int8, uint8, int16, uint16, int32, float32, float64, complex64 and complex128 are read",
        descr));
  }

  std::string_view text_;
  std::string name_;
  std::size_t at_ = 0;
  std::optional<ElementType> type_;
  std::optional<bool> fortran_;
  std::optional<std::vector<std::size_t>> shape_;
};

}  // namespace

std::size_t bytes_of(ElementType type) { return entry_of(type).bytes; }
const char* name_of(ElementType type) { return entry_of(type).name; }
bool is_complex(ElementType type) { return type == ElementType::complex64 || type == ElementType::complex128; }

std::size_t NpyHeader::elements() const {
  std::size_t count = 1;
  for (const std::size_t axis : shape) count *= axis;
  return count;
}

bool looks_like_npy(std::string_view first_bytes) { return first_bytes.substr(0, kNpyMagic.size()) == kNpyMagic; }

NpyHeader parse_npy_dictionary(std::string_view text, const std::string& name) {
  return DictionaryParser(text, name).parse();
}

NpyHeader read_npy_header(InputStream& in) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::io, fmt::format("{}: not a .npy file that can be used: {}", in.name(), what));
  };
  unsigned char start[8];
  if (in.read(start, 8) != 8 || !looks_like_npy({reinterpret_cast<const char*>(start), 8})) {
    fail("it does not begin with \\x93NUMPY");
  }
  const unsigned version = start[6];
  if (version < 1 || version > 3 || start[7] != 0)
    fail(fmt::format("format version {}.{} is not supported", version, start[7]));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  unsigned char field[4] = {};
  if (in.read(field, length_bytes) != length_bytes) fail("it ends within the header");
  const std::size_t length =
      field[0] | std::size_t{field[1]} << 8 | std::size_t{field[2]} << 16 | std::size_t{field[3]} << 24;
  if (length > kMaxNpyHeader)
    fail(fmt::format("its header has {} bytes, at most {} are supported", length, kMaxNpyHeader));
  std::string text(length, '\0');
  if (in.read(text.data(), length) != length) fail("it ends within the header");
  NpyHeader header = parse_npy_dictionary(text, in.name());
  in.expect(std::uint64_t{header.elements()} * bytes_of(header.type),
            fmt::format("its shape ({}) of {}", fmt::join(header.shape, ", "), name_of(header.type)));
  return header;
}

std::vector<std::array<double, 3>> read_npy_vectors(const std::string& name) {
  InputStream in(name);
  const NpyHeader header = read_npy_header(in);
  const bool narrow = header.type == ElementType::float32;
  if ((header.type != ElementType::float64 && !narrow) || header.shape.size() != 2 || header.shape[1] != 3) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{}: needs the shape (count, 3) of float64 or float32, got ({}) of {}", name,
                            fmt::join(header.shape, ", "), name_of(header.type)));
  }
  std::vector<std::byte> bytes;
  in.read_growing(bytes, header.elements() * bytes_of(header.type));
  std::vector<std::array<double, 3>> vectors(header.shape[0]);
  if (bytes.size() != vectors.size() * 3 * bytes_of(header.type))
    throw Error(ErrorKind::io, fmt::format("{}: it ends within the array", name));
  for (std::size_t i = 0; i < 3 * vectors.size(); ++i) {
    double wide = 0;
    float single = 0;
    narrow ? std::memcpy(&single, bytes.data() + 4 * i, 4) : std::memcpy(&wide, bytes.data() + 8 * i, 8);
    vectors[i / 3][i % 3] = narrow ? static_cast<double>(single) : wide;
  }
  for (const auto& vector : vectors) {
    if (!std::isfinite(vector[0]) || !std::isfinite(vector[1]) || !std::isfinite(vector[2]))
      throw Error(ErrorKind::invalid_argument, fmt::format("{}: has a number that is not finite", name));
  }
  return vectors;
}

std::string npy_header(const NpyHeader& header, std::size_t reserve) {
  const TypeName& type = entry_of(header.type);
  std::string text =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': (", type.bytes == 1 ? '|' : '<', type.code);
  for (std::size_t i = 0; i < header.shape.size(); ++i) text += fmt::format("{}{}", i > 0 ? ", " : "", header.shape[i]);
  text += header.shape.size() == 1 ? ",), }" : "), }";
  // The elements start at a multiple of 64 bytes.
  const std::size_t before = kNpyMagic.size() + 4;
  std::size_t total = std::max(before + text.size() + 1, reserve);
  total = (total + 63) / 64 * 64;
  const std::size_t length = total - before;
  if (length > std::numeric_limits<std::uint16_t>::max()) {
    throw Error(ErrorKind::invalid_argument, "a shape with too many axes for a .npy header");
  }
  text.append(length - text.size() - 1, ' ');
  text += '\n';
  std::string bytes(kNpyMagic);
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(length & 0xff);
  bytes += static_cast<char>(length >> 8);
  return bytes + text;
}

}  // namespace ridge::io
