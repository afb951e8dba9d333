// Peer libvips: its C interface, from memory to memory.
#include <cmath>

#include <vips/vips.h>

#include "bench/peers/image_peers.hpp"

namespace ridge::cli {
namespace {

VipsImage* image_of(const image::Image& image) {  // packed rows only: the image is copied once
  constexpr VipsBandFormat kFormats[] = {VIPS_FORMAT_UCHAR, VIPS_FORMAT_USHORT, VIPS_FORMAT_FLOAT};
  std::vector<std::byte> bytes;
  for (std::size_t r = 0; r < image.rows(); ++r) {
    bytes.insert(bytes.end(), image.row<std::byte>(r), image.row<std::byte>(r) + image.shape().row_bytes());
  }
  return vips_image_new_from_memory_copy(bytes.data(), bytes.size(), static_cast<int>(image.columns()),
                                         static_cast<int>(image.rows()), static_cast<int>(image.channels()),
                                         kFormats[static_cast<int>(image.depth())]);
}

struct Drop {
  void operator()(VipsImage* image) const { g_object_unref(image); }
};

struct Call {
  std::shared_ptr<VipsImage> in;

  template <class F>
  PeerCall make(const F& f) const {
    return [from = in, f] {
      VipsImage* out = nullptr;
      if (f(from.get(), &out) != 0) return;
      size_t size = 0;
      g_free(vips_image_write_to_memory(out, &size));
      g_object_unref(out);
    };
  }
  PeerCall operator()(const image::Convolve& o) const {
    std::shared_ptr<VipsImage> kernel(vips_image_new_matrix(static_cast<int>(o.columns), static_cast<int>(o.rows)),
                                      Drop());
    for (std::size_t i = 0; i < o.kernel.size(); ++i) {
      *VIPS_MATRIX(kernel.get(), static_cast<int>(i % o.columns), static_cast<int>(i / o.columns)) =
          double{o.kernel[i]};
    }
    return make([kernel](VipsImage* from, VipsImage** out) { return vips_conv(from, out, kernel.get(), nullptr); });
  }
  PeerCall operator()(const image::Gauss& o) const {
    return make(
        [sigma = o.sigma](VipsImage* from, VipsImage** out) { return vips_gaussblur(from, out, sigma, nullptr); });
  }
  PeerCall operator()(const image::Median& o) const {
    return make([side = static_cast<int>(2 * o.radius + 1)](VipsImage* from, VipsImage** out) {
      return vips_median(from, out, side, nullptr);
    });
  }
  PeerCall operator()(const image::Resize& o) const {
    if (!(o.scale > 0)) return {};
    constexpr VipsKernel kKernels[] = {VIPS_KERNEL_NEAREST, VIPS_KERNEL_LINEAR, VIPS_KERNEL_CUBIC, VIPS_KERNEL_LINEAR};
    return make([o, kernel = kKernels[static_cast<int>(o.interpolation)]](VipsImage* from, VipsImage** out) {
      return vips_resize(from, out, o.scale, "kernel", kernel, nullptr);
    });
  }
  PeerCall operator()(const image::Rotate& o) const {
    if (o.degrees != 90) return {};
    return make([](VipsImage* from, VipsImage** out) { return vips_rot(from, out, VIPS_ANGLE_D270, nullptr); });
  }
  template <class Other>
  PeerCall operator()(const Other&) const {
    return {};
  }
};

}  // namespace

}  // namespace ridge::cli

extern "C" void ridge_image_peer(ridge::cli::ImagePeer* peer);
extern "C" void ridge_image_peer(ridge::cli::ImagePeer* peer) {
  using namespace ridge;
  using namespace ridge::cli;
  *peer = {"vips",
           [](const ImageWork& work, const image::Image& first, const image::Image&, std::size_t threads) -> PeerCall {
             static const bool started = [] {
               const bool fine = vips_init("ridge") == 0;
               vips_cache_set_max(0);  // so that every call computes
               return fine;
             }();
             if (!started || work.flow || work.variance_window != 0) return {};
             vips_concurrency_set(static_cast<int>(threads));
             return std::visit(Call{std::shared_ptr<VipsImage>(image_of(first), Drop())}, work.operation.front());
           }};
}
