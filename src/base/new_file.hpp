// A new version of a file: written under a temporary name beside it and renamed when it is complete.
#pragma once
#include <sys/types.h>

#include <filesystem>

#include "base/temporaries.hpp"

namespace ridge::base {

enum class Links { follow, replace };

class NewFile {
 public:
  // Opens the temporary for reading and writing. With Links::follow, a symbolic link stays and its target is replaced,
  // and the new file has the permissions of the one it replaces. With Links::replace, a link is replaced by the file.
  // `mode` holds for a file that replaces none, and always with Links::replace. Error{io} where it cannot be made, and
  // for a target that is read-only or not a regular file.
  // Temporaries that killed processes left in the folder are removed.
  explicit NewFile(const std::filesystem::path& path, mode_t mode = 0666, Links links = Links::follow);
  ~NewFile();  // removes the temporary unless commit() was called
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int descriptor() const { return descriptor_; }
  void commit();  // flushes to the disk, closes and renames
  [[noreturn]] void fail(int error) const;

 private:
  std::filesystem::path path_, target_, temporary_;
  TemporaryName name_;
  int descriptor_ = -1;
  bool committed_ = false;
};

// The file that `path` names once symbolic links are followed, whether it exists or not. Error{io} for a loop of links.
std::filesystem::path link_target(const std::filesystem::path& path);

// Error{io} where `target` exists and must not be replaced: it is a folder, a device, or read-only.
void check_replaceable(const std::filesystem::path& target);

// Gives the open file the owner, group and permissions of `target`, as far as allowed, where that exists.
void keep_permissions(const std::filesystem::path& target, int descriptor);

// "NAME.tmp-ridge-PROCESS-NUMBER" beside the target; long names are cut.
std::filesystem::path temporary_beside(const std::filesystem::path& target, pid_t process, unsigned number);
unsigned next_temporary_number();  // for this process

// Locks a new temporary until its descriptor is closed, which marks it as in use. False where another process has
// taken it for stale.
bool claim_temporary(const std::filesystem::path& temporary, int descriptor);

// Removes temporaries of processes that have ended: named as above, not locked, and of no running process. Each folder
// is searched once per process.
void remove_stale_temporaries(const std::filesystem::path& folder);

}  // namespace ridge::base
