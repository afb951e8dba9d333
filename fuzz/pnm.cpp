// Fuzz target: PNM and PFM images.
#include "support.hpp"

#include "io/images/pixels.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] { io::decode_pnm(fuzz::text_of(data, size), "fuzz"); });
}
