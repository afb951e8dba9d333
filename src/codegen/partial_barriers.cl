// Barriers of a part of a group: GROUP_PART_BARRIER(number, n) synchronizes part `number` of a group that is divided into
// parts of n consecutive work-items. Devices without such barriers synchronize the whole group.
#if SUB_GROUP_WIDTH >= 32
#define SUB_GROUP_SYNC() SUB_GROUP_BARRIER()
#else
#define SUB_GROUP_SYNC() BARRIER()
#endif
#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define GROUP_PART_BARRIER(number, n) asm volatile("bar.sync %0, %1;" ::"r"(1 + (number)), "n"(n) : "memory")
#else
#define GROUP_PART_BARRIER(number, n) BARRIER()
#endif
// Split barrier, once per loop iteration: each of WARPS warps arrives when it has read its points, and waits before it
// overwrites points in the next iteration. Devices without mbarrier use a full barrier in place of the wait.
#if (defined(__CUDACC_RTC__) || defined(__CUDACC__)) && __CUDA_ARCH__ >= 900
#define READ_BARRIER_INIT(p) \
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(ridge_local_address(p)), "n"(WARPS) : "memory")
FUNCTION void READ_BARRIER_ARRIVE(const void* p) {
  __syncwarp();
  if (threadIdx.x % 32 != 0) return;
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(ridge_local_address(p)) : "memory");
}
#define READ_BARRIER_WAIT(p, iteration) MBARRIER_WAIT((ulong*)(p), ((iteration) + 1) & 1)
#else
#define READ_BARRIER_INIT(p) ((void)0)
#define READ_BARRIER_ARRIVE(p) ((void)0)
#define READ_BARRIER_WAIT(p, iteration) BARRIER()
#endif
