// Parts of the handlers of XLA's foreign function interface: attributes, array types, errors.
#pragma once
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include <pybind11/pybind11.h>
#include <ridge/error.hpp>

#include "xla.hpp"

namespace ridge::python {

inline std::pair<int, int> xla_api_version{0, 1};  // reported to XLA; set to that of the jaxlib in use

[[noreturn]] inline void refuse_call(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, "ridge: " + what);
}

inline const void* attribute(const xla::Attributes& all, std::string_view name, xla::AttributeType type) {
  for (std::int64_t i = 0; i < all.count; ++i) {
    if (std::string_view(all.names[i]->data, all.names[i]->count) != name) continue;
    if (all.types[i] != type) refuse_call("the attribute " + std::string(name) + " has another type than expected");
    return all.values[i];
  }
  refuse_call("the attribute " + std::string(name) + " is missing");
}

inline std::int64_t integer_attribute(const xla::Attributes& all, std::string_view name) {
  const auto& scalar = *static_cast<const xla::Scalar*>(attribute(all, name, xla::AttributeType::scalar));
  if (scalar.type != xla::Type::s64) refuse_call("the attribute " + std::string(name) + " must be an int64");
  return *static_cast<const std::int64_t*>(scalar.value);
}

inline double number_attribute(const xla::Attributes& all, std::string_view name) {
  const auto& scalar = *static_cast<const xla::Scalar*>(attribute(all, name, xla::AttributeType::scalar));
  if (scalar.type != xla::Type::f64) refuse_call("the attribute " + std::string(name) + " must be a float64");
  return *static_cast<const double*>(scalar.value);
}

inline bool is_complex_type(xla::Type type) { return type == xla::Type::c64 || type == xla::Type::c128; }
inline bool is_single_type(xla::Type type) { return type == xla::Type::c64 || type == xla::Type::f32; }

inline std::size_t elements_of(const xla::ArrayBuffer& array) {
  std::size_t product = 1;
  for (std::int64_t i = 0; i < array.rank; ++i) product *= static_cast<std::size_t>(array.lengths[i]);
  return product;
}

// The stream of a call on CUDA.
inline std::uintptr_t stream_of(const xla::CallFrame& frame) {
  xla::GetStream request{sizeof(xla::GetStream), nullptr, frame.context, nullptr};
  if (frame.api->get_stream(&request) != nullptr) throw Error(ErrorKind::device, "ridge: XLA gives no stream");
  return reinterpret_cast<std::uintptr_t>(request.stream);
}

inline xla::Failure* failure(const xla::CallFrame& frame, xla::ErrorCode code, const char* message) {
  xla::CreateFailure request{sizeof(xla::CreateFailure), nullptr, message, code};
  return frame.api->create_failure(&request);
}

// The handlers have no traits: a first call makes its plan and allocates memory, which a graph cannot capture.
inline bool answer_metadata(xla::CallFrame& frame) {
  if (frame.extension == nullptr || frame.extension->type != xla::kMetadataExtension) return false;
  xla::Metadata& metadata = *reinterpret_cast<xla::MetadataExtension*>(frame.extension)->metadata;
  metadata.version.major = xla_api_version.first;
  metadata.version.minor = xla_api_version.second;
  metadata.traits = 0;
  return true;
}

// Runs the body and turns exceptions into XLA's errors.
template <class Body>
xla::Failure* guarded_call(xla::CallFrame* frame, const Body& body) noexcept {
  if (answer_metadata(*frame)) return nullptr;
  if (frame->stage != xla::Stage::execute) return nullptr;
  try {
    body(*frame);
    return nullptr;
  } catch (const Error& error) {
    const auto code = error.kind() == ErrorKind::invalid_argument ? xla::ErrorCode::invalid_argument
                      : error.kind() == ErrorKind::out_of_memory  ? xla::ErrorCode::resource_exhausted
                      : error.kind() == ErrorKind::unavailable    ? xla::ErrorCode::unimplemented
                                                                  : xla::ErrorCode::internal;
    return failure(*frame, code, error.what());
  } catch (const std::bad_alloc&) {
    return failure(*frame, xla::ErrorCode::resource_exhausted, "ridge: not enough memory");
  } catch (const std::exception& error) {
    return failure(*frame, xla::ErrorCode::internal, error.what());
  }
}

inline pybind11::capsule capsule_of_handler(xla::Failure* (*handler)(xla::CallFrame*)) {
  return pybind11::capsule(reinterpret_cast<void*>(handler), "xla._CUSTOM_CALL_TARGET");
}

}  // namespace ridge::python
