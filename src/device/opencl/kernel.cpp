// Sets the arguments of an OpenCL kernel and launches it.
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "device/opencl/device.hpp"
#include "device/opencl/memory.hpp"
#include "device/opencl/program.hpp"

namespace ridge::detail::opencl {
namespace {

constexpr cl_uint kMostParameters = 4096;
constexpr std::size_t kHandle = sizeof(void*);  // size of a cl_mem, which OpenCL needs as the argument size

template <class T>
T work_group_value(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what) {
  T value{};
  return api().GetKernelWorkGroupInfo(kernel, device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : T{};
}

[[noreturn]] void refuse(const std::string& kernel, const std::string& reason) {
  throw Error(ErrorKind::invalid_argument, fmt::format("kernel {}: {}", kernel, reason));
}

std::string buffers_of(const std::vector<Argument>& arguments) {
  std::string list;
  double bytes = 0;
  for (const Argument& argument : arguments) {
    if (argument.buffer() == nullptr) continue;
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", argument.buffer()->name());
    bytes += static_cast<double>(argument.buffer()->size());
  }
  return fmt::format("{} of {} in all", list.empty() ? "no buffers" : list, base::human_bytes(bytes));
}

}  // namespace

ClKernel::ClKernel(std::shared_ptr<ClDevice> opencl_device, Owned<cl_kernel> kernel, const std::string& kernel_name)
    : owner_(std::move(opencl_device)), kernel_(std::move(kernel)) {
  name = kernel_name;
  device = owner_;
  ask_for_attributes();
}

void ClKernel::ask_for_attributes() {
  const cl_device_id id = owner_->device();
  work_group = work_group_value<std::size_t>(kernel_.get(), id, CL_KERNEL_WORK_GROUP_SIZE);
  private_bytes = work_group_value<cl_ulong>(kernel_.get(), id, CL_KERNEL_PRIVATE_MEM_SIZE);
  required_items_ = work_group_value<std::array<std::size_t, 3>>(kernel_.get(), id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE);
  // NVIDIA's driver reports 256 for every kernel, even for one that was compiled for more.
  work_group = std::max(work_group, required_items_[0] * required_items_[1] * required_items_[2]);
  cl_uint count = 0;
  check(api().GetKernelInfo(kernel_.get(), CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr), owner_->info.id,
        fmt::format("reading the arguments of kernel \"{}\"", name));
  if (count > kMostParameters) refuse(name, fmt::format("the driver says it has {} arguments", count));
  parameters_.assign(count, Wants::unknown);
  for (cl_uint i = 0; i < count; ++i) {
    // A binary may lack this information; then the driver has to detect mistakes.
    cl_kernel_arg_address_qualifier space{};
    if (api().GetKernelArgInfo(kernel_.get(), i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, nullptr) !=
        CL_SUCCESS) {
      continue;
    }
    if (space == CL_KERNEL_ARG_ADDRESS_PRIVATE) parameters_[i] = Wants::value;
    if (space == CL_KERNEL_ARG_ADDRESS_GLOBAL || space == CL_KERNEL_ARG_ADDRESS_CONSTANT) {
      parameters_[i] = Wants::buffer;
    }
  }
}

void ClKernel::check_launch(const Launch& shape, const std::vector<Argument>& arguments) const {
  if (arguments.size() != parameters_.size()) {
    refuse(name, fmt::format("it takes {} arguments, {} were given", parameters_.size(), arguments.size()));
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (required_items_[axis] != 0 && required_items_[axis] != shape.items[axis]) {
      refuse(name, fmt::format("it is written for work-groups of {}x{}x{}, the launch has {}x{}x{}", required_items_[0],
                               required_items_[1], required_items_[2], shape.items[0], shape.items[1], shape.items[2]));
    }
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool is_buffer = arguments[i].buffer() != nullptr;
    if (is_buffer && parameters_[i] == Wants::value) {
      refuse(name, fmt::format("argument {} of {} needs a value, got buffer \"{}\"", i + 1, arguments.size(),
                               arguments[i].buffer()->name()));
    }
    if (!is_buffer && parameters_[i] == Wants::buffer) {
      refuse(name, fmt::format("argument {} of {} needs a buffer, got a value", i + 1, arguments.size()));
    }
  }
}

void ClKernel::set_argument(std::size_t index, const Argument& argument) {
  const auto at = static_cast<cl_uint>(index);
  cl_int status = CL_SUCCESS;
  std::size_t size = kHandle;
  if (const Buffer* buffer = argument.buffer()) {
    const cl_mem memory = static_cast<ClAllocation&>(*buffer->state().allocation).argument();
    status = api().SetKernelArg(kernel_.get(), at, kHandle, &memory);
  } else {
    size = argument.bytes().size();
    status = api().SetKernelArg(kernel_.get(), at, size, argument.bytes().data());
  }
  if (status == CL_INVALID_ARG_SIZE || status == CL_INVALID_ARG_VALUE) {
    refuse(name,
           fmt::format("argument {} of {} does not fit: {} bytes of {} were given ({})", index + 1, parameters_.size(),
                       size, argument.buffer() != nullptr ? "a buffer's handle" : "a value", status_name(status)));
  }
  check(status, owner_->info.id, fmt::format("setting argument {} of kernel \"{}\"", index + 1, name));
}

void ClKernel::launch(cl_command_queue queue, const Launch& shape, const std::vector<Argument>& arguments) {
  check_launch(shape, arguments);
  std::array<std::size_t, 3> items{};
  std::array<std::size_t, 3> all{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    items[axis] = shape.items[axis];
    if (__builtin_mul_overflow(shape.groups[axis], shape.items[axis], &all[axis])) {
      refuse(name, fmt::format("{} groups of {} work-items along axis {} exceed the range of size_t",
                               shape.groups[axis], shape.items[axis], axis));
    }
  }
  cl_int status = CL_SUCCESS;
  {
    std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < arguments.size(); ++i) set_argument(i, arguments[i]);
    status =
        api().EnqueueNDRangeKernel(queue, kernel_.get(), 3, nullptr, all.data(), items.data(), 0, nullptr, nullptr);
  }
  if (status == CL_SUCCESS) return;
  if (status == CL_MEM_OBJECT_ALLOCATION_FAILURE) {
    throw Error(ErrorKind::out_of_memory,
                fmt::format("{} ({}) has no room for the buffers of kernel {}: {} ({})", owner_->info.id,
                            owner_->info.name, name, buffers_of(arguments), status_name(status)));
  }
  // Drivers report this for too many registers, too much local memory, and buffers that do not fit.
  if (status == CL_OUT_OF_RESOURCES) {
    throw Error(
        ErrorKind::device,
        fmt::format("{}: kernel {} does not fit the device with work-groups of {}x{}x{} and {}: {}", owner_->info.id,
                    name, items[0], items[1], items[2], buffers_of(arguments), status_name(status)));
  }
  check(status, owner_->info.id, fmt::format("launching kernel {}", name));
}

}  // namespace ridge::detail::opencl
