// Fuzz target: lists of lost bytes, as ridge capture --flags writes them.
#include "support.hpp"

#include "io/telescopes/stream.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] {
    const fuzz::MemoryFile file(fuzz::text_of(data, size));
    std::uint64_t end = 0;
    for (const io::LostBytes& lost : io::read_lost(file.name())) {
      if (lost.first < end || lost.bytes == 0) __builtin_trap();
      end = lost.first + lost.bytes;
    }
  });
}
