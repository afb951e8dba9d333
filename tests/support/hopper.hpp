// A device description with the limits of an H200, without a driver: sufficient to list candidates and generate
// kernels.
#pragma once
#include <memory>

#include <ridge/device.hpp>

#include "device/backend.hpp"
#include "device/traits.hpp"

namespace ridge::test {

struct Hopper : detail::DeviceState {
  Hopper() {
    info.id = "cuda:0";
    info.backend = Backend::cuda;
    info.isa = "sm_90";
    info.limits.work_group = 1024;
    info.limits.work_group_sides = {1024, 1024, 64};
    info.limits.local_memory = 227 * 1024;
    info.limits.registers = 65536;
    info.limits.compute_units = 132;
    info.limits.sub_group = 32;
    detail::describe_architecture(90, info.backend, info.limits);
  }
  std::unique_ptr<detail::Allocation> allocate(std::size_t, std::size_t, const BufferOptions&) override { return {}; }
  std::shared_ptr<detail::QueueState> queue() override { return {}; }
  std::shared_ptr<detail::ProgramState> compile(const KernelSource&) override { return {}; }
};

inline Device hopper() { return Device(std::make_shared<Hopper>()); }

}  // namespace ridge::test
