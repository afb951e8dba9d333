// Fuzz target: stencil checkpoints.
#include "support.hpp"

#include "io/arrays/checkpoint.hpp"
#include "io/encoding.hpp"

namespace {

std::string number(std::uint32_t value) {
  return {static_cast<char>(value), static_cast<char>(value >> 8), static_cast<char>(value >> 16),
          static_cast<char>(value >> 24)};
}

// The bytes as header and cells, with a valid frame and checksum, so that the parser goes beyond them.
std::string framed(std::string_view bytes) {
  const std::size_t cut = std::min(bytes.find(char{0}), bytes.size());
  std::string file = "RIDGECKP" + number(ridge::io::kCheckpointVersion) + number(static_cast<std::uint32_t>(cut));
  file += bytes.substr(0, cut);
  file += number(ridge::io::crc32c(file.data(), file.size()));
  return file.append(bytes.substr(cut));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  const std::string_view bytes = fuzz::text_of(data, size);
  for (const std::string& text : {std::string(bytes), framed(bytes)}) {
    fuzz::attempt([&] {
      const fuzz::MemoryFile file(text);
      const io::Checkpoint checkpoint(file.name());
      std::vector<std::byte> cells(text.size());
      // The checksums are valid, so the cells must be in the file.
      if (!checkpoint.shape().empty()) checkpoint.read(0, 0, 1, cells.data());
    });
  }
  return 0;
}
