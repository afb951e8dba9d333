// Fuzz target: SEG-Y files.
#include "support.hpp"

#include "io/arrays/segy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] {
    const fuzz::MemoryFile file(fuzz::text_of(data, size));
    io::read_segy(file.name(), true);
  });
}
