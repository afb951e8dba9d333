// Fuzz target: PSRFITS files of search mode, which are read through cfitsio.
#include "support.hpp"

#include "io/telescopes/fits/psrfits.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  return fuzz::attempt([&] {
    const fuzz::MemoryFile file(fuzz::text_of(data, size));
    io::PsrfitsReader reader(file.name());
    const io::SigprocHeader& header = reader.header();
    const auto width = static_cast<std::size_t>(header.nchans) * static_cast<std::size_t>(header.nifs);
    if (width > 65536) return;
    std::vector<float> rows(16 * width);
    for (int i = 0; i < 24 && reader.read(rows.data(), 16) == 16; ++i) {
    }
  });
}
