// Structures of DLPack before version 1, as in https://dmlc.github.io/dlpack/latest/c_api.html: the contents of
// PyCapsules named "dltensor".
#pragma once
#include <cstdint>

namespace ridge::python::dlpack {

enum DeviceType : std::int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3, kOpenCl = 4, kCudaManaged = 13 };
enum TypeCode : std::uint8_t { kInt = 0, kUnsigned = 1, kFloat = 2, kComplex = 5 };

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

}  // namespace ridge::python::dlpack
