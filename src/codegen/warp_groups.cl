// Functions and macros for warpgroups (CUDA, Hopper): 128 work-items multiply matrices together.
//   warp_group_multiply(d, a, b)     wgmma: d (64 x 64, 32 registers) += a (64 rows, 4 registers) b (descriptor of 64 columns in
//                                    local memory), of float16 with float sums or of signed bytes with int sums
//   warp_group_product(d, a, b)      the same without the addition: d = a b
//   WARP_GROUP_FENCE()               before the first product: orders accesses to the registers of a and d
//   WARP_GROUP_WAIT()                after the last product: the sums are complete
//   load_matrix_rows(a, address)     ldmatrix: 16 rows of 32 bytes of local memory to the fragments of a; each lane of a warp passes the
//                                    address of 16 bytes
//   MBARRIER_INIT_UNFENCED(p, n)     initializes one of several barriers; one MBARRIERS_FENCE() after the last of them makes them
//                                    visible to the cluster and to bulk copies
//   BULK_COPY_TO_ADDRESS(p, address, from, bytes)   as BULK_COPY, to an address of local memory
#define WARP_GROUP_NAMES_32 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WARP_GROUP_SUMS_8(how, d, i) \
  how((d)[i]), how((d)[i + 1]), how((d)[i + 2]), how((d)[i + 3]), how((d)[i + 4]), how((d)[i + 5]), how((d)[i + 6]), \
      how((d)[i + 7])
#define WARP_GROUP_SUMS_32(how, d, i) \
  WARP_GROUP_SUMS_8(how, d, i), WARP_GROUP_SUMS_8(how, d, i + 8), WARP_GROUP_SUMS_8(how, d, i + 16), \
      WARP_GROUP_SUMS_8(how, d, i + 24)
FUNCTION void warp_group_multiply(float* d, const uint* a, ulong b) {
  asm volatile(
      "{.reg .pred adds; setp.eq.u32 adds, 1, 1; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" WARP_GROUP_NAMES_32 "}, {%32, %33, %34, %35}, %36, adds, 1, 1, 0;}"
      : WARP_GROUP_SUMS_32("+f", d, 0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
FUNCTION void warp_group_multiply(int* d, const uint* a, ulong b) {
  asm volatile(
      "{.reg .pred adds; setp.eq.u32 adds, 1, 1; wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 {" WARP_GROUP_NAMES_32 "}, {%32, %33, %34, %35}, %36, adds;}"
      : WARP_GROUP_SUMS_32("+r", d, 0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
FUNCTION void warp_group_product(int* d, const uint* a, ulong b) {
  asm volatile(
      "{.reg .pred adds; setp.ne.u32 adds, 1, 1; wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8 {" WARP_GROUP_NAMES_32 "}, {%32, %33, %34, %35}, %36, adds;}"
      : WARP_GROUP_SUMS_32("=r", d, 0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
FUNCTION void warp_group_product(float* d, const uint* a, ulong b) {
  asm volatile(
      "{.reg .pred adds; setp.ne.u32 adds, 1, 1; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" WARP_GROUP_NAMES_32 "}, {%32, %33, %34, %35}, %36, adds, 1, 1, 0;}"
      : WARP_GROUP_SUMS_32("=f", d, 0)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
#define WARP_GROUP_FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define WARP_GROUP_WAIT() \
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory")
FUNCTION void load_matrix_rows(uint* a, uint address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(address)
               : "memory");
}
#define MBARRIER_INIT_UNFENCED(p, n) \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(ridge_local_address(p)), "n"(n) : "memory")
#define MBARRIERS_FENCE() \
  asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory")
FUNCTION void BULK_COPY_TO_ADDRESS(ulong* p, uint address, const void* from, uint bytes) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address),
               "l"(from), "r"(bytes), "r"(ridge_local_address(p))
               : "memory");
}
