#include "support.hpp"

#include "cli/channelize/files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] {
    const fuzz::MemoryFile file(fuzz::text_of(data, size));
    cli::PrototypeWishes wishes;
    wishes.channels = 4;
    wishes.taps = 2;
    wishes.weights = file.name();
    if (cli::prototype_for(wishes).size() != 8) std::abort();
  });
}
