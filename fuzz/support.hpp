// Support for fuzz targets. A target accepts any bytes: it rejects them with one line (ridge::Error) or uses them.
// Everything else, including memory use far beyond the input size and endless runs, is reported as a defect by the
// sanitizers or the fuzzer.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/error.hpp>

#include "base/log.hpp"
#include "io/telescopes/samples.hpp"
#include "io/telescopes/stream.hpp"

namespace ridge::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Input bytes as a named file in memory. One file is rewritten for all runs, because creating one takes longer than
// most parsers.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes, int which = 0) : descriptor_(kept(which)) {
    if (::pwrite(descriptor_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()) ||
        ::ftruncate(descriptor_, static_cast<off_t>(bytes.size())) != 0)
      std::abort();
  }
  std::string name() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  static int kept(int which) {
    static const int files[] = {::memfd_create("fuzz", MFD_CLOEXEC), ::memfd_create("fuzz again", MFD_CLOEXEC)};
    return files[which];
  }
  int descriptor_;
};

inline int attempt(const std::function<void()>& use) {
  static const bool silent = [] { return base::on_warning([](const std::string&) {}), true; }();
  static_cast<void>(silent);
  try {
    use();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) std::abort();  // a defect of Ridgeline, not of the input
  }
  return 0;
}

// Reads all samples of a stream, up to a hundred thousand bytes: gaps may represent any number.
inline void drain(io::SampleReader& reader) {
  std::vector<std::byte> piece(std::size_t{1} << 12);
  for (int i = 0; i < 24 && reader.read(piece.data(), piece.size()) == piece.size(); ++i) {
  }
}

}  // namespace ridge::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
