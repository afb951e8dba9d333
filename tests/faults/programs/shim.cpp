// Preloaded into a program: makes one of its system calls, allocations or thread starts fail.
//
//   RIDGE_FAULT=write:3:ENOSPC    the third write fails; write:3+:ENOSPC: the third and all later ones
//   RIDGE_FAULT_COUNT=FILE        writes the number of calls of each kind instead, one line each, at exit
//
// Kinds: write, fsync, rename, open, thread, memory, mmap (by the program itself). Calls before main()
// begins and after it has ended are not counted.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

enum Kind { kWrite, kFsync, kRename, kOpen, kThread, kMemory, kMmap, kKinds };
constexpr const char* kNames[kKinds] = {"write", "fsync", "rename", "open", "thread", "memory", "mmap"};

std::atomic<bool> armed{false};
std::atomic<long> counts[kKinds];
int wanted_kind = -1;
long wanted_number = 0;
bool and_all_after = false;
int wanted_error = EIO;

int error_named(const char* name) {
  if (strcmp(name, "ENOSPC") == 0) return ENOSPC;
  if (strcmp(name, "EDQUOT") == 0) return EDQUOT;
  if (strcmp(name, "EAGAIN") == 0) return EAGAIN;
  if (strcmp(name, "EACCES") == 0) return EACCES;
  return EIO;
}

void read_request() {
  const char* request = getenv("RIDGE_FAULT");
  if (request == nullptr) return;
  char kind[16] = {}, error[16] = "EIO";
  char plus[2] = {};
  if (sscanf(request, "%15[a-z]:%ld%1[+]:%15s", kind, &wanted_number, plus, error) < 3 &&
      sscanf(request, "%15[a-z]:%ld:%15s", kind, &wanted_number, error) < 2) {
    fprintf(stderr, "RIDGE_FAULT=%s is not understood\n", request);
    _exit(99);
  }
  and_all_after = plus[0] == '+';
  wanted_error = error_named(error);
  for (int k = 0; k < kKinds; ++k) {
    if (strcmp(kind, kNames[k]) == 0) wanted_kind = k;
  }
}

bool fails(Kind kind) {
  if (!armed.load(std::memory_order_relaxed)) return false;
  const long number = ++counts[kind];
  if (kind != wanted_kind || !(and_all_after ? number >= wanted_number : number == wanted_number)) return false;
  errno = kind == kMemory || kind == kMmap ? ENOMEM : wanted_error;
  return true;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void at_end() {
  armed = false;
  const char* file = getenv("RIDGE_FAULT_COUNT");
  FILE* out = file != nullptr ? fopen(file, "w") : nullptr;
  if (out == nullptr) return;
  for (int k = 0; k < kKinds; ++k) fprintf(out, "%s %ld\n", kNames[k], counts[k].load());
  fclose(out);
}

int (*real_main)(int, char**, char**);
int counted_main(int count, char** values, char** environment) {
  read_request();
  atexit(at_end);
  armed = true;
  const int code = real_main(count, values, environment);
  armed = false;
  return code;
}

}  // namespace

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void* stack_end) {
  real_main = main;
  return next<int (*)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void),
                      void*)>("__libc_start_main")(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

ssize_t write(int descriptor, const void* from, size_t bytes) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  // Error messages on stderr must not fail.
  if (descriptor != STDERR_FILENO && fails(kWrite)) return -1;
  return real(descriptor, from, bytes);
}
ssize_t pwrite(int descriptor, const void* from, size_t bytes, off_t at) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  return fails(kWrite) ? -1 : real(descriptor, from, bytes, at);
}
int fsync(int descriptor) {
  static const auto real = next<int (*)(int)>("fsync");
  return fails(kFsync) ? -1 : real(descriptor);
}
int fdatasync(int descriptor) {
  static const auto real = next<int (*)(int)>("fdatasync");
  return fails(kFsync) ? -1 : real(descriptor);
}
int rename(const char* from, const char* to) {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  return fails(kRename) ? -1 : real(from, to);
}
int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return (flags & O_CREAT) != 0 && fails(kOpen) ? -1 : real(path, flags, mode);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  static const auto real = next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return fails(kThread) ? EAGAIN : real(thread, attributes, start, argument);
}

void* mmap(void* at, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  static const auto real = next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  // Mappings made by libraries are not tested.
  Dl_info caller{}, program{};
  const bool ours = dladdr(__builtin_return_address(0), &caller) != 0 &&
                    dladdr(reinterpret_cast<const void*>(real_main), &program) != 0 &&
                    caller.dli_fbase == program.dli_fbase;
  return ours && fails(kMmap) ? MAP_FAILED : real(at, bytes, protection, flags, descriptor, offset);
}

void* malloc(size_t bytes) { return fails(kMemory) ? nullptr : __libc_malloc(bytes); }
void* calloc(size_t count, size_t bytes) { return fails(kMemory) ? nullptr : __libc_calloc(count, bytes); }
void* realloc(void* old, size_t bytes) { return fails(kMemory) ? nullptr : __libc_realloc(old, bytes); }
void* aligned_alloc(size_t alignment, size_t bytes) {
  return fails(kMemory) ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  if (fails(kMemory)) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}

}  // extern "C"
