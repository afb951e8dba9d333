// Fuzz target: headers of .npy files.
#include "support.hpp"

#include "io/arrays/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] {
    const fuzz::MemoryFile file(fuzz::text_of(data, size));
    io::InputStream in(file.name());
    const io::NpyHeader header = io::read_npy_header(in);
    // The header must be written back unchanged.
    const fuzz::MemoryFile again(io::npy_header(header), 1);
    io::InputStream second(again.name());
    const io::NpyHeader same = io::read_npy_header(second);
    if (same.shape != header.shape || same.type != header.type) std::abort();
  });
}
