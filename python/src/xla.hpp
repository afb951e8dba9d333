// Structures of XLA's foreign function interface as its C interface documents them (xla/ffi/api/c_api.h), as far as a
// handler of transforms needs them. Every structure begins with its size, so that older and newer callers agree.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::python::xla {

enum class Type : int { s64 = 5, f32 = 11, f64 = 12, c64 = 15, c128 = 18 };
enum class ErrorCode : int { invalid_argument = 3, resource_exhausted = 8, unimplemented = 12, internal = 13 };
enum class Stage : int { instantiate = 0, prepare = 1, initialize = 2, execute = 3 };
enum class AttributeType : int { array = 1, dictionary = 2, scalar = 3, string = 4 };
inline constexpr int kMetadataExtension = 1;

struct Extension {
  std::size_t size;
  int type;
  Extension* next;
};
struct Version {
  std::size_t size;
  Extension* extension;
  int major, minor;
};
struct Metadata {
  std::size_t size;
  Version version;
  std::uint32_t traits;
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};
struct Failure;  // XLA's own error object
struct CreateFailure {
  std::size_t size;
  Extension* extension;
  const char* message;
  ErrorCode code;
};
struct Context;
struct GetStream {
  std::size_t size;
  Extension* extension;
  Context* context;
  void* stream;  // out
};
// The table of functions; members after get_stream are not used.
struct Api {
  std::size_t size;
  Extension* extension;
  Version version;
  void* internal;
  Failure* (*create_failure)(CreateFailure*);
  void* get_message;
  void* destroy_failure;
  void* register_handler;
  Failure* (*get_stream)(GetStream*);
};
struct ArrayBuffer {
  std::size_t size;
  Extension* extension;
  Type type;
  void* data;
  std::int64_t rank;
  std::int64_t* lengths;
};
struct Scalar {
  Type type;
  void* value;
};
struct List {
  Type type;
  std::size_t count;
  void* values;
};
struct Text {
  const char* data;
  std::size_t count;
};
struct Buffers {  // arguments or results
  std::size_t size;
  Extension* extension;
  std::int64_t count;
  int* types;
  void** items;
};
struct Attributes {
  std::size_t size;
  Extension* extension;
  std::int64_t count;
  AttributeType* types;
  Text** names;
  void** values;
};
struct CallFrame {
  std::size_t size;
  Extension* extension;
  const Api* api;
  Context* context;
  Stage stage;
  Buffers arguments, results;
  Attributes attributes;
};

}  // namespace ridge::python::xla
