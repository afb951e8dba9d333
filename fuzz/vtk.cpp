// Fuzz target: ParaView series (.pvd) that a resumed run extends.
#include "support.hpp"

#include <filesystem>

#include "io/arrays/vtk.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  static const std::filesystem::path folder = [] {
    std::string name = "/dev/shm/ridge-fuzz-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    std::filesystem::create_symlink(fuzz::MemoryFile("").name(), std::filesystem::path(name) / "run.pvd");
    return std::filesystem::path(name);
  }();
  const auto list = folder / "run.pvd";
  const fuzz::MemoryFile file(fuzz::text_of(data, size));  // run.pvd links to it
  return fuzz::attempt([&] { const io::VtkSeries series(list, std::size_t{1000}); });
}
