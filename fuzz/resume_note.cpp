// Fuzz target: the notes that `ridge channelize --resume` reads.
#include "support.hpp"

#include <filesystem>
#include <fstream>

#include "io/telescopes/resume_note.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  static const std::filesystem::path folder = [] {
    std::string name = "/dev/shm/ridge-fuzz-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    std::ofstream(std::filesystem::path(name) / "out.raw") << "twenty bytes of data";
    std::filesystem::create_symlink(fuzz::MemoryFile("").name(), std::filesystem::path(name) / "out.raw.resume");
    return std::filesystem::path(name);
  }();
  const fuzz::MemoryFile note(fuzz::text_of(data, size));  // out.raw.resume links to it
  return fuzz::attempt([&] { const io::ResumeNote note(folder / "out.raw", "numbers"); });
}
