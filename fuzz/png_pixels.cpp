// Fuzz target: PNG files read as images.
#include "support.hpp"

#include "io/images/pixels.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] { io::decode_png(fuzz::text_of(data, size), "fuzz"); });
}
