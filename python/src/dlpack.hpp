// Structures of DLPack, as in https://dmlc.github.io/dlpack/latest/c_api.html: the contents of PyCapsules named
// "dltensor" (before version 1) and "dltensor_versioned" (from version 1 on).
#pragma once
#include <cstdint>

namespace ridge::python::dlpack {

enum DeviceType : std::int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kOpenCl = 4, kCudaManaged = 13 };
enum TypeCode : std::uint8_t { kInt = 0, kUnsigned = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };

struct DeviceId {
  std::int32_t type, number;
};
struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  DeviceId device;
  std::int32_t axes;
  DataType type;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: packed
  std::uint64_t offset;   // bytes
};
struct Managed {
  Tensor tensor;
  void* manager;
  void (*deleter)(Managed*);
};

struct Version {
  std::uint32_t major, minor;
};
inline constexpr std::uint64_t kReadOnly = 1, kIsCopied = 2;  // flags
struct ManagedVersioned {
  Version version;
  void* manager;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};

// Functions of a library for its tensors: the content of the PyCapsule "dlpack_exchange_api" at a tensor type's
// __dlpack_c_exchange_api__. None of them waits. They return 0, or another number with a Python error set.
struct Exchange {
  Version version;
  Exchange* previous;
  int (*allocate)(Tensor* like, ManagedVersioned** out, void* context, void (*fail)(void*, const char*, const char*));
  int (*share)(void* object, ManagedVersioned** out);
  int (*wrap)(ManagedVersioned* tensor, void** object);
  int (*describe)(void* object, Tensor* out);  // shape and strides stay the object's; may be null
  int (*current_stream)(std::int32_t device_type, std::int32_t device, void** stream);
};

}  // namespace ridge::python::dlpack
