// Replaces a file atomically: writes a temporary file beside it and renames it when it is complete.
#pragma once
#include <sys/types.h>

#include <filesystem>

#include "base/temporaries.hpp"

namespace ridge::base {

enum class Links { follow, replace };

class NewFile {
 public:
  // Opens the temporary file for reading and writing. With Links::follow a symbolic link stays, its target is replaced
  // and the new file keeps the permissions of the old one. With Links::replace the link itself is replaced. `mode`
  // applies to a file that replaces none, and always with Links::replace. Error{io} if the temporary cannot be created
  // or the target is read-only or not a regular file. Removes temporaries that killed processes left in the folder.
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

// The file that `path` names once symbolic links are followed; it need not exist. Error{io} for a loop of links.
std::filesystem::path link_target(const std::filesystem::path& path);

// Error{io} if `target` exists and must not be replaced: a folder, a device or a read-only file.
void check_replaceable(const std::filesystem::path& target);

// If `target` exists, gives the open file its owner, group and permissions as far as the system allows.
void keep_permissions(const std::filesystem::path& target, int descriptor);

// "NAME.tmp-ridge-PROCESS-NUMBER" beside the target; long names are cut.
std::filesystem::path temporary_beside(const std::filesystem::path& target, pid_t process, unsigned number);
unsigned next_temporary_number();  // counts within this process

// Locks a new temporary until its descriptor is closed, which marks it as in use. False if another process has already
// removed it as stale.
bool claim_temporary(const std::filesystem::path& temporary, int descriptor);

// Removes temporaries of processes that have ended: named as above, not locked, and of no running process. Searches
// each folder once per process.
void remove_stale_temporaries(const std::filesystem::path& folder);

}  // namespace ridge::base
