// Fuzz target: SIGPROC headers.
#include "support.hpp"

#include "io/telescopes/sigproc.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] {
    const fuzz::MemoryFile file(fuzz::text_of(data, size));
    io::InputStream in(file.name());
    io::read_sigproc_header(in);
  });
}
