// Shared libraries that are opened by the first call of one of their functions: a program that needs none of their
// functions does not load them.
#pragma once
#include <atomic>
#include <filesystem>
#include <type_traits>

namespace ridge::base {

struct LibraryName {
  const char* soname;  // as the run-time linker searches for it
  const char* file;    // where the build found it: tried if the linker does not find the soname
};

// Libraries of file formats, as the build found them; defined in a file that CMake writes
// (cmake/RidgeDependencies.cmake).
extern const LibraryName png_library, jpeg_library, tiff_library, cfitsio_library;

// Objects of this class are constants of static lifetime. A library stays open until the process ends.
class Library {
 public:
  constexpr Library(const LibraryName& name, const char* purpose) : name_(name), purpose_(purpose) {}
  bool available() const { return open() != nullptr; }
  void* find(const char* function) const;  // Error{unavailable} if the library or the function is missing

 private:
  void* open() const;
  const LibraryName& name_;
  const char* purpose_;  // for the error: "PNG images"
  mutable std::atomic<void*> handle_{nullptr};
};

// A function of a library, called like the function itself: `const Function<decltype(::png_error)> png_error{libpng,
// "png_error"};` hides the declaration of the library's header.
template <class F>
class Function {
  static_assert(std::is_function_v<F>);

 public:
  constexpr Function(const Library& library, const char* name) : library_(library), name_(name) {}
  operator F*() const {
    void* found = found_.load(std::memory_order_acquire);
    if (found == nullptr) found_.store(found = library_.find(name_), std::memory_order_release);
    return reinterpret_cast<F*>(found);
  }

 private:
  const Library& library_;
  const char* name_;
  mutable std::atomic<void*> found_{nullptr};
};

// Path of a plugin: next to the program, next to this library, or in the folders where `cmake --install` puts it. Empty
// if it is in none of them.
std::filesystem::path find_plugin(const char* file);

}  // namespace ridge::base
