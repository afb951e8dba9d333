// What p points to, into the second-level cache; nothing where there is no such instruction.
#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define FETCH_AHEAD(p) asm volatile("prefetch.global.L2 [%0];" : : "l"(p))
#else
#define FETCH_AHEAD(p)
#endif
