#include "base/nvtx.hpp"

#include <cstdlib>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define RIDGE_HAVE_NVTX 1
#endif

namespace ridge::base::nvtx {

#ifdef RIDGE_HAVE_NVTX
namespace {

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t one = nvtxDomainCreateA("ridge");
  return one;
}

}  // namespace

bool attached() { return std::getenv("NVTX_INJECTION64_PATH") != nullptr; }

void push(const std::string& text) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = text.c_str();
  nvtxDomainRangePushEx(domain(), &event);
}

void pop() { nvtxDomainRangePop(domain()); }
#else
bool attached() { return false; }
void push(const std::string&) {}
void pop() {}
#endif

}  // namespace ridge::base::nvtx
