// Prefetches the cache line at p to the L2 cache; empty without such an instruction.
#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define PREFETCH_L2(p) asm volatile("prefetch.global.L2 [%0];" : : "l"(p))
#else
#define PREFETCH_L2(p)
#endif
