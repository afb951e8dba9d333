// Reads and writes flow fields in Middlebury's .flo format.
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/files.hpp"
#include "io/images/pixels.hpp"

namespace ridge::io {
namespace {

constexpr float kFloMagic = 202021.25f;
struct Header {
  float magic;
  std::int32_t width, height;
};
constexpr std::size_t kMostFloBytes = sizeof(Header) + 8 * kMostFilePixels;

}  // namespace

bool known(float x, float y) { return std::fabs(x) < 1e9f && std::fabs(y) < 1e9f; }

FlowField decode_flo(std::string_view bytes, const std::string& name) {
  const auto refuse = [&](const std::string& why) {
    return Error(ErrorKind::io, fmt::format("{}: not a .flo file that can be used: {}", name, why));
  };
  Header header{};
  if (bytes.size() < sizeof header) throw refuse("it ends too early");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kFloMagic) throw refuse("it does not begin with 202021.25");
  if (header.width <= 0 || header.height <= 0) throw refuse(fmt::format("{}x{} vectors", header.width, header.height));
  check_size(name, static_cast<std::uint64_t>(header.width), static_cast<std::uint64_t>(header.height), 2);
  FlowField field{static_cast<std::size_t>(header.width), static_cast<std::size_t>(header.height)};
  const std::size_t wanted = field.width * field.height * 8;
  if (bytes.size() - sizeof header < wanted) {
    throw refuse(fmt::format("{}x{} vectors take {} bytes, it has {}", field.width, field.height, wanted,
                             bytes.size() - sizeof header));
  }
  if (bytes.size() - sizeof header > wanted) {
    throw refuse(fmt::format("{} bytes follow its {}x{} vectors: joined files?", bytes.size() - sizeof header - wanted,
                             field.width, field.height));
  }
  field.vectors.resize(field.width * field.height * 2);
  std::memcpy(field.vectors.data(), bytes.data() + sizeof header, wanted);
  return field;
}

FlowField read_flo(const std::filesystem::path& path) {
  const auto bytes = base::read_file(path, kMostFloBytes);
  if (!bytes) throw Error(ErrorKind::io, fmt::format("cannot read {}: no such file", path.string()));
  return decode_flo(*bytes, path.string());
}

std::string encode_flo(const FlowField& field) {
  const Header header{kFloMagic, static_cast<std::int32_t>(field.width), static_cast<std::int32_t>(field.height)};
  std::string out(reinterpret_cast<const char*>(&header), sizeof header);
  out.append(reinterpret_cast<const char*>(field.vectors.data()), field.vectors.size() * sizeof(float));
  return out;
}

}  // namespace ridge::io
