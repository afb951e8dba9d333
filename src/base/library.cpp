// Opens shared libraries and plugins, and looks up their functions.
#include "base/library.hpp"

#include <dlfcn.h>

#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::base {

void* Library::open() const {
  void* handle = handle_.load(std::memory_order_acquire);
  if (handle != nullptr) return handle;
  handle = dlopen(name_.soname, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) handle = dlopen(name_.file, RTLD_NOW | RTLD_LOCAL);
  handle_.store(handle, std::memory_order_release);
  return handle;
}

void* Library::find(const char* function) const {
  void* handle = open();
  void* found = handle == nullptr ? nullptr : dlsym(handle, function);
  if (found != nullptr) return found;
  const char* why = dlerror();
  throw Error(ErrorKind::unavailable, fmt::format("{} need {}, which cannot be used ({}): install that library",
                                                  purpose_, name_.soname, why == nullptr ? "no reason given" : why));
}

std::filesystem::path find_plugin(const char* file) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<fs::path> folders{fs::read_symlink("/proc/self/exe", ignored).parent_path()};
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&find_plugin), &here) != 0 && here.dli_fname != nullptr)
    folders.push_back(fs::absolute(here.dli_fname, ignored).parent_path());
  for (const fs::path& folder : folders)
    for (const char* way : {".", "..", "../lib/ridge", "ridge", "../lib64/ridge"})
      if (fs::path path = folder / way / file; fs::exists(path, ignored)) return path;
  for (const fs::path& folder : folders)  // e.g. lib/aarch64-linux-gnu/ridge for an installed bin
    for (const auto& entry : fs::directory_iterator(folder / "../lib", ignored))
      if (fs::path path = entry.path() / "ridge" / file; fs::exists(path, ignored)) return path;
  return {};
}

}  // namespace ridge::base
