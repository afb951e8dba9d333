// Fuzz target: PSRDADA files.
#include "support.hpp"

#include "io/telescopes/psrdada.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] {
    const fuzz::MemoryFile file(fuzz::text_of(data, size));
    const auto reader = io::psrdada_reader(std::make_unique<io::InputStream>(file.name()));
    fuzz::drain(*reader);
  });
}
