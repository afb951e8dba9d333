// The CUDA device: context, errors, and creation of its objects: memory, queues and tensor maps for TMA.
#include <bit>

#include <fmt/format.h>

#include "device/cuda/state.hpp"

namespace ridge::detail {
namespace {

bool is_fault_of_a_kernel(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
      return true;
    default:
      return false;
  }
}

ErrorKind kind_of(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return ErrorKind::out_of_memory;
    case CUDA_ERROR_DEVICE_UNAVAILABLE:  // another process holds it exclusively
    case CUDA_ERROR_NO_DEVICE:
      return ErrorKind::unavailable;
    default:
      return ErrorKind::device;
  }
}

}  // namespace

CudaDevice::~CudaDevice() {
  // The result is ignored: at process exit the driver and its contexts may be gone.
  if (context_.load()) driver.primary_context_release(handle);
}

void CudaDevice::make_current() {
  std::call_once(retained_, [this] {
    CUcontext context = nullptr;
    check(driver.primary_context_retain(&context, handle), "retaining the device's primary context");
    context_.store(context);
  });
  const CUcontext context = context_.load(std::memory_order_relaxed);
  CUcontext current = nullptr;
  check(driver.context_get_current(&current), "reading the current context");
  if (current != context) check(driver.context_set_current(context), "making the context current");
}

bool CudaDevice::make_current_quietly() noexcept {
  const CUcontext context = context_.load();
  CUcontext current = nullptr;
  if (!context || driver.context_get_current(&current) != CUDA_SUCCESS) return false;
  return current == context || driver.context_set_current(context) == CUDA_SUCCESS;
}

std::string CudaDevice::describe(CUresult result) const {
  const char* name = nullptr;
  const char* meaning = nullptr;
  driver.get_error_name(result, &name);
  driver.get_error_string(result, &meaning);
  if (!name) return fmt::format("CUDA error {}", static_cast<int>(result));
  return meaning ? fmt::format("{} ({})", name, meaning) : name;
}

void CudaDevice::fail(CUresult result, const std::string& doing) {
  std::string message = fmt::format("{}: {} while {}", label(), describe(result), doing);
  if (is_fault_of_a_kernel(result)) {
    std::lock_guard lock(last_launch_mutex_);
    if (last_launch_) message += fmt::format("; the last kernel launched was {}", *last_launch_);
    message += "; this process cannot use the device any more (RIDGE_CHECK=1 finds most overruns before that)";
  }
  throw Error(kind_of(result), message);
}

void CudaDevice::remember_launch(const std::shared_ptr<const std::string>& kernel) {
  std::lock_guard lock(last_launch_mutex_);
  if (last_launch_ != kernel) last_launch_ = kernel;
}

std::unique_ptr<Allocation> CudaDevice::allocate(std::size_t bytes, std::size_t fence, const BufferOptions& options) {
  return std::make_unique<CudaAllocation>(shared_from_this(), bytes, fence, options);
}

std::shared_ptr<QueueState> CudaDevice::queue() { return std::make_shared<CudaQueue>(shared_from_this()); }
std::shared_ptr<QueueState> CudaDevice::queue_over(std::uintptr_t native) {
  return std::make_shared<CudaQueue>(shared_from_this(), reinterpret_cast<CUstream>(native));  // NOLINT: a handle
}

TileMap CudaDevice::tile_map(MemoryState& array, const TileMapShape& shape) {
  if (driver.tensor_map_encode == nullptr) {
    throw Error(ErrorKind::unavailable, fmt::format("{}: TMA needs a CUDA driver 12.0 or later", label()));
  }
  make_current();
  CUtensorMap map{};
  const CUtensorMapDataType type = shape.float64 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  const std::array<cuuint64_t, 3> counts{shape.columns, shape.rows, shape.arrays};
  const std::array<cuuint64_t, 2> steps{shape.row, shape.array};
  const std::array<cuuint32_t, 3> box{shape.box_columns, shape.box_rows, 1}, each{1, 1, 1};
  auto* const start = reinterpret_cast<void*>(array.allocation->native() + shape.offset);  // NOLINT: an address
  const CUresult result = driver.tensor_map_encode(
      &map, type, 3, start, counts.data(), steps.data(), box.data(), each.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    fail(result, fmt::format("creating a tensor map: boxes of {} x {}, {} arrays of {} rows of {} numbers",
                             shape.box_rows, shape.box_columns, shape.arrays, shape.rows, shape.columns));
  }
  static_assert(sizeof(TileMap) == sizeof(CUtensorMap));
  return std::bit_cast<TileMap>(map);
}

}  // namespace ridge::detail
