// Fuzz target: PNG files read as rasters.
#include "support.hpp"

#include "io/images/png.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] {
    const fuzz::MemoryFile file(fuzz::text_of(data, size));
    io::read_png(file.name());
  });
}
