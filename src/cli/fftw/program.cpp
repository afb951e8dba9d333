// Inspects an executable: static linking, other rights, FFTW linked into it.
#include "cli/fftw/program.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/log.hpp"

namespace ridge::cli {
namespace {

// The bytes of a file; empty if it cannot be read.
class Contents {
 public:
  explicit Contents(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    if (::fstat(file, &status_) == 0 && S_ISREG(status_.st_mode) && status_.st_size > 0) {
      void* const memory = ::mmap(nullptr, size(), PROT_READ, MAP_PRIVATE, file, 0);
      if (memory != MAP_FAILED) data_ = static_cast<const char*>(memory);
    }
    ::close(file);
  }
  ~Contents() {
    if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size());
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  std::string_view bytes() const { return data_ == nullptr ? std::string_view() : std::string_view(data_, size()); }
  const struct stat& status() const { return status_; }

 private:
  std::size_t size() const { return static_cast<std::size_t>(status_.st_size); }
  const char* data_ = nullptr;
  struct stat status_ {};
};

// Finds a program like execvp; empty if not found.
std::string find_program(const std::string& word) {
  if (word.find('/') != std::string::npos) return word;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/bin:/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + word;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

// Interpreter from a script's first line: "#!/usr/bin/env python3" gives python3. Empty for other files.
std::string interpreter(std::string_view bytes) {
  if (!bytes.starts_with("#!")) return "";
  std::istringstream line(std::string(bytes.substr(2, std::min(bytes.find('\n'), std::size_t{256}))));
  std::string program, argument;
  line >> program;
  if (!program.ends_with("/env")) return program;
  while (line >> argument) {
    if (argument.front() != '-' && argument.find('=') == std::string::npos) return argument;
  }
  return program;
}

// A 64-bit ELF file without a loader ("interpreter") is linked statically.
bool is_static(std::string_view bytes) {
  Elf64_Ehdr header{};
  if (bytes.size() < sizeof header || !bytes.starts_with(ELFMAG)) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) return false;
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    const std::size_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
    if (at > bytes.size() - sizeof(Elf64_Phdr)) return false;
    Elf64_Phdr segment{};
    std::memcpy(&segment, bytes.data() + at, sizeof segment);
    if (segment.p_type == PT_INTERP) return false;
  }
  return true;
}

// FFTW's planner contains this text, also if it is linked statically.
bool contains_fftw(std::string_view bytes) {
  return bytes.find(" fftw_wisdom #x%M") != std::string_view::npos ||
         bytes.find(" fftwf_wisdom #x%M") != std::string_view::npos;
}

bool has_other_rights(const std::string& path, const struct stat& status) {
  const bool user = (status.st_mode & S_ISUID) != 0 && status.st_uid != ::geteuid();
  const bool group = (status.st_mode & S_ISGID) != 0 && status.st_gid != ::getegid();
  return user || group || ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

}  // namespace

void check_preload_reaches(const std::string& word) {
  constexpr int kMostScripts = 4;  // Linux's limit on nested interpreters
  std::string path = find_program(word);
  for (int scripts = 0; scripts <= kMostScripts && !path.empty(); ++scripts) {
    const Contents file(path);
    if (const std::string next = interpreter(file.bytes()); !next.empty()) {
      path = find_program(next);
      continue;
    }
    if (is_static(file.bytes())) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("{} is linked statically, so LD_PRELOAD has no effect on it: link it against "
                              "libfftw3.so, or run it without ridge fftw",
                              path));
    }
    if (has_other_rights(path, file.status())) {
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format("{} runs with other rights than yours (setuid, setgid or capabilities), so LD_PRELOAD has "
                      "no effect on it: run a copy of it",
                      path));
    }
    if (contains_fftw(file.bytes())) {
      base::warn(
          fmt::format("{} contains FFTW itself (libfftw3.a), so its transforms do not use Ridgeline; link it "
                      "against libfftw3.so",
                      path));
    }
    return;
  }
}

}  // namespace ridge::cli
