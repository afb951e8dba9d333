// Compiled kernels on disk, one file each, keyed by everything that could change the result; compiles several at once.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::detail {

// The complete key is stored in the file and compared, so a hash collision never returns a wrong kernel; a checksum
// detects damage. Damaged or foreign files are removed with a warning, and nothing is returned. The least recently used
// files are removed when the folder exceeds 256 MiB. Folders and files that belong to another user, or that others may
// write to, are not used, with a warning. RIDGE_COMPILE_CACHE=off disables the cache; =all also keeps kernels that a
// driver caches itself.
std::optional<std::string> find_compiled(std::string_view key);
void store_compiled(std::string_view key, std::string_view binary);  // a folder that cannot be written is not an error
bool compile_cache_is_off();
bool compile_cache_takes_all();

std::uint64_t hash_of(std::string_view bytes, std::uint64_t seed = 0xcbf29ce484222325u);

// device fingerprint, compiler version, options and assembled source
std::string compile_key(std::string_view device, std::string_view compiler, std::string_view options,
                        std::string_view source);

}  // namespace ridge::detail

// Compiles the kernels of several candidates concurrently.
namespace ridge {

// NVRTC is slow and single-threaded: each kernel is compiled on its own core, into the cache on disk. Does nothing on
// other back ends or for a single kernel. Compile errors are reported when the kernel is built.
void compile_together(const Device& device, std::vector<KernelSource> sources);

}  // namespace ridge
