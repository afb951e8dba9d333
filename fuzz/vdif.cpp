// Fuzz target: VDIF frames.
#include "support.hpp"

#include "io/telescopes/vdif.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  for (const std::size_t polarizations : {0U, 1U, 2U}) {
    fuzz::attempt([&] {
      const fuzz::MemoryFile file(fuzz::text_of(data, size));
      const auto reader = io::vdif_reader(std::make_unique<io::InputStream>(file.name()), polarizations);
      fuzz::drain(*reader);
    });
  }
  return 0;
}
