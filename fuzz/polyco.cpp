// Fuzz target: polyco files of tempo.
#include "support.hpp"

#include <ridge/search/fold.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] { search::parse_polyco(fuzz::text_of(data, size), "polyco"); });
}
